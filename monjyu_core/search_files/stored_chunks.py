"""What a passage shows of a chunk, read where it lies: a look-up of ten by id in a table of a million takes longer than
their ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monjyu_core.search_files.search_file import SearchFile


@dataclass(frozen=True)
class StoredChunk:
    """`page` is the first one, None where the source has no pages; `ord` its place in the paper."""

    header: str
    text: str
    page: int | None
    ord: int


class StoredChunks:
    """The chunks of some files; `stored` (n,) is each row's place among all that the files hold, one file after the
    other."""

    def __init__(self, files: Sequence[SearchFile], stored: NDArray[np.int32]) -> None:
        self._files, self._stored = files, stored
        self._begins = np.cumsum([0, *map(len, files)])

    def at(self, rows: Sequence[int]) -> list[StoredChunk]:
        """The chunks of these rows, in this order."""
        return [self._chunk(int(self._stored[row])) for row in rows]

    def _chunk(self, place: int) -> StoredChunk:
        number = int(np.searchsorted(self._begins, place, side="right")) - 1
        file, row = self._files[number], place - int(self._begins[number])
        page = int(file.pages[row])
        return StoredChunk(file.headers[row].as_py(), file.texts[row].as_py(), page or None, int(file.ords[row]))
