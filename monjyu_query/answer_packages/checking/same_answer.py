"""Whether the question, asked again of the snapshot that is named, has the answer in the package, to the byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from monjyu_core.errors import MonjyuError
from monjyu_core.storage.folders import CollectionFolder, DataFolder
from monjyu_core.storage.ids import file_sha256
from monjyu_core.storage.snapshot import published
from monjyu_query.answer_packages.canonical import canonical_answer, canonical_bytes
from monjyu_query.answer_packages.checking.claims_of_package import Claims
from monjyu_query.answer_packages.checking.quotes_stand import Found
from monjyu_query.search.request import SearchRequest, make_request
from monjyu_query.search.searcher import Searcher

_GROUPS = {"search", "answer"}
"""Settings that a package may bring: they name no service and no file."""


def answer_check(claims: Claims, files: Mapping[str, bytes], data: DataFolder, folder: CollectionFolder) -> Found:
    """Only where no model is asked and nothing leaves this machine: a package may not make anyone pay for a call."""
    why = _hindrance(claims, folder)
    if why is not None:
        return "not_checked", why, []
    manifest = folder.snapshot(claims.snapshot.snapshot_id) / "manifest.json"
    if file_sha256(manifest) != claims.snapshot.manifest_sha256:
        return "differs", "The snapshot of this name here is another one.", [claims.snapshot.snapshot_id]
    try:
        request = make_request(**claims.question.request | {"collection": folder.name})
        searcher = _searcher(claims, data, request)
    except (MonjyuError, ValidationError, TypeError, ValueError) as error:
        return "differs", f"The request or its settings are none: {type(error).__name__}.", ["question.json"]
    if searcher is None:
        return "not_checked", "A model or a service would be asked here; only local engines are asked again.", []
    again = canonical_bytes(canonical_answer(searcher.search(request)))
    if again == files["answer.json"]:
        return "holds", "Asked again, the answer is the same to the byte.", []
    different = _different(files["answer.json"], again)
    return "differs", "Asked again, the answer is another.", different


def _hindrance(claims: Claims, folder: CollectionFolder) -> str | None:
    if claims.answer.answer_engine == "llm" or claims.answer.model is not None:
        return "A model worded the answer: its quotes are checked, its words cannot be made again."
    if claims.snapshot.snapshot_id not in published(folder):
        return "The snapshot that was asked is not here any more."
    return None


def _searcher(claims: Claims, data: DataFolder, request: SearchRequest) -> Searcher | None:
    """None where the settings here, or those of the package, ask a model or a service."""
    settings = {name: values for name, values in claims.question.settings.items() if name in _GROUPS}
    searcher = Searcher(data, request.collection, None, settings, claims.snapshot.snapshot_id)
    chosen = searcher.settings
    roles = any(getattr(chosen.roles, role).engine == "llm" for role in type(chosen.roles).model_fields)
    local = chosen.search.backend == "local" and chosen.search.router != "model" and chosen.embedding.remote is None
    return searcher if local and not roles else None


def _different(before: bytes, again: bytes) -> list[str]:
    """The fields of the answer that are not the same."""
    old: Any = json.loads(before)
    new: Any = json.loads(again)
    if not isinstance(old, dict):
        return ["answer.json"]
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name)) or ["answer.json"]
