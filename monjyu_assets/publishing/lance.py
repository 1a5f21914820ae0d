"""The Lance table of chunks: vectors and full text, updated by the difference between its rows and a set of parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from monjyu_core.storage.ids import digest, file_sha256
from monjyu_core.storage.parts import Part
from monjyu_core.storage.snapshot import EmbeddingEntry, LanceEntry, Manifest
from monjyu_core.text.search_text import search_grams, search_words

if TYPE_CHECKING:
    from lancedb.db import DBConnection
    from lancedb.table import Table as LanceTable

LAYOUT = 2
"""Raised when columns or their contents change: another layout is another table."""

REBUILD_ROWS = 50_000
"""Up to this size the full-text index is built anew at each publish, so that scores never depend on history."""
_EVER = timedelta(days=36_500)
FULL_TEXT = ("search_text", "search_grams")
HEADER_WEIGHT = 3
"""How often the header stands in the full text: a field's weight in BM25 is its repetition (Robertson, Zaragoza and
Taylor 2004, "Simple BM25 extension to multiple weighted fields")."""


def chunk_table_prefix(embedding: EmbeddingEntry) -> str:
    """Another embedding model or layout is another table."""
    return f"chunks_{digest(LAYOUT, embedding.model, embedding.fingerprint, length=12)}_"


def _table_before(folder: Path, embedding: EmbeddingEntry, before: Manifest | None) -> str | None:
    """The previous snapshot's table, if this version would write the same rows."""
    old = before.lance["chunks"].table if before else ""
    there = old.startswith(chunk_table_prefix(embedding)) and (folder / f"{old}.lance").is_dir()
    return old if there else None


def publish_chunks(
    folder: Path, parts: Sequence[Part], embedding: EmbeddingEntry, tag: str, before: Manifest | None, *, anew: bool
) -> LanceEntry:
    """Bring the previous snapshot's table to these parts and pin the version under `tag`.

    `anew` writes a new table and copies equal rows from the previous one. Lance keeps the text of deleted rows in its
    files, and their words in its full-text index, so a new table is the only way to remove a text for good.
    """
    import lancedb

    folder.mkdir(parents=True, exist_ok=True)
    connection = lancedb.connect(str(folder))
    old = _table_before(folder, embedding, before)
    name = chunk_table_prefix(embedding) + digest(tag, length=8) if anew or old is None else old
    unindexed = folder / f"{name}.unindexed"  # exists between the rows and their index: also after a kill in between
    chunks = {part.shard: part for part in parts if part.table == "chunks"}
    vectors = {part.shard: part for part in parts if part.table == "chunk_embeddings"}
    wanted = {shard: digest(chunks[shard].version, vectors[shard].version) for shard in chunks}
    make = {
        shard: partial(_rows, chunks[shard], vectors[shard], wanted[shard], embedding.dimensions) for shard in wanted
    }
    stale: list[str] = []
    if not (folder / f"{name}.lance").is_dir():
        source = _at(connection, old, before) if old and before else None
        sizes = {shard: (wanted[shard], chunks[shard].rows) for shard in wanted}
        rows = [_schema(embedding.dimensions).empty_table(), *_all_rows(make, sizes, source)]
        table = connection.create_table(name, schema=_schema(embedding.dimensions))
        _replace(table, pa.concat_tables(rows), [])
    else:
        table = connection.open_table(name)
        table.checkout_latest()  # type: ignore[no-untyped-call]
        held = _held(table)
        stale = sorted(
            shard
            for shard in wanted.keys() | held.keys()
            if held.get(shard, set()) != ({wanted[shard]} if wanted.get(shard) and chunks[shard].rows else set())
        )
    if stale:
        made = [make[shard]() for shard in stale if shard in make]
        unindexed.touch()
        _replace(table, pa.concat_tables([_schema(embedding.dimensions).empty_table(), *made]), stale)
    _index(table, unindexed.exists())
    unindexed.unlink(missing_ok=True)
    version = int(table.version)
    table.tags.create(tag, version)
    known = before.lance["chunks"].files if before and "chunks" in before.lance else {}
    files = hash_files(folder, folder / f"{name}.lance", known)
    return LanceEntry(table=name, version=version, tag=tag, rows=table.count_rows(), files=files)


def _at(connection: DBConnection, name: str, manifest: Manifest) -> LanceTable | None:
    """The previous table at its snapshot's version; None where that has gone."""
    table = connection.open_table(name)
    try:
        table.checkout(manifest.lance["chunks"].tag)
    except (ValueError, RuntimeError):
        return None
    return table


def _all_rows(
    make: Mapping[str, Callable[[], pa.Table]], wanted: Mapping[str, tuple[str, int]], source: LanceTable | None
) -> Iterator[pa.Table]:
    """The rows of all shards: copied where `source` holds the shard's (hash, number of rows), else made.

    Do not pass this to Lance as an iterator: it would call Lance from within Lance, which waits for ever.
    """
    for shard in sorted(wanted):
        part, count = wanted[shard]
        rows = source.search().where(f"part = '{part}'").limit(count).to_arrow() if source and count else None
        yield rows.sort_by("chunk_id") if rows is not None and rows.num_rows == count else make[shard]()


def _changes(name: str) -> bool:
    """Tags and the hint of the latest version are rewritten; all other files of Lance are immutable."""
    return "/_refs/" in name or name.endswith("hint.json")


def hash_files(folder: Path, table: Path, known: dict[str, str]) -> dict[str, str]:
    """SHA-256 of a table's immutable files by their path in the Lance folder ."""
    names = [path.relative_to(folder).as_posix() for path in sorted(table.rglob("*")) if path.is_file()]
    return {name: known.get(name) or file_sha256(folder / name) for name in names if not _changes(name)}


def _schema(dimensions: int) -> pa.Schema:
    text = pa.string()
    columns = [(name, text) for name in ("chunk_id", "paper_id", "shard", "part", *FULL_TEXT)]
    return pa.schema([*columns, ("vector", pa.list_(pa.float32(), dimensions))])


def _held(table: LanceTable) -> dict[str, set[str]]:
    """Part hashes by shard, as the rows carry them: correct even after a crash or a rollback."""
    rows = table.search().select(["shard", "part"]).limit(table.count_rows() or 1).to_arrow()
    pairs = rows.select(["shard", "part"]).group_by(["shard", "part"]).aggregate([]).to_pylist()
    held: dict[str, set[str]] = {}
    for pair in pairs:
        held.setdefault(pair["shard"], set()).add(pair["part"])
    return held


def _rows(chunks: Part, vectors: Part, part: str, dimensions: int) -> pa.Table:
    texts = chunks.read(["chunk_id", "paper_id", "header", "text"]).sort_by("chunk_id").combine_chunks()
    held = vectors.read(["chunk_id", "vector"])
    headers, bodies = texts["header"].to_pylist(), texts["text"].to_pylist()
    search_text = [_search_text(header, body) for header, body in zip(headers, bodies, strict=True)]
    columns = {
        "chunk_id": texts["chunk_id"],
        "paper_id": texts["paper_id"],
        "shard": pa.array([chunks.shard] * len(texts), pa.string()),
        "part": pa.array([part] * len(texts), pa.string()),
        "search_text": pa.array(map(search_words, search_text), pa.string()),
        "search_grams": pa.array(map(search_grams, search_text), pa.string()),
        "vector": held["vector"]
        .take(pc.index_in(texts["chunk_id"], held["chunk_id"]))
        .cast(pa.list_(pa.float32(), dimensions)),
    }
    return pa.table(columns, schema=_schema(dimensions))


def _search_text(header: str, body: str) -> str:
    return "\n".join([*[header] * (HEADER_WEIGHT if header else 0), body])


def _replace(table: LanceTable, rows: pa.Table, shards: list[str]) -> None:
    """One commit: the shards hold these rows and no others."""
    if table.count_rows() == 0:
        if rows.num_rows:
            table.add(rows)
        return
    listed = ", ".join(f"'{shard}'" for shard in shards)
    (
        table.merge_insert("chunk_id")
        .when_matched_update_all()
        .when_not_matched_insert_all()
        .when_not_matched_by_source_delete(f"shard IN ({listed})")
        .execute(rows)
    )


def _index(table: LanceTable, changed: bool) -> None:
    """Index words and grams for full-text search, after the rows: an index made before them would be empty."""
    from lancedb.index import FTS

    configs = {
        "search_text": FTS(max_token_length=100),
        "search_grams": FTS(base_tokenizer="whitespace", lower_case=False, stem=False, remove_stop_words=False),
    }
    rows = table.count_rows()
    indexed = {column for index in table.list_indices() for column in index.columns}
    if rows == 0 or (indexed >= set(FULL_TEXT) and not changed):
        return
    if indexed >= set(FULL_TEXT) and rows > REBUILD_ROWS:
        compact(table)
    else:
        for column in FULL_TEXT:
            table.create_index(column, config=configs[column], replace=True)


def compact(table: LanceTable) -> None:
    """Merge small files and add new rows to the indices. No version is removed: without an age Lance removes those of
    more than seven days, and fails where one of them belongs to a snapshot."""
    table.optimize(cleanup_older_than=_EVER)
