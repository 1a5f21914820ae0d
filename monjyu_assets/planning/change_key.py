"""The key of a change: what a build would start from. It never depends on how far an earlier run got."""

from __future__ import annotations

import json
from importlib import import_module

import pyarrow as pa

from monjyu_assets.stages.shared.corrected_papers import corrections_for, inputs_of
from monjyu_assets.work.closed_set import RESTS_ON, level_of
from monjyu_assets.work.work import Work
from monjyu_core.storage.collection import collection_settings, target_level
from monjyu_core.storage.ids import digest
from monjyu_core.storage.snapshot import read_current

LENGTH = 20


def change_key(work: Work, scanned: pa.Table) -> str:
    """Hash of the sources as `scanned`, corrections, settings, code versions, level, and the snapshot that readers see.

    With the snapshot, going back to an earlier state of the sources is a change of its own.
    """
    papers = zip(*(scanned[name].to_pylist() for name in ("paper_id", "sha256", "source_path")), strict=True)
    corrections = corrections_for(work, scanned)
    corrected = sorted(inputs_of(corrections, corrections).values()) if corrections else []
    return digest(basis(work), *corrected, *("\t".join(paper) for paper in sorted(papers)), length=LENGTH)


def basis(work: Work) -> str:
    """What of the key does not depend on the papers."""
    unsettled = work.record.model_copy(update={"embedding_model": None, "embedding_precision": None})
    settings = json.dumps(collection_settings(unsettled).model_dump(), default=_plain, sort_keys=True)
    level = target_level(work.record)
    return digest(work.name, settings, *_code_versions(level), str(level), read_current(work.folder) or "")


def _plain(value: object) -> object:
    """A secret by its value: a corrected key is a changed setting."""
    secret = getattr(value, "get_secret_value", None)
    return secret() if secret else str(value)


def _code_versions(level: int) -> list[str]:
    """Code versions of the assets up to a level. Stages of higher levels are not imported."""
    from monjyu_assets.parsing.dispatch import PARSER_VERSION

    stages = {asset: import_module(f"monjyu_assets.stages.{asset}") for asset in RESTS_ON if level_of(asset) <= level}
    return [f"{asset} {getattr(stage, 'CODE_VERSION', PARSER_VERSION)}" for asset, stage in stages.items()]
