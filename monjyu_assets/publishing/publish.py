"""Publishes a closed set of parts as a snapshot, to which readers switch in one step.

The steps are: lock, closed set, checks, index.duckdb and search files, manifest, the collection's record, CURRENT. A
crash before the last step changes nothing for readers, and the next publish starts from the parts again.
"""

import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from filelock import FileLock

from monjyu_assets.publishing import search_target
from monjyu_assets.publishing.candidate import Candidate, damaged_snapshot
from monjyu_assets.publishing.checks import CheckResult, check_vectors, run_checks
from monjyu_assets.publishing.database import Connect
from monjyu_assets.sources.records import forget_other_analyses
from monjyu_assets.stages.shared.corrected_papers import contents_of
from monjyu_assets.work.closed_set import complete_level
from monjyu_assets.work.model_choice import keep_record
from monjyu_assets.work.work import Work
from monjyu_core.errors import IndexBuildError, UnknownVersion
from monjyu_core.records.corrections import CORRECTIONS, settle_corrections
from monjyu_core.remote.collection_lock import holding
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import (
    CollectionFolder,
    remove_dead_temporaries,
    remove_folder,
    remove_leftovers,
    write_atomically,
)
from monjyu_core.storage.manifest import Manifest, read_manifest
from monjyu_core.storage.parts import PartStore, read_all
from monjyu_core.storage.snapshot import held, is_leased, published, read_current


# A publish removes snapshots beyond the limit, and the files that only they needed.
def collect(folder: CollectionFolder, keep: int, *, force: bool = False) -> list[str]:
    """Remove the oldest snapshots beyond `keep`, and all parts and sources that no snapshot or HEAD names. Return the
    ids of the removed snapshots.

    The current snapshot and that of a rollback are kept, and without `force` (a purge) also those that a reader has
    open. If a kept snapshot is from another version of Monjyu, its parts and sources are unknown, so no part or source
    is removed while it exists.
    """
    ids, stay = published(folder), (read_current(folder), held(folder))
    old = [snapshot_id for snapshot_id in ids[:-keep] if snapshot_id not in stay]
    gone = [snapshot_id for snapshot_id in old if force or not is_leased(folder.snapshot(snapshot_id))]
    for snapshot_id in gone:
        remove_folder(folder.snapshot(snapshot_id))
    from monjyu_core.records.recorded_answers import forget_other_answers

    forget_other_answers(folder, published(folder))
    try:
        manifests = [read_manifest(folder, snapshot_id) for snapshot_id in ids if snapshot_id not in gone]
    except UnknownVersion:
        manifests = []
    if manifests:
        _collect_unnamed(folder, manifests)
    for left_over in folder.snapshots.glob(".building-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    remove_leftovers(folder.snapshots)
    remove_leftovers(folder.root.parent)
    remove_dead_temporaries(folder.root)
    return gone


def _collect_unnamed(folder: CollectionFolder, manifests: list[Manifest]) -> None:
    _collect_search(folder, manifests)
    named = {(one.table, one.shard, one.version) for manifest in manifests for one in manifest.parts}
    PartStore(folder.parts).remove_all_but(named)
    needed = _contents(folder, manifests)
    for path in folder.sources.glob("[!.]*"):
        if path.name not in needed:
            path.unlink()
    from monjyu_assets.scholarly.lookup import LookupAnswers

    LookupAnswers(folder).forget_others(needed)
    forget_other_analyses(folder, needed)


def _collect_search(folder: CollectionFolder, manifests: list[Manifest]) -> None:
    named = {entry.name for manifest in manifests for entry in manifest.search}
    for path in folder.search.glob("[!.]*"):
        if path.name not in named:
            path.unlink()
    tables = {manifest.nearest.folder for manifest in manifests if manifest.nearest}
    for path in folder.lance.glob("[!.]*"):
        if path.name not in tables:
            remove_folder(path)
    remove_leftovers(folder.lance)


def _contents(folder: CollectionFolder, manifests: list[Manifest]) -> set[str]:
    """The hashes of all files that are in the sources now or in an existing snapshot."""
    store = PartStore(folder.parts)
    listed = (store.listed(one) for manifest in manifests for one in manifest.parts if one.table == "manifest")
    parts = {part.path: part for part in (*listed, *store.heads("manifest"))}
    rows = read_all("manifest", parts.values(), ["sha256"])
    return set(rows["sha256"].to_pylist())


LOCK_SECONDS = 600
_log = logging.getLogger(__name__)


class PublishBlocked(IndexBuildError):
    """A check failed, so nothing was published. `checks` contains the results."""

    def __init__(self, checks: list[CheckResult]) -> None:
        failed = [check for check in checks if not check.passed]
        super().__init__(
            "Not published: " + "; ".join(_describe(check) for check in failed) + ".",
            " ".join(filter(None, (check.hint for check in failed))),
        )
        self.checks = checks


@dataclass(frozen=True)
class Published:
    """The result of publishing: the newest manifest, whether it is new, and the checks that it passed."""

    manifest: Manifest
    new: bool
    checks: list[CheckResult]


Gate = Callable[[str], CheckResult | None]
"""Checks a snapshot that is complete but not yet current. A failed result withholds it from readers."""


def publish(work: Work, connect: Connect, gate: Gate = lambda snapshot_id: None) -> Published:
    """Publish the current parts of a collection. Raises IndexBuildError if level 0 is incomplete, PublishBlocked if a
    check or the `gate` fails."""
    with publish_lock(work.folder):
        candidate, damaged = Candidate.of(work), damaged_snapshot(work)
        from monjyu_assets.publishing.snapshot_build import build_snapshot  # only publishing needs it
        from monjyu_core.records.reviews import ReviewStore

        checks = _checked(work, candidate)
        new, before = candidate.is_new, candidate.before
        manifest = build_snapshot(work, candidate, connect) if new or before is None else before
        newest, serve = manifest.snapshot_id, _to_serve(work.folder, manifest.snapshot_id, damaged)
        search_target.push(work, serve)
        if new or read_current(work.folder) != newest == serve:
            _pass(gate, work.folder, newest, new=new)
        keep_record(work, manifest.level)
        set_current(work.folder, serve)
        if CORRECTIONS.path(work.folder).is_file():
            settle_corrections(work.folder, contents_of(work))
        if (reviews := ReviewStore(work.data, work.name)).names():
            reviews.settle({paper_id: seen.sha256 for paper_id, seen in contents_of(work).items()})
        if damaged:
            remove_folder(work.folder.snapshot(damaged))
        collect(work.folder, work.settings.publish.keep_snapshots)
        search_target.switch(work.folder, work.settings, serve)
        return Published(manifest, new, checks)


def _checked(work: Work, candidate: Candidate) -> list[CheckResult]:
    """The results of all checks; raises PublishBlocked if one fails."""
    before = candidate.before
    passed = before.parts if before and before.checks == candidate.checks else ()
    checks = run_checks(candidate.parts, candidate.embedding, candidate.window, passed)
    if all(check.passed for check in checks):  # needs vectors that passed the other checks
        checks.append(check_vectors(candidate.parts, work.settings, passed))
    if not all(check.passed for check in checks):
        raise PublishBlocked(checks)
    return checks


def _pass(gate: Gate, folder: CollectionFolder, snapshot_id: str, *, new: bool) -> None:
    """Call the gate. Raises PublishBlocked if it rejects the snapshot. A new snapshot is then removed, so that the next
    publish builds and checks it again."""
    try:
        outcome = gate(snapshot_id)
        if outcome is not None and not outcome.passed:
            raise PublishBlocked([outcome])
    except BaseException:
        if new:
            remove_folder(folder.snapshot(snapshot_id))
        raise


def set_current(folder: CollectionFolder, snapshot_id: str) -> None:
    """Replace CURRENT, which makes the snapshot visible to readers."""
    if read_current(folder) != snapshot_id:
        write_atomically(folder.current, f"{snapshot_id}\n".encode())


@contextmanager
def publish_lock(folder: CollectionFolder) -> Iterator[None]:
    """A context with the publish lock of a collection: on this machine a kernel lock that ends with its process,
    between machines the lock in the object store, if there is one."""
    folder.root.mkdir(parents=True, exist_ok=True)
    with (
        holding(folder, load_settings(), _log.info, resume=True),
        FileLock(folder.root / "publish.lock", timeout=LOCK_SECONDS),
    ):
        yield


def is_published(work: Work, level: int) -> bool:
    """Whether the newest snapshot consists of exactly the current parts, which are complete up to `level`, and readers
    use it, or the snapshot of a rollback."""
    if level < 0 or complete_level(work.parts, work.settings.levels.max_failed_share) < level:
        return False
    candidate = Candidate.of(work)
    if candidate.before is None or candidate.is_new:
        return False
    serve = _to_serve(work.folder, candidate.before.snapshot_id)
    return read_current(work.folder) == serve and search_target.is_pushed(work.folder, work.settings, serve)


def _to_serve(folder: CollectionFolder, newest: str, damaged: str | None = None) -> str:
    """The snapshot of a rollback, even if the rollback was killed before it set CURRENT; otherwise the newest."""
    hold = held(folder)
    return hold if hold in published(folder) and hold != damaged else newest


def _describe(check: CheckResult) -> str:
    return f"{check.name} fails for {check.count} ({', '.join(check.examples)})"
