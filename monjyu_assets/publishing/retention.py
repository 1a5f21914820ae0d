"""What a publish removes: snapshots beyond the number kept, and what only they needed."""

from __future__ import annotations

import shutil

from monjyu_assets.scholarly.answers_kept import AnswersKept
from monjyu_assets.sources.analyses_kept import forget_other_analyses
from monjyu_core.errors import UnknownVersion
from monjyu_core.questions.recorded_answers import forget_other_answers
from monjyu_core.storage.folders import CollectionFolder, remove_dead_temporaries, remove_folder, remove_gone
from monjyu_core.storage.manifest import Manifest, read_manifest
from monjyu_core.storage.parts import PartStore, read_all
from monjyu_core.storage.snapshot import held, is_leased, published, read_current


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
    forget_other_answers(folder, published(folder))
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
    _collect_search(folder, manifests)
    _collect_parts(folder, manifests)
    needed = _contents(folder, manifests)
    for path in folder.sources.glob("[!.]*"):
        if path.name not in needed:
            path.unlink()
    AnswersKept(folder).forget_others(needed)
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
    remove_gone(folder.lance)


def _collect_parts(folder: CollectionFolder, manifests: list[Manifest]) -> None:
    named = {(one.table, one.shard, one.version) for manifest in manifests for one in manifest.parts}
    PartStore(folder.parts).remove_all_but(named)


def _contents(folder: CollectionFolder, manifests: list[Manifest]) -> set[str]:
    """Hashes of all that is in the sources now or in a kept snapshot."""
    store = PartStore(folder.parts)
    listed = (store.listed(one) for manifest in manifests for one in manifest.parts if one.table == "manifest")
    parts = {part.path: part for part in (*listed, *store.heads("manifest"))}
    rows = read_all("manifest", parts.values(), ["sha256"])
    return set(rows["sha256"].to_pylist())
