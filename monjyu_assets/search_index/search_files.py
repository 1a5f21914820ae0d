"""The search files of a snapshot: those of units that did not change stay, the others are written anew from the parts.

A deleted or edited text is in no file that the new snapshot names, since a file is made from the current parts alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_assets.search_index.lance_tables import LanceTables, vector_column, vectors_at, vectors_of
from monjyu_core.search_files.search_file import GRAMS, LAYOUT, WORDS, SearchFile, make_postings, write_search_file
from monjyu_core.storage.ids import digest
from monjyu_core.storage.manifest import EmbeddingEntry, LanceFile, SearchFileEntry
from monjyu_core.storage.parts import Part
from monjyu_core.text.search_text import VERSION as TERMS
from monjyu_core.text.search_text import search_grams, search_words, word_terms

MOST_FILES = 256
"""More units than these share files: a question looks into each file, and a change writes the file of its unit."""
HEADER_WEIGHT = 3
"""How often the header stands in the full text: a field's weight in BM25 is its repetition (Robertson, Zaragoza and
Taylor 2004, "Simple BM25 extension to multiple weighted fields")."""

Unit = tuple[Part, Part]
"""The part of a unit's chunks and that of their vectors."""


def publish_search_files(
    folder: Path,
    tables: LanceTables,
    parts: Sequence[Part],
    embedding: EmbeddingEntry,
    before: Sequence[SearchFileEntry],
) -> list[SearchFileEntry]:
    """The search files of these parts, and the Lance table of their chunks. Those of `before` that hold the same are
    kept."""
    groups: dict[str, list[Unit]] = {}
    for units in _groups(parts):
        versions = [part.version for unit in units for part in unit]
        groups[digest(LAYOUT, TERMS, embedding.fingerprint, *versions, length=32)] = units
    entries = {entry.made_from: entry for entry in before}
    made: dict[str, SearchFile] = {}

    def rows(made_from: str) -> pa.Table:
        chunks, made[made_from] = _search_file(groups[made_from], embedding.dimensions)
        return chunks

    def written(data: LanceFile) -> None:
        entries[data.group] = _written(folder, tables.lance, data, made.pop(data.group))

    folder.mkdir(parents=True, exist_ok=True)
    tables.write("chunks", "chunks", {made_from: partial(rows, made_from) for made_from in groups}, written)
    return [entries[made_from] for made_from in groups]


def _groups(parts: Sequence[Part]) -> list[list[Unit]]:
    """The units that have chunks, by the file that they stand in: each in its own, or shared by the hash of the name.

    How many units there are decides, and not which of them hold chunks, so that one paper more moves no other.
    """
    chunks = {part.shard: part for part in parts if part.table == "chunks"}
    vectors = {part.shard: part for part in parts if part.table == "chunk_embeddings"}
    groups: dict[str, list[Unit]] = {}
    for unit in sorted(chunks):
        if chunks[unit].rows:
            file = unit if len(chunks) <= MOST_FILES else f"{int(digest(unit), 16) % MOST_FILES:04d}"
            groups.setdefault(file, []).append((chunks[unit], vectors[unit]))
    return [groups[file] for file in sorted(groups)]


def _written(folder: Path, lance: Path, data: LanceFile, held: SearchFile) -> SearchFileEntry:
    name = write_search_file(folder, held)
    return SearchFileEntry(
        name=name,
        made_from=data.group,
        rows=len(held),
        size=(folder / name).stat().st_size,
        data=data.path,
        offset=vectors_at(lance / data.path, held.vectors),
    )


def _search_file(units: Sequence[Unit], dimensions: int) -> tuple[pa.Table, SearchFile]:
    """The rows of the chunks with their vectors, and the search file of them."""
    texts = pa.concat_tables([chunks.read() for chunks, _ in units]).sort_by("chunk_id").combine_chunks()
    held = pa.concat_tables([vectors.read(["chunk_id", "vector"]) for _, vectors in units])
    ids = _whole(texts["chunk_id"])
    matrix = vectors_of(texts["chunk_id"], held, dimensions)  # zero where a chunk could not be embedded
    full = list(_full_texts(texts["header"].to_pylist(), texts["text"].to_pylist()))
    words = pa.array(map(search_words, full), pa.string())
    grams = pa.array(map(search_grams, full), pa.string())
    postings = {
        WORDS: make_postings(words, word_terms),
        GRAMS: make_postings(grams, lambda pieces: [[piece] if piece else [] for piece in pieces]),
    }
    return texts.append_column("vector", vector_column(matrix)), SearchFile(
        chunk_ids=ids,
        headers=_whole(pc.fill_null(texts["header"], "")),
        texts=_whole(texts["text"]),
        pages=_whole(pc.fill_null(texts["page_start"], 0)).to_numpy().astype(np.int32),
        ords=_whole(texts["ord"]).to_numpy().astype(np.int32),
        keys=_keys(ids, matrix),
        vectors=matrix,
        postings=postings,
    )


def _full_texts(headers: Sequence[str | None], bodies: Sequence[str]) -> Iterator[str]:
    for header, body in zip(headers, bodies, strict=True):
        yield "\n".join([*([header] * HEADER_WEIGHT if header else []), body])


def _keys(ids: pa.StringArray, vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    raw = (
        hashlib.blake2b(chunk_id.encode() + vector.tobytes(), digest_size=8).digest()
        for chunk_id, vector in zip(ids.to_pylist(), vectors, strict=True)
    )
    return np.frombuffer(b"".join(raw), "<u8").astype(np.uint64)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
