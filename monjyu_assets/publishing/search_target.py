"""Copies snapshots to Azure AI Search if `search.backend` selects it. A snapshot's index is filled before readers
switch to the snapshot; afterwards the alias points to it. It is dropped with the snapshot."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from monjyu_assets.work.work import Progress, Work
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder, write_atomically
from monjyu_core.storage.manifest import Manifest, read_manifest
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.snapshot import open_database, published

if TYPE_CHECKING:
    import duckdb

    from monjyu_core.azure.search_index import IndexedChunk

_CHUNKS = "SELECT chunk_id, paper_id, section_type, header, text FROM chunks WHERE paper_id IN ({}) ORDER BY chunk_id"


def is_in_use(settings: Settings) -> bool:
    return settings.search.backend == "azure_search"


def is_pushed(folder: CollectionFolder, settings: Settings, snapshot_id: str) -> bool:
    """Whether the service's alias points to this snapshot, by the local record; True if no service is used."""
    return not is_in_use(settings) or _noted(folder) == _note(settings, snapshot_id)


def push(work: Work, snapshot_id: str) -> None:
    """Fill the index of a snapshot unless it is complete. Raises ExternalAPIError if the service fails; readers then
    keep the previous snapshot."""
    if not is_in_use(work.settings):
        return
    from monjyu_core.azure.search_index import SearchIndexes, index_name

    manifest = read_manifest(work.folder, snapshot_id)
    name = index_name(work.settings.azure.search.index_prefix, work.name, snapshot_id)
    dimensions, count = manifest.embedding.dimensions, manifest.rows["chunk_embeddings"]
    with SearchIndexes(work.settings.azure) as indexes:
        if not indexes.holds(name, dimensions, count):
            indexes.fill(name, dimensions, _chunks(work.folder, manifest, work.progress), count)


def switch(folder: CollectionFolder, settings: Settings, snapshot_id: str) -> None:
    """Point the alias at the index of the snapshot that readers use, and drop all other indexes except those of the
    newest `keep_indexes` snapshots."""
    if not is_in_use(settings):
        return
    from monjyu_core.azure.search_index import SearchIndexes, drop_others, index_name

    prefix, kept = settings.azure.search.index_prefix, settings.azure.search.keep_indexes
    current = index_name(prefix, folder.name, snapshot_id)
    newest = [index_name(prefix, folder.name, one) for one in published(folder)][-kept:]
    with SearchIndexes(settings.azure) as indexes:
        indexes.point(folder.name, current)
        drop_others(indexes, folder.name, [current, *newest])
    write_atomically(_place(folder), _note(settings, snapshot_id).encode())


def forget_collection_index(folder: CollectionFolder, settings: Settings) -> None:
    """Drop the alias and all indexes of a collection."""
    if is_in_use(settings):
        from monjyu_core.azure.search_index import SearchIndexes, drop_others

        with SearchIndexes(settings.azure) as indexes:
            indexes.drop_alias(folder.name)
            drop_others(indexes, folder.name, [])


def _chunks(folder: CollectionFolder, manifest: Manifest, progress: Progress) -> Iterator[IndexedChunk]:
    """The chunks of a snapshot with their vectors, one shard at a time."""
    from monjyu_core.azure.search_index import IndexedChunk

    store = PartStore(folder.parts)
    done, total = 0, manifest.rows["chunks"]
    with open_database(folder.database(manifest.snapshot_id)) as connection:
        for entry in manifest.parts:
            if entry.table != "chunk_embeddings":
                continue
            rows = store.open(entry.table, entry.shard, entry.version).read(["chunk_id", "paper_id", "vector"])
            vectors = dict(zip(rows["chunk_id"].to_pylist(), rows["vector"].to_pylist(), strict=True))
            for row in _rows(connection, sorted(set(rows["paper_id"].to_pylist()))):
                if row[0] in vectors:  # the service accepts no chunk without a vector
                    yield IndexedChunk(*row, vector=vectors[row[0]])
            done += rows.num_rows
            progress("push", done, total)


def _rows(connection: duckdb.DuckDBPyConnection, papers: Sequence[str]) -> Iterator[tuple[str, str, str, str, str]]:
    if papers:
        yield from connection.execute(_CHUNKS.format(", ".join("?" * len(papers))), list(papers)).fetchall()


def _place(folder: CollectionFolder) -> Path:
    return folder.root / "azure_search.json"


def _note(settings: Settings, snapshot_id: str) -> str:
    where = [settings.azure.search.endpoint, settings.azure.search.index_prefix, snapshot_id]
    return json.dumps(where)


def _noted(folder: CollectionFolder) -> str | None:
    place = _place(folder)
    return place.read_text("utf-8") if place.is_file() else None
