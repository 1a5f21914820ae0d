"""Level 0, first stage: which papers a collection holds."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from monjyu_assets.run_rules import is_without_scan
from monjyu_assets.scan import guard_deletes, scan
from monjyu_assets.stages.common import ShardReport, Timer, Work, finish, rows_of
from monjyu_core.ids import shard_of
from monjyu_core.schemas import TABLES, empty

CODE_VERSION = "1"


def current_manifest(work: Work) -> pa.Table:
    """The manifest as it stands in the parts, over all shards."""
    parts = work.parts.heads("manifest")
    return pa.concat_tables([empty("manifest"), *(part.read() for part in parts)])


def scan_manifest(work: Work, *, allow_deletes: bool = False) -> pa.Table:
    """The manifest as the sources are now; stops with a question where much would be deleted."""
    before = current_manifest(work)
    if is_without_scan():
        return before.filter(pc.invert(pc.is_in(before["paper_id"], pa.array(work.record.excluded, pa.string()))))
    after = scan(work.record, before, allow_missing=allow_deletes, say=work.warn)
    old, new = (set(table["paper_id"].to_pylist()) for table in (before, after))
    guard_deletes(old, new, work.settings.publish, allow=allow_deletes)
    return after


def write_manifest(work: Work, shards: tuple[str, ...], *, allow_deletes: bool = False) -> list[ShardReport]:
    """Scan the sources and write the rows of these shards."""
    return write_scanned(work, shards, scan_manifest(work, allow_deletes=allow_deletes))


def write_scanned(work: Work, shards: tuple[str, ...], scanned: pa.Table) -> list[ShardReport]:
    timer = Timer()
    by_shard: dict[str, list[str]] = {shard: [] for shard in shards}
    for paper_id in scanned["paper_id"].to_pylist():
        if (shard := shard_of(paper_id)) in by_shard:
            by_shard[shard].append(paper_id)
    reports = []
    for shard in shards:
        rows = rows_of(scanned, by_shard[shard])
        report = compare(work, shard, rows)
        part = work.parts.write("paper_manifest", shard, {"manifest": rows}, inputs={}, code_version=CODE_VERSION)
        reports.append(finish(report, part, work.parts, "paper_manifest", timer))
    return reports


def compare(work: Work, shard: str, rows: pa.Table) -> ShardReport:
    """Papers of a shard against its current part: unchanged are reused, new and edited recomputed."""
    part = work.parts.head("manifest", shard)
    columns = ["paper_id", "sha256"]
    before = dict(zip(*(part.read(columns)[c].to_pylist() for c in columns), strict=True)) if part else {}
    after = dict(zip(*(rows[c].to_pylist() for c in columns), strict=True))
    changed = [paper_id for paper_id, content in after.items() if before.get(paper_id) != content]
    return ShardReport(
        shard,
        total=len(after),
        reused=len(after) - len(changed),
        recomputed=len(changed),
        deleted=len(before.keys() - after.keys()),
        recomputed_ids=changed,
    )


def same_rows(work: Work, shard: str, rows: pa.Table) -> bool:
    """Whether a shard's part already holds these rows, paths and times included."""
    part = work.parts.head("manifest", shard)
    if part is None:
        return False
    ordered = rows.select(TABLES["manifest"].schema.names).sort_by("paper_id").combine_chunks()
    return bool(part.read().equals(ordered))
