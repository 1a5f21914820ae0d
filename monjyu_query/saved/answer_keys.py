"""What an answer depends on besides its question, as a hash: where it is equal, nothing is asked again."""

from __future__ import annotations

from importlib.metadata import version as installed_version

from monjyu_core.records.questions import Question
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_core.storage.manifest import Manifest
from monjyu_core.storage.schemas import TABLES

SETTINGS = {"search", "answer", "roles", "models", "language"}
"""Groups of settings that answers depend on."""


def settings_json(settings: Settings) -> str:
    """Those settings; keys of services are hidden by their type."""
    return settings.model_dump_json(include=SETTINGS)


def basis_of(manifest: Manifest, settings: Settings) -> str:
    """Of a snapshot: rows that readers see, search files by their bytes (vectors and terms), the embedding model, the
    settings, and the code."""
    parts = sorted(
        f"{part.table}/{part.shard}/{part.data_version}"
        for part in manifest.parts
        if part.table in TABLES and TABLES[part.table].served
    )
    files = sorted(entry.name for entry in manifest.search)
    nearest = manifest.nearest.table if manifest.nearest else ""
    model, code = manifest.embedding.model_dump_json(), installed_version("monjyu")
    return digest(manifest.level, model, nearest, code, settings_json(settings), *parts, "|", *files, length=32)


def key_of(question: Question, basis: str) -> str:
    return digest(asked_as(question), basis, length=32)


def asked_as(question: Question) -> str:
    """A question by all that is asked of it, whatever its id."""
    return digest(question.text, question.mode, question.budget, length=32)
