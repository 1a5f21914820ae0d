"""The quality checks over a snapshot, shard by shard: an unchanged shard keeps its results.

Results are kept in `quality.json` beside the snapshots: numbers and ids of papers in the collection, no text.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
from pydantic import BaseModel, TypeAdapter, ValidationError

from monjyu_assets.publishing.checks import over_parts
from monjyu_assets.work.work import Work
from monjyu_core.quality import OF_THE_WHOLE, QUALITY_CHECKS, SHOWN, TABLES_READ, WHOLE, QualityResult, run_check
from monjyu_core.settings.settings import CheckSettings
from monjyu_core.storage.folders import write_atomically
from monjyu_core.storage.ids import digest
from monjyu_core.storage.manifest import Manifest
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import COLLECTION_SHARD


class ShardQuality(BaseModel):
    """By check: papers that fail, papers checked, and the first that fail. `key` identifies what was checked."""

    key: str
    found: dict[str, tuple[int, int, list[tuple[str, str]]]]


Kept = dict[str, ShardQuality]
_KEPT = TypeAdapter(Kept)


def snapshot_quality(work: Work, manifest: Manifest) -> list[QualityResult]:
    """All checks over the parts of a snapshot."""
    parts = [work.parts.listed(entry) for entry in manifest.parts if entry.table in TABLES_READ]
    by_shard: dict[str, list[Part]] = {}
    for part in parts:
        by_shard.setdefault(part.shard, []).append(part)
    path = work.folder.root / "quality.json"
    before = _read(path)
    with over_parts(parts, OF_THE_WHOLE) as connection:
        now = {
            shard: _shard_quality(by_shard[shard], before.get(shard), work.settings.checks, connection)
            for shard in sorted(by_shard.keys() - {COLLECTION_SHARD})
        }
        whole = {name: run_check(connection, name, work.settings.checks) for name in WHOLE}
    if now != before:
        write_atomically(path, _KEPT.dump_json(now))
    return [whole.get(name) or _together(name, now, work.settings.checks) for name in QUALITY_CHECKS]


def _read(path: Path) -> Kept:
    """Kept results; empty where the file is missing or another version wrote it, so that all is checked again."""
    try:
        return _KEPT.validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return {}


def _shard_quality(
    parts: list[Part], before: ShardQuality | None, settings: CheckSettings, within: duckdb.DuckDBPyConnection
) -> ShardQuality:
    checks = [name for name in QUALITY_CHECKS if name not in WHOLE]
    asked = (f"{name}: {QUALITY_CHECKS[name].papers} {QUALITY_CHECKS[name].bad}" for name in checks)
    versions = sorted(f"{part.table}/{part.version}" for part in parts)
    key = digest(settings.min_coverage, settings.furniture_pages, *asked, *versions)
    if before is not None and before.key == key:
        return before
    if not any(part.rows for part in parts):
        return ShardQuality(key=key, found={name: (0, 0, []) for name in checks})
    with over_parts(parts, within=within) as connection:
        results = [run_check(connection, name, settings) for name in checks]
    return ShardQuality(key=key, found={one.name: (one.count, one.looked_at, one.papers) for one in results})


def _together(name: str, shards: Kept, settings: CheckSettings) -> QualityResult:
    results = [shard.found[name] for shard in shards.values()]
    papers = sorted(paper for _, _, first in results for paper in first)[:SHOWN]
    count, looked_at = sum(count for count, _, _ in results), sum(of for _, of, _ in results)
    return QualityResult(name, count, looked_at, getattr(settings, name), papers)
