"""Level 0, first stage: which papers a collection holds."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from monjyu_assets.indexing.scan import guard_deletes, papers_under, scan
from monjyu_assets.indexing.walking import readable_types
from monjyu_assets.stages.shared.run_rules import goal_of, is_without_scan
from monjyu_assets.stages.shared.work import ShardReport, Timer, Work, finish, rows_of
from monjyu_core.errors import StorageError
from monjyu_core.storage.ids import shard_of
from monjyu_core.storage.other_files import OtherFiles, read_other_files, save_other_files
from monjyu_core.storage.schemas import TABLES, empty
from monjyu_core.storage.snapshot import published, read_manifest

CODE_VERSION = "1"


def current_manifest(work: Work) -> pa.Table:
    """The current manifest, over all shards."""
    parts = work.parts.heads("manifest")
    return pa.concat_tables([empty("manifest"), *(part.read() for part in parts)])


def scan_manifest(work: Work, *, allow_deletes: bool = False) -> pa.Table:
    """The manifest of the sources as they are now. IndexBuildError where much would be deleted."""
    before = current_manifest(work)
    if is_without_scan():
        return before.filter(pc.invert(pc.is_in(before["paper_id"], pa.array(work.record.excluded, pa.string()))))
    goal = goal_of(work.folder)
    for source in goal.removed if goal else ():
        before = before.filter(pc.invert(papers_under(before, source)))  # they are removed on purpose
    others = OtherFiles()
    count = partial(work.progress, "scan")
    types = readable_types(work.settings)
    after = scan(
        work.record, before, allow_missing=allow_deletes, say=work.warn, count=count, others=others, types=types
    )
    old, new = (set(table["paper_id"].to_pylist()) for table in (before, after))
    if not allow_deletes and old - new:
        old -= _never_published(work, old - new)
    guard_deletes(old, new, work.settings.publish, allow=allow_deletes)
    work.others = others
    return after


def keep_other_files(work: Work) -> None:
    """Save the other files that this work's scan met, if there was a scan."""
    if work.others is not None:
        save_other_files(work.folder, work.others)


def _never_published(work: Work, paper_ids: set[str]) -> set[str]:
    """Those of these papers that the newest snapshot lacks: leftovers of a failed run."""
    try:
        snapshots = published(work.folder)
        entries = read_manifest(work.folder, snapshots[-1]).parts if snapshots else []
        parts = [work.parts.open(one.table, one.shard, one.version) for one in entries if one.table == "manifest"]
    except StorageError:
        return set()  # of another version, or damaged: none is known to be new
    return paper_ids.difference(*(part.read(["paper_id"])["paper_id"].to_pylist() for part in parts))


def write_manifest(work: Work, shards: tuple[str, ...], *, allow_deletes: bool = False) -> list[ShardReport]:
    """Scan the sources and write the rows of these shards."""
    reports = write_scanned(work, shards, scan_manifest(work, allow_deletes=allow_deletes))
    keep_other_files(work)
    others = read_other_files(work.folder)
    for report in reports:
        report.notes = {"files_unsupported": others.unsupported_count, "files_skipped": others.skipped_count}
    return reports


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
    """A shard's papers compared with its current part: unchanged ones are reused, new and edited ones recomputed."""
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
