"""The search files of a snapshot: those of units that did not change stay, the others are written anew from the parts.

A deleted or edited text is in no file that the new snapshot names, since a file is made from the current parts alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_core.search_files.postings import make_postings
from monjyu_core.search_files.search_file import GRAMS, LAYOUT, WORDS, SearchFile, write_search_file
from monjyu_core.storage.ids import digest
from monjyu_core.storage.manifest import EmbeddingEntry, SearchFileEntry
from monjyu_core.storage.parts import Part
from monjyu_core.text.search_text import search_grams, search_words
from monjyu_core.text.word_terms import VERSION as TERMS
from monjyu_core.text.word_terms import word_terms

MOST_FILES = 256
"""More units than these share files: a question looks into each file, and a change writes the file of its unit."""
HEADER_WEIGHT = 3
"""How often the header stands in the full text: a field's weight in BM25 is its repetition (Robertson, Zaragoza and
Taylor 2004, "Simple BM25 extension to multiple weighted fields")."""

Unit = tuple[Part, Part]
"""The part of a unit's chunks and that of their vectors."""


def publish_search_files(
    folder: Path, parts: Sequence[Part], embedding: EmbeddingEntry, before: Sequence[SearchFileEntry]
) -> list[SearchFileEntry]:
    """The search files of these parts. Those of `before` that hold the same are kept."""
    kept = {entry.made_from: entry for entry in before}
    entries = []
    for units in _groups(parts):
        versions = [part.version for unit in units for part in unit]
        made_from = digest(LAYOUT, TERMS, embedding.fingerprint, *versions, length=32)
        entries.append(kept.get(made_from) or _written(folder, made_from, units, embedding.dimensions))
    return entries


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


def _written(folder: Path, made_from: str, units: Sequence[Unit], dimensions: int) -> SearchFileEntry:
    folder.mkdir(parents=True, exist_ok=True)
    held = _search_file(units, dimensions)
    name = write_search_file(folder, held)
    return SearchFileEntry(name=name, made_from=made_from, rows=len(held), size=(folder / name).stat().st_size)


def _search_file(units: Sequence[Unit], dimensions: int) -> SearchFile:
    texts = pa.concat_tables([chunks.read(["chunk_id", "header", "text", "page_start", "ord"]) for chunks, _ in units])
    texts = texts.sort_by("chunk_id").combine_chunks()
    held = pa.concat_tables([vectors.read(["chunk_id", "vector"]) for _, vectors in units]).combine_chunks()
    ids = _whole(texts["chunk_id"])
    places = pc.index_in(ids, _whole(held["chunk_id"]))
    matrix = np.zeros((len(ids), dimensions), np.float32)  # zero where a chunk could not be embedded
    found = held["vector"].take(places.drop_null())
    matrix[pc.is_valid(places).to_numpy(zero_copy_only=False)] = np.asarray(
        _whole(found).flatten(), np.float32
    ).reshape(-1, dimensions)
    full = list(_full_texts(texts["header"].to_pylist(), texts["text"].to_pylist()))
    words = pa.array(map(search_words, full), pa.string())
    grams = pa.array(map(search_grams, full), pa.string())
    postings = {
        WORDS: make_postings(words, word_terms),
        GRAMS: make_postings(grams, lambda pieces: [[piece] if piece else [] for piece in pieces]),
    }
    return SearchFile(
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
