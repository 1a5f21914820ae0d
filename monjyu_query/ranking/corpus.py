"""The chunks of one snapshot: ids, papers and sections in memory, vectors mapped from files."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args, overload

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_core.errors import StorageError
from monjyu_core.paper import SectionType
from monjyu_core.storage.keyword_file import SearchFile, open_search_file
from monjyu_core.storage.manifest import mend, unreadable
from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.ranking.fusion import Mask, Scores

# The vectors of a snapshot: mapped from its search files, read in the order of the corpus.
_FEW = 4
"""If all rows outnumber the passing ones by this factor, copying the passing ones is faster than comparing all."""


@dataclass(frozen=True)
class Vectors:
    """n vectors (d,) of length 1 in some files, zero if a chunk could not be embedded; `stored` (n,) is each row's
    position among all rows of the files, one file after the other."""

    files: Sequence[NDArray[np.float32]]
    stored: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.stored)

    def __getitem__(self, rows: NDArray[np.intp] | Sequence[int] | int) -> NDArray[np.float32]:
        """Copies (k, d) of the vectors of `rows`; (d,) for one row."""
        if isinstance(rows, int):
            one: NDArray[np.float32] = self[[rows]][0]
            return one
        stored = self.stored[np.asarray(rows, np.intp)]
        order = np.argsort(stored, kind="stable")
        cuts = np.searchsorted(stored[order], self._begins)
        found = np.empty((len(stored), self.files[0].shape[1]), np.float32)
        for file, begin, low, high in zip(self.files, self._begins[:-1], cuts[:-1], cuts[1:], strict=True):
            if high > low:
                some = order[low:high]
                found[some] = file[stored[some] - begin]
        return found

    def similarities(self, query: NDArray[np.float32], passing: Mask | None = None) -> Scores:
        """Cosine similarity (n,) of every row with a query vector (d,) of length 1; if few rows are `passing`, the
        others get 0.

        It uses `vecdot` instead of `@`, because to wake BLAS's threads takes 20 ms on busy cores, and they spin on.
        """
        if not self.files:
            return np.zeros(0, np.float32)
        if passing is not None and _FEW * np.count_nonzero(passing) < len(passing):
            found = np.zeros(len(passing), np.float32)
            rows = np.flatnonzero(passing)
            found[rows] = neutral(np.vecdot(self[rows], query))
            return found
        scores: Scores = np.concatenate([np.vecdot(file, query) for file in self.files])
        return neutral(scores[self.stored])

    def sum(self) -> NDArray[np.float64]:
        total: NDArray[np.float64] = sum(
            (file.sum(axis=0, dtype=np.float64) for file in self.files), np.zeros(1, np.float64)
        )
        return total

    @cached_property
    def _begins(self) -> NDArray[np.int64]:
        """The start of each file, and the end of the last."""
        return np.cumsum([0, *map(len, self.files)])


def neutral(similarity: Scores, usual: float | None = None) -> Scores:
    """The similarities, with the mean (or `usual`) for chunks without a vector, which are found only by their words.
    Only a zero vector has a similarity of exactly 0."""
    without = similarity == 0
    if not without.any() or without.all():
        return similarity
    mean = float(similarity[~without].mean(dtype=np.float64)) if usual is None else usual
    return np.where(without, np.float32(mean), similarity)


_SECTION_TYPES: tuple[str, ...] = get_args(SectionType)


_CHUNKS = """
SELECT chunk_id, paper_id, canonical_id, section_type FROM chunks JOIN paper_identity USING (paper_id)
ORDER BY paper_id, ord
"""
_TWINS = """
SELECT list(chunk_id ORDER BY paper_id, ord) FROM chunks JOIN paper_identity USING (paper_id)
WHERE canonical_id IN (SELECT canonical_id FROM paper_identity WHERE paper_id <> canonical_id)
GROUP BY canonical_id, text HAVING count(DISTINCT paper_id) > 1
"""


class ChunkIds(Sequence[str]):
    """The ids of chunks by row, as an Arrow array: a tenth of the memory of a list of strings."""

    def __init__(self, ids: pa.Array) -> None:
        self.array = ids

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            some: list[str] = self.array[place].to_pylist()
            return some
        found: str = self.array[int(place)].as_py()
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.array.to_pylist())

    def at(self, rows: NDArray[np.intp]) -> list[str]:
        """The ids of `rows`."""
        # As a buffer, because pyarrow imports numpy.ma before it converts an array of NumPy.
        buffer = pa.py_buffer(np.ascontiguousarray(rows, np.int64))
        places = pa.Array.from_buffers(pa.int64(), len(rows), [None, buffer])
        found: list[str] = self.array.take(places).to_pylist()
        return found

    def rows_of(self, wanted: Iterable[str]) -> dict[str, int]:
        """The rows of the chunks `wanted`; unknown chunks are omitted."""
        rows = np.flatnonzero(pc.is_in(self.array, value_set=pa.array(sorted(set(wanted)), pa.string())))
        return dict(zip(self.at(rows), rows.tolist(), strict=True))


@dataclass(frozen=True)
class Corpus:
    """n chunks of m papers, sorted by paper and position in it, so that equal snapshots produce equal rankings. `paper`
    (n,) has indices into `paper_ids`; `work` (n,) is equal for all files of one paper; `passage` (n,) is equal for
    equal texts in files of one paper, None if no paper has more than one file; `section_type` (n,) contains codes.
    """

    chunk_ids: ChunkIds
    paper_ids: list[str]
    paper: NDArray[np.int32]
    work: NDArray[np.int32]
    passage: NDArray[np.int32] | None
    section_type: NDArray[np.int8]
    vectors: Vectors

    def __len__(self) -> int:
        return len(self.chunk_ids)

    def section_codes(self, names: Sequence[str]) -> list[int]:
        return [_SECTION_TYPES.index(name) for name in names]

    def section_name(self, row: int) -> str:
        return _SECTION_TYPES[int(self.section_type[row])]

    def row_of(self, paper_id: str, chunk_id: str) -> int:
        """The row of a paper's chunk, searched among those of the paper."""
        code = self._codes[paper_id]
        ends = np.array([code, code + 1], self.paper.dtype)  # with another type, all of `paper` would be copied
        low, high = np.searchsorted(self.paper, ends)
        return int(low) + self.chunk_ids[low:high].index(chunk_id)

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {paper_id: code for code, paper_id in enumerate(self.paper_ids)}

    def of_papers(self, paper_ids: Iterable[str]) -> Mask:
        """Mask (n,) of the chunks of `paper_ids`."""
        wanted = set(paper_ids)
        papers = np.fromiter((name in wanted for name in self.paper_ids), np.bool_, len(self.paper_ids))
        return papers[self.paper]


def open_search_files(snapshot: Snapshot) -> list[SearchFile]:
    """Map the search files of a snapshot. Raises StorageError if one is missing or damaged."""
    folder = snapshot.collection
    try:
        tables = folder.tables(snapshot.id)
        return [open_search_file(folder.search, tables, entry) for entry in snapshot.manifest.search]
    except StorageError as error:
        raise unreadable(snapshot.collection.name, snapshot.id, error) from error


def load_corpus(snapshot: Snapshot, files: Sequence[SearchFile]) -> Corpus:
    """Read the chunks of a snapshot and of its search files. Raises StorageError if their chunks differ."""
    chunks: Any = snapshot.cursor().sql(_CHUNKS).to_arrow_table()
    ids = _one_array(chunks["chunk_id"])
    papers, paper = _encoded(chunks["paper_id"])
    _, work = _encoded(chunks["canonical_id"])
    sections, section = _encoded(chunks["section_type"])
    codes = np.array([_SECTION_TYPES.index(name) for name in sections], np.int8)
    chunk_ids = ChunkIds(ids)
    return Corpus(
        chunk_ids=chunk_ids,
        paper_ids=papers,
        paper=paper,
        work=work,
        passage=_passages(snapshot, chunk_ids),
        section_type=codes[section],
        vectors=Vectors([file.vectors for file in files], _stored(snapshot, ids, files)),
    )


def _stored(snapshot: Snapshot, ids: pa.Array, files: Sequence[SearchFile]) -> NDArray[np.int32]:
    """The position of each chunk (n,) in the files. Raises StorageError if the chunks differ."""
    held = pa.concat_arrays([file.chunk_ids for file in files]) if files else pa.array([], pa.string())
    stored = pc.index_in(ids, value_set=held)
    if len(held) != len(ids) or stored.null_count:
        raise StorageError(
            f"The chunks in DuckDB ({len(ids)}) and in the search files ({len(held)}) of snapshot {snapshot.id} "
            "differ.",
            mend(snapshot.collection.name),
        )
    places: NDArray[np.int32] = stored.to_numpy()
    return places


def _passages(snapshot: Snapshot, chunk_ids: ChunkIds) -> NDArray[np.int32] | None:
    twins = [row[0] for row in snapshot.cursor().execute(_TWINS).fetchall()]
    if not twins:
        return None
    place = chunk_ids.rows_of(chunk_id for group in twins for chunk_id in group)
    passage = np.arange(len(chunk_ids), dtype=np.int32)
    for first, *others in twins:
        passage[[place[other] for other in others]] = place[first]
    return passage


def _one_array(column: Any) -> pa.Array:
    """A column in one piece, as strings with short offsets."""
    return pa.concat_arrays(column.cast(pa.string()).chunks) if column.num_chunks else pa.array([], pa.string())


def _encoded(names: Any) -> tuple[list[str], NDArray[np.int32]]:
    """The distinct values in order of appearance, and the index of each row's value."""
    encoded = names.dictionary_encode().combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int32)
