"""A search file: postings and texts of the chunks of some units, computed from their parts alone; their vectors are
mapped from the Lance data file that contains them.

It is one Arrow record batch of one row whose columns are lists, so that arrays of any length fit next to each other; it
is not compressed, so that readers can map it. It never changes: its name is the hash of its bytes.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_core.errors import StorageError
from monjyu_core.storage.folders import write_atomically
from monjyu_core.storage.manifest import SearchFileEntry

# The postings of a field of texts: the terms in each text, with frequencies.
Cut = Callable[[Sequence[str]], list[list[str]]]
"""Returns the terms of each text."""

_SEPARATORS = r"[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+"
"""The ASCII characters that are neither letters nor digits: words break at each of them, and grams contain none but
spaces."""


@dataclass(frozen=True)
class Postings:
    """One field of n texts with t terms and p pairs of the two.

    `terms` (t,) are hashes of terms in rising order; term k occurs in the texts `rows[starts[k] : starts[k + 1]]`
    (rising), `times` times in each. `lengths` (n,) are the numbers of terms of the texts, repetitions included. All are
    integers, so the numbers of several fields add up to those of their union.
    """

    terms: NDArray[np.uint64]
    starts: NDArray[np.uint32]
    rows: NDArray[np.unsignedinteger[Any]]
    times: NDArray[np.unsignedinteger[Any]]
    lengths: NDArray[np.uint32]


def term_hashes(terms: Sequence[str]) -> NDArray[np.uint64]:
    """64 bits of each term. Among ten million terms the probability of a collision is 1 in 400,000."""
    raw = b"".join(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest() for term in terms)
    return np.frombuffer(raw, "<u8").astype(np.uint64)


def make_postings(texts: pa.Array, cut: Cut) -> Postings:
    """Postings of the texts (n,). `cut` sees each distinct piece between separators once, because a piece has the same
    terms wherever it occurs."""
    split = pc.split_pattern_regex(texts, _SEPARATORS)
    found = split.flatten().dictionary_encode()
    pieces = cut(found.dictionary.to_pylist())
    numbers: dict[str, int] = {}
    numbered = [[numbers.setdefault(term, len(numbers)) for term in terms] for terms in pieces]
    term, row = _occurrences(found.indices.to_numpy(), pc.list_parent_indices(split).to_numpy(), numbered)
    hashes = term_hashes(list(numbers))
    order = np.argsort(hashes)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    count = max(len(texts), 1)
    pair, times = np.unique(rank[term] * count + row, return_counts=True)
    of, rows = np.divmod(pair, count)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(of, minlength=len(order)))])
    return Postings(
        terms=hashes[order],
        starts=starts.astype(np.uint32),
        rows=_smallest(rows),
        times=_smallest(times),
        lengths=np.bincount(row, minlength=len(texts)).astype(np.uint32),
    )


def _occurrences(
    piece: NDArray[np.int32], owner: NDArray[np.int64], numbered: Sequence[Sequence[int]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Expand each piece in each text to each term in each text; return two arrays, terms and texts."""
    counts = np.fromiter(map(len, numbered), np.int64, len(numbered))
    flat = np.fromiter((term for terms in numbered for term in terms), np.int64, int(counts.sum()))
    first = np.cumsum(counts) - counts
    each = counts[piece]
    within = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
    return flat[np.repeat(first[piece], each) + within], np.repeat(owner, each).astype(np.int64)


def _smallest(values: NDArray[np.int64]) -> NDArray[np.unsignedinteger[Any]]:
    """The values in the smallest integer type that fits them."""
    most = int(values.max(initial=0))
    return values.astype(np.min_scalar_type(most))


LAYOUT = 2
"""Increase it when columns or their contents change."""
WORDS, GRAMS = "words", "grams"
FIELDS = (WORDS, GRAMS)
"""The two fields of full text: see monjyu_core/text/search_text.py."""
SUFFIX = ".arrow"
_METADATA = b"monjyu"
_PARTS = ("terms", "starts", "rows", "times", "lengths")


@dataclass(frozen=True)
class SearchFile:
    """A search file of n chunks in the order of their ids: `vectors` (n, d) of length 1, `keys` (n,) that identify a
    chunk and its vector, `postings` by field; first `pages` (n,), 0 if the source has no pages, and positions in the
    paper (n,)."""

    chunk_ids: pa.StringArray
    headers: pa.StringArray
    texts: pa.StringArray
    pages: NDArray[np.int32]
    ords: NDArray[np.int32]
    keys: NDArray[np.uint64]
    vectors: NDArray[np.float32]
    postings: dict[str, Postings]

    def __len__(self) -> int:
        return len(self.chunk_ids)


def write_search_file(folder: Path, held: SearchFile) -> str:
    """Write the file and return its name."""
    columns: dict[str, pa.Array] = {
        "chunk_id": held.chunk_ids,
        "header": held.headers,
        "text": held.texts,
        "page": pa.array(held.pages),
        "ord": pa.array(held.ords),
        "key": pa.array(held.keys),
    }
    for field in FIELDS:
        columns |= {f"{field}_{part}": pa.array(getattr(held.postings[field], part)) for part in _PARTS}
    lists = [pa.LargeListArray.from_arrays(pa.array([0, len(one)], pa.int64()), one) for one in columns.values()]
    about = json.dumps({"layout": LAYOUT, "dimensions": held.vectors.shape[1]}).encode()
    schema = pa.schema(
        [pa.field(name, some.type) for name, some in zip(columns, lists, strict=True)], metadata={_METADATA: about}
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.record_batch(lists, schema=schema))
    content = sink.getvalue().to_pybytes()
    name = f"{hashlib.sha256(content).hexdigest()[:32]}{SUFFIX}"
    write_atomically(folder / name, content)
    return name


def open_search_file(search: Path, lance: Path, entry: SearchFileEntry) -> SearchFile:
    """Map a file of the folder `search` with the vectors in the tables of the folder `lance`, reading only what is
    used. Raises StorageError if one is missing, its frame is damaged or it has another layout; `snapshots verify`
    checks every byte."""
    path = search / entry.name
    try:
        if (found := path.stat().st_size) != entry.size:
            raise ValueError(f"it has {found} bytes and not {entry.size}")
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
            about = json.loads((reader.schema.metadata or {})[_METADATA])
            batch = reader.get_batch(0)
            if about["layout"] != LAYOUT:
                raise StorageError(f"{path.name} has another layout.", "Index the collection again.")
            held = {name: batch.column(name).values for name in batch.schema.names}
            ids, headers, texts = (held.pop(name) for name in ("chunk_id", "header", "text"))
            arrays = {name: one.to_numpy() for name, one in held.items()}
            shape = (entry.rows, about["dimensions"])
            vectors = np.memmap(lance / entry.data, np.float32, "r", entry.offset, shape).view(np.ndarray)
            postings = {field: Postings(**{part: arrays[f"{field}_{part}"] for part in _PARTS}) for field in FIELDS}
            return SearchFile(ids, headers, texts, arrays["page"], arrays["ord"], arrays["key"], vectors, postings)
    except (OSError, KeyError, ValueError, pa.ArrowInvalid) as error:
        raise StorageError(
            f"Search file {path.name} cannot be read: {error}.", "Index the collection again."
        ) from error


# Passages are read from search files, because looking up ten chunks by id in a table of a million takes longer than
# ranking them.
@dataclass(frozen=True)
class StoredChunk:
    """A chunk in a search file: `page` is its first page, None without pages; `ord` its position in the paper."""

    header: str
    text: str
    page: int | None
    ord: int


class StoredChunks:
    """The chunks of some files; `stored` (n,) is each row's position in all rows, one file after the other."""

    def __init__(self, files: Sequence[SearchFile], stored: NDArray[np.int32]) -> None:
        self._files, self._stored = files, stored
        self._begins = np.cumsum([0, *map(len, files)])

    def at(self, rows: Sequence[int]) -> list[StoredChunk]:
        """The chunks of `rows`, in that order."""
        return [self._chunk(int(self._stored[row])) for row in rows]

    def _chunk(self, place: int) -> StoredChunk:
        number = int(np.searchsorted(self._begins, place, side="right")) - 1
        file, row = self._files[number], place - int(self._begins[number])
        page = int(file.pages[row])
        return StoredChunk(file.headers[row].as_py(), file.texts[row].as_py(), page or None, int(file.ords[row]))
