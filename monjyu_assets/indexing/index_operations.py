"""The work behind `snapshots`, `collections` and `purge`."""

from typing import TypedDict

from monjyu_assets.libraries.library_folder import forget_excluded
from monjyu_assets.planning.pending import look
from monjyu_assets.publishing import search_target
from monjyu_assets.publishing.candidate import verify_snapshot
from monjyu_assets.publishing.drift import papers_of
from monjyu_assets.publishing.publish import collect, publish_lock, set_current
from monjyu_assets.work.model_choice import changing_record
from monjyu_assets.work.run_limits import NoCalls, only_removing, without_scan
from monjyu_assets.work.work import Warn, Work, no_warning
from monjyu_core.errors import ConfigurationError, MonjyuError, StorageError, UnknownVersion, among
from monjyu_core.models.response_cache import forget_answers
from monjyu_core.records.corrections import forget_corrections
from monjyu_core.records.question_list import forget_paper
from monjyu_core.records.reviews import ReviewStore
from monjyu_core.remote.collection_lock import delete_remote, keep_nothing_dropped
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import target_level
from monjyu_core.storage.folders import CollectionFolder, DataFolder, remove_folder, remove_leftovers, write_atomically
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import held, published, read_current
from monjyu_core.storage.state_store import StateStore


class SnapshotRow(TypedDict):
    """A snapshot as `monjyu snapshots list --json` prints it. Fields from the manifest are None if another version of
    Monjyu wrote it."""

    snapshot_id: str
    created_at: str | None
    level: int | None
    papers: int | None
    chunks: int | None
    current: bool
    held: bool


class Purged(TypedDict):
    """The output of `monjyu purge --json`."""

    collection: str
    paper_id: str
    snapshot_id: str | None
    snapshots_removed: list[str]


def known_folder(name: str | None, data: DataFolder | None = None) -> CollectionFolder:
    """The folder of a collection, by default of the only one. Raises ConfigurationError if it was never indexed, or if
    no name is given and there is not exactly one collection."""
    data = data or DataFolder.default()
    if name is None:
        known = data.collections()
        if len(known) != 1:
            hint = f"Name one with -c: {', '.join(known)}." if known else "Start with `monjyu index FOLDER`."
            raise ConfigurationError(f"{data.root} contains {len(known) or 'no'} collections.", hint)
        name = known[0]
    folder = data.collection(name)
    if not folder.record.is_file():
        raise ConfigurationError(f"Collection {name!r} has no index in {data.root}.", among(name, data.collections()))
    return folder


def snapshot_rows(folder: CollectionFolder) -> list[SnapshotRow]:
    """The existing snapshots, oldest first."""
    current, hold = read_current(folder), held(folder)
    rows: list[SnapshotRow] = []
    for snapshot_id in published(folder):
        try:
            manifest = read_manifest(folder, snapshot_id)
        except UnknownVersion:
            manifest = None
        rows.append(
            {
                "snapshot_id": snapshot_id,
                "created_at": manifest.created_at if manifest else None,
                "level": manifest.level if manifest else None,
                "papers": manifest.rows["papers"] if manifest else None,
                "chunks": manifest.rows["chunks"] if manifest else None,
                "current": snapshot_id == current,
                "held": snapshot_id == hold,
            }
        )
    return rows


def verify_all(folder: CollectionFolder, snapshot_id: str | None) -> dict[str, list[str]]:
    """The problems of `snapshot_id`; without it, of every snapshot, and of CURRENT if it names none of them."""
    ids = [snapshot_id] if snapshot_id else published(folder)
    problems = {name: verify_snapshot(folder, name) for name in ids}
    current = read_current(folder)
    if snapshot_id is None and current is not None and current not in ids:
        problems["CURRENT"] = [f"names {current!r}, which is not a snapshot"]
    return problems


def roll_back(folder: CollectionFolder, snapshot_id: str | None) -> str:
    """Serve a snapshot, by default the one before the current one, until the rollback is released. Return its id."""
    with publish_lock(folder):
        ids = published(folder)
        current = read_current(folder)
        if snapshot_id is None:
            older = [name for name in ids if current not in ids or name < str(current)]
            if not older:
                raise ConfigurationError("There is no older snapshot.", "See `monjyu snapshots list`.")
            snapshot_id = older[-1]
        if snapshot_id not in ids:
            raise ConfigurationError(f"There is no snapshot {snapshot_id}.", "See `monjyu snapshots list`.")
        problems = verify_snapshot(folder, snapshot_id)
        if problems:
            raise StorageError(f"Snapshot {snapshot_id} is damaged: {'; '.join(problems)}.", "Choose another.")
        work = _work_on(folder)
        search_target.push(work, snapshot_id)
        write_atomically(folder.hold, f"{snapshot_id}\n".encode())
        set_current(folder, snapshot_id)
        search_target.switch(folder, work.settings, snapshot_id)
    return snapshot_id


def _work_on(folder: CollectionFolder) -> Work:
    return Work(DataFolder(folder.root.parents[1]), folder.name)


def release_rollback(folder: CollectionFolder) -> str:
    """End a rollback: serve the newest snapshot again. Return its id."""
    with publish_lock(folder):
        ids = published(folder)
        if not ids:
            raise ConfigurationError("There is no snapshot.", "Run `monjyu index`.")
        work = _work_on(folder)
        search_target.push(work, ids[-1])
        folder.hold.unlink(missing_ok=True)
        set_current(folder, ids[-1])
        search_target.switch(folder, work.settings, ids[-1])
    return ids[-1]


def delete_index(data: DataFolder, name: str, say: Warn = no_warning) -> int:
    """Remove all outputs of a collection, and return the number of bytes freed.

    CURRENT is removed first, then the folder is renamed and removed, so that no reader sees a partial index, and a
    killed deletion is either complete or can be repeated.
    """
    from monjyu_assets.orchestration.runs import forget_collection
    from monjyu_assets.planning.targets import index_lock

    if name in remove_leftovers(data.index) and not data.collection(name).record.is_file():
        return 0
    folder = data.collection(name)
    if not folder.parts.is_dir():  # a first run that failed may have left parts without a record
        folder = known_folder(name)
    with index_lock(Work(data, name), say), publish_lock(folder):
        size = sum(path.stat().st_size for path in folder.root.rglob("*") if path.is_file())
        if folder.record.is_file():
            search_target.forget_collection_index(folder, Work(data, name).settings)
        folder.current.unlink(missing_ok=True)
        forget_answers(load_settings().cache, data, f"collection:{name}")
        StateStore(data.state).delete_those("traces", "collection", name)
        ReviewStore(data, name).drop()
        forget_collection(data, name)
        delete_remote(folder)
        remove_folder(folder.root)
    return size


def purge_paper(data: DataFolder, name: str, paper_id: str, say: Warn = no_warning) -> Purged:
    """Exclude a paper, and publish without it. Delete all older snapshots with the files that only they needed, the
    paper's corrections, review decisions and recorded model answers, and the collection's traces."""
    from monjyu_assets.planning.targets import index_lock

    work = Work(data, name, warn=say)
    folder = known_folder(name)
    with index_lock(work, say):
        if paper_id not in work.record.excluded:
            if not any(paper_id in papers_of(folder, snapshot_id) for snapshot_id in published(folder)):
                raise ConfigurationError(f"No snapshot of {name} has paper {paper_id!r}.", "See `monjyu papers list`.")
            with changing_record(work):
                work.record.excluded = sorted({*work.record.excluded, paper_id})
        forget_corrections(folder, paper_id)
        forget_paper(folder, paper_id)
        _finish_killed(work)
        _publish_without(Work(data, name, warn=say))  # the finished command may have raised the level
        with publish_lock(folder):
            folder.hold.unlink(missing_ok=True)
            set_current(folder, published(folder)[-1])
            gone = collect(folder, 1, force=True)
            keep_nothing_dropped(folder)
            search_target.switch(folder, work.settings, published(folder)[-1])
    forget_excluded(data, Work(data, name).record)
    StateStore(data.state).delete_those("traces", "collection", name)
    ReviewStore(data, name).forget({paper_id})
    forget_answers(load_settings().cache, data, f"paper:{name}/{paper_id}")
    return {"collection": name, "paper_id": paper_id, "snapshot_id": read_current(folder), "snapshots_removed": gone}


def _finish_killed(work: Work) -> None:
    """Finish the work of a killed command, if possible, because its parts may mix old and new sources, which should not
    be published together."""
    from monjyu_assets.indexing.requests import bring_up

    if work.folder.at_work.exists():
        try:
            bring_up(work, ", ".join(work.record.sources), allow_deletes=False)
        except MonjyuError as error:
            work.warn(f"The work of a killed command could not be finished: {error}")


def _publish_without(work: Work) -> None:
    """Publish without excluded papers, even if the sources cannot be read. Nothing is indexed, no model called."""
    from monjyu_assets.orchestration.runs import run_build

    with without_scan(), only_removing():
        pending = look(work, "", allow_deletes=True, level=target_level(work.record))
        if pending.needed:
            run_build(work, pending.level, cap=NoCalls())
