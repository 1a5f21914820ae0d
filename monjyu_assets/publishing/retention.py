"""What a publish removes: snapshots beyond the number kept, and what only they needed."""

from __future__ import annotations

import fcntl
import logging
import shutil
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from monjyu_assets.analysis.analyses_kept import forget_other_analyses
from monjyu_assets.publishing.lance import compact
from monjyu_assets.publishing.verify import is_sound
from monjyu_assets.scholarly.answers_kept import AnswersKept
from monjyu_core.errors import UnknownVersion
from monjyu_core.storage.folders import CollectionFolder, remove_dead_temporaries, remove_folder, remove_gone
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import TABLES
from monjyu_core.storage.snapshot import Manifest, held, is_leased, published, read_current, read_manifest

if TYPE_CHECKING:
    from lancedb.table import Table as LanceTable

_log = logging.getLogger(__name__)
MARGIN = timedelta(minutes=1)
"""Reserve: the oldest kept version ages while Lance looks for what to remove, on a busy machine by seconds."""


def collect(folder: CollectionFolder, keep: int, *, force: bool = False) -> list[str]:
    """Remove the oldest snapshots beyond `keep`, and all parts and sources no longer named.

    The current snapshot stays, a rollback's too, and one that a reader has open unless `force` says that its text must
    go now. Where a kept snapshot comes from another version of Monjyu its needs are not known, so parts and sources
    stay until it is gone.
    """
    ids, stay = published(folder), (read_current(folder), held(folder))
    old = [snapshot_id for snapshot_id in ids[:-keep] if snapshot_id not in stay]
    gone = [snapshot_id for snapshot_id in old if force or not is_leased(folder.snapshot(snapshot_id))]
    for snapshot_id in gone:
        remove_folder(folder.snapshot(snapshot_id))
    try:
        manifests = [read_manifest(folder, snapshot_id) for snapshot_id in ids if snapshot_id not in gone]
    except UnknownVersion:
        manifests = []
    if manifests:
        _collect_unnamed(folder, manifests)
    for left_over in folder.snapshots.glob(".building-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    remove_gone(folder.snapshots)
    remove_gone(folder.root.parent)
    remove_dead_temporaries(folder.root)
    return gone


def _collect_unnamed(folder: CollectionFolder, manifests: list[Manifest]) -> None:
    _collect_lance(folder, manifests)
    _collect_parts(folder, manifests)
    needed = _contents(folder, manifests)
    for path in folder.sources.glob("[!.]*"):
        if path.name not in needed:
            path.unlink()
    AnswersKept(folder).forget_others(needed)
    forget_other_analyses(folder, needed)


def _collect_lance(folder: CollectionFolder, manifests: list[Manifest]) -> None:
    """Drop tables and tags that no kept snapshot names, and the versions before the oldest kept one."""
    from monjyu_core.storage.lance_library import lancedb

    kept = {(entry.table, entry.tag) for manifest in manifests for entry in manifest.lance.values()}
    connection = lancedb.connect(str(folder.lance))
    for path in sorted(folder.lance.glob("*.lance")):
        if path.stem not in {table for table, _ in kept}:
            shutil.rmtree(path)
            path.with_suffix(".unindexed").unlink(missing_ok=True)
            continue
        try:
            _tidy(connection.open_table(path.stem), {tag for table, tag in kept if table == path.stem})
        except (OSError, RuntimeError, ValueError) as error:
            if all(is_sound(folder, one) for one in manifests if path.stem in {e.table for e in one.lance.values()}):
                raise
            _log.warning("Lance table %s of a damaged snapshot stays as it is: %s", path.stem, error)


def _tidy(table: LanceTable, kept: set[str]) -> None:
    stale = [tag for tag in table.tags.list() if tag not in kept]
    for tag in stale:
        table.tags.delete(tag)
    if stale:
        compact(table)
        table.optimize(cleanup_older_than=_age_of_oldest_tag(table) + MARGIN)


def _age_of_oldest_tag(table: LanceTable) -> timedelta:
    """How old the oldest tagged version is; Lance refuses to clean up beyond it.

    After a clock was set back, a later version may look oldest, or all of them may lie in the future.
    """
    tagged = {tag["version"] for tag in table.tags.list().values()}
    made: list[datetime] = [version["timestamp"] for version in table.list_versions() if version["version"] in tagged]
    return max(timedelta(), *(datetime.now(one.tzinfo) - one for one in made))


def _collect_parts(folder: CollectionFolder, manifests: list[Manifest]) -> None:
    store = PartStore(folder.parts)
    named = {(entry.table, entry.shard, entry.version) for manifest in manifests for entry in manifest.parts}
    with store.locked(fcntl.LOCK_EX):  # runs of a backfill write meanwhile: no HEAD names their new parts yet
        heads = {(p.table, p.shard, p.version) for name in TABLES for p in store.heads(name)}
        for path in folder.parts.glob("*/shard=*/*.parquet"):
            key = (path.parent.parent.name, path.parent.name.removeprefix("shard="), path.stem)
            if key not in named and key not in heads:
                path.unlink()


def _contents(folder: CollectionFolder, manifests: list[Manifest]) -> set[str]:
    """Hashes of all that is in the sources now or in a kept snapshot."""
    store = PartStore(folder.parts)
    parts = [store.open("manifest", e.shard, e.version) for m in manifests for e in m.parts if e.table == "manifest"]
    return {value for part in [*parts, *store.heads("manifest")] for value in part.read()["sha256"].to_pylist()}
