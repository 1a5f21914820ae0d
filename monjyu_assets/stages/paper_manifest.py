"""Level 0, first stage: the papers of a collection."""

from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from monjyu_assets.sources.scan import guard_deletes, papers_under, scan
from monjyu_assets.sources.walking import readable_types
from monjyu_assets.stages.shared.matching_cache import rebucket, wanted_buckets
from monjyu_assets.work.run_limits import goal_of, is_without_scan, scan_of
from monjyu_assets.work.work import ShardReport, Work, unchanged
from monjyu_core.errors import StorageError
from monjyu_core.records.renamed_papers import remember_renamed
from monjyu_core.storage.folders import OtherFiles, save_other_files
from monjyu_core.storage.ids import bucket_of, shard_of
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.parts import read_all
from monjyu_core.storage.schemas import TABLES
from monjyu_core.storage.snapshot import published

ASSET = "paper_manifest"
CODE_VERSION = "1"


def current_manifest(work: Work) -> pa.Table:
    """The current manifest of all shards."""
    return read_all("manifest", work.parts.heads("manifest"))


def scan_manifest(work: Work, *, allow_deletes: bool = False) -> pa.Table:
    """The manifest of the current sources. Raises IndexBuildError if too many papers would be deleted."""
    if scan_made := scan_of(work.folder):
        work.others = scan_made.others
        return scan_made.rows
    before = current_manifest(work)
    if is_without_scan():
        return before.filter(pc.invert(pc.is_in(before["paper_id"], pa.array(work.record.excluded, pa.string()))))
    goal = goal_of(work.folder)
    for source in goal.removed if goal else ():
        before = before.filter(pc.invert(papers_under(before, source)))  # the user removed their sources
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
    """Save the list of other files in the sources, if `work` has scanned them."""
    if work.others is not None:
        save_other_files(work.folder, work.others)


def _never_published(work: Work, paper_ids: set[str]) -> set[str]:
    """The papers among `paper_ids` that the newest snapshot lacks, because a failed run left them."""
    try:
        snapshots = published(work.folder)
        entries = read_manifest(work.folder, snapshots[-1]).parts if snapshots else []
        parts = [work.parts.listed(one) for one in entries if one.table == "manifest"]
    except StorageError:
        return set()  # of another version or damaged, so no paper is known to be new
    return paper_ids.difference(*(part.read(["paper_id"])["paper_id"].to_pylist() for part in parts))


def write_manifest(
    work: Work,
    shards: tuple[str, ...],
    *,
    allow_deletes: bool = False,
    seen: Callable[[pa.Table], None] = lambda scanned: None,
) -> list[ShardReport]:
    """Scan the sources and write the rows of `shards`, after a call of `seen` with the scan."""
    scanned = scan_manifest(work, allow_deletes=allow_deletes)
    seen(scanned)
    reports = write_scanned(work, shards, scanned)
    keep_other_files(work)
    return reports


def write_scanned(work: Work, shards: tuple[str, ...], scanned: pa.Table) -> list[ShardReport]:
    """Write the rows of `shards` in the number of buckets that they need. Unchanged buckets are not rewritten."""
    papers = Counter(map(shard_of, scanned["paper_id"].to_pylist()))
    rebucket(work.parts, {shard: wanted_buckets(papers[shard], work.parts.bucket_count(shard)) for shard in shards})
    remember_renamed(work.folder, *map(content_hashes, (current_manifest(work), scanned)))
    changed = changed_buckets(work, scanned)
    reports = []
    for bucket, rows in _by_bucket(work, shards, scanned).items():
        report = None if bucket in changed else unchanged(work, ASSET, bucket, CODE_VERSION)
        if report is None:
            report = compare(work, bucket, rows)
            work.parts.write(ASSET, bucket, {"manifest": rows}, inputs={}, code_version=CODE_VERSION)
        reports.append(report)
    return reports


def content_hashes(rows: pa.Table) -> dict[str, str]:
    """The content hash of each paper in rows of a manifest."""
    return dict(zip(rows["paper_id"].to_pylist(), rows["sha256"].to_pylist(), strict=True))


def _by_bucket(work: Work, shards: tuple[str, ...], scanned: pa.Table) -> dict[str, pa.Table]:
    """The rows of every bucket of `shards`."""
    counts = {shard: work.parts.bucket_count(shard) for shard in shards}
    places: dict[str, list[int]] = {bucket: [] for bucket in work.buckets(shards)}
    for row, paper_id in enumerate(scanned["paper_id"].to_pylist()):
        if count := counts.get(shard_of(paper_id)):
            places[bucket_of(paper_id, count)].append(row)
    return {bucket: scanned.take(pa.array(rows, pa.int64())) for bucket, rows in places.items()}


def compare(work: Work, bucket: str, rows: pa.Table) -> ShardReport:
    """Compare a bucket's papers with its current part: unchanged ones are reused, new and edited ones recomputed."""
    part = work.parts.head("manifest", bucket)
    before = content_hashes(part.read(["paper_id", "sha256"])) if part else {}
    after = content_hashes(rows)
    changed = [paper_id for paper_id, content in after.items() if before.get(paper_id) != content]
    return ShardReport(
        bucket,
        total=len(after),
        reused=len(after) - len(changed),
        recomputed=len(changed),
        deleted=len(before.keys() - after.keys()),
        recomputed_ids=changed,
    )


def changed_buckets(work: Work, scanned: pa.Table) -> set[str]:
    """The buckets whose parts differ from the rows of `scanned`, including paths and times, or that have no part."""
    there = {part.shard for part in work.parts.heads("manifest")}
    missing = {bucket for bucket in work.parts.all_buckets() if bucket not in there}
    names = TABLES["manifest"].schema.names
    before, after = (
        table.select(names).sort_by("paper_id").combine_chunks() for table in (current_manifest(work), scanned)
    )
    if before.equals(after):
        return missing
    return missing | {work.parts.bucket_of(paper_id) for paper_id in _differing(before, after)}


def _differing(before: pa.Table, after: pa.Table) -> set[str]:
    """The papers whose rows differ between two manifests, or are in only one of them."""
    places = pc.index_in(after["paper_id"], before["paper_id"])
    there = before.take(places)  # a row of nulls for a new paper
    same = pa.array(np.ones(after.num_rows, np.bool_))
    for name in after.column_names:
        one, other = there[name], after[name]
        equal = pc.or_(pc.fill_null(pc.equal(one, other), False), pc.and_(pc.is_null(one), pc.is_null(other)))
        same = pc.and_(same, equal.combine_chunks())
    gone = before["paper_id"].filter(pc.invert(pc.is_in(before["paper_id"], after["paper_id"])))
    return {*after["paper_id"].filter(pc.invert(same)).to_pylist(), *gone.to_pylist()}
