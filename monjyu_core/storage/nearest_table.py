"""Reads the approximate index of a snapshot's vectors, which returns keys of chunks near a question."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monjyu_core.errors import StorageError
from monjyu_core.storage.manifest import NearestEntry

CANDIDATES = 1000
"""The number of chunks near a question that are compared exactly."""
MIN_RECALL = 0.98
"""The minimum share of the ten nearest chunks that are candidates; below it, all chunks are compared instead."""


class NearestTable:
    """A Lance table with keys (n,), vectors and their index. Raises StorageError if it cannot be read."""

    def __init__(self, folder: Path, entry: NearestEntry) -> None:
        self._folder, self._entry = folder, entry

    def keys(self) -> NDArray[np.uint64]:
        """The keys of all chunks in it, in the order of its rows."""
        return self._rows[1]

    def nearest(self, query: NDArray[np.float32], count: int) -> NDArray[np.uint64]:
        """Keys of about `count` chunks near a query vector (d,) of length 1, unordered."""
        asked = self._table.search(query).distance_type("dot").nprobes(self._entry.probes)
        try:
            found = asked.with_row_id(True).select(["_distance"]).limit(count).to_arrow()
        except (OSError, RuntimeError, ValueError) as error:
            raise _unreadable(error) from error
        numbers, keys = self._rows
        near: NDArray[np.uint64] = keys[np.searchsorted(numbers, found["_rowid"].to_numpy())]
        return near

    @cached_property
    def _table(self) -> Any:
        from monjyu_core.lance import lancedb

        try:
            return lancedb.connect(str(self._folder)).open_table(self._entry.table)
        except (OSError, RuntimeError, ValueError) as error:
            raise _unreadable(error) from error

    @cached_property
    def _rows(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Lance's row numbers in rising order, and their keys: read once, because looking up a thousand is slow."""
        try:
            rows = self._table.search().select(["key"]).with_row_id(True).limit(self._entry.rows).to_arrow()
        except (OSError, RuntimeError, ValueError) as error:
            raise _unreadable(error) from error
        numbers, keys = rows["_rowid"].to_numpy(), rows["key"].to_numpy()
        order = np.argsort(numbers)
        return numbers[order], keys[order]


def _unreadable(error: Exception) -> StorageError:
    return StorageError(f"The index of nearest vectors cannot be read: {error}.", "Index the collection again.")
