"""The vectors of a snapshot where they lie: mapped from its search files, read in the order of the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from monjyu_query.ranking.fusion import Mask, Scores

_FEW = 4
"""From so many times as many rows on, copying those that pass takes less time than comparing all."""


@dataclass(frozen=True)
class Vectors:
    """n vectors (d,) of length 1 in some files, zero where a chunk could not be embedded; `stored` (n,) is the place of
    each row among all that the files hold, one file after the other."""

    files: Sequence[NDArray[np.float32]]
    stored: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.stored)

    def __getitem__(self, rows: NDArray[np.intp] | Sequence[int] | int) -> NDArray[np.float32]:
        """Copies (k, d) of the vectors of these rows; of one row (d,)."""
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
        """Cosine similarity (n,) of every row with a query vector (d,) of length 1; where few rows are `passing`, those
        of the others are 0.

        `vecdot` and not `@`: BLAS would call up its threads, which on busy cores takes 20 ms and lets them spin after
        it.
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
        """Where each file begins, and the end of the last."""
        return np.cumsum([0, *map(len, self.files)])


def neutral(similarity: Scores, usual: float | None = None) -> Scores:
    """The similarities with the mean of the others (or `usual`) where there is no vector: such a chunk is found by its
    words alone. Only a zero vector has a similarity of exactly 0."""
    without = similarity == 0
    if not without.any() or without.all():
        return similarity
    mean = float(similarity[~without].mean(dtype=np.float64)) if usual is None else usual
    return np.where(without, np.float32(mean), similarity)
