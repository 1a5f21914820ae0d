"""From scores to the best rows: in order, capped by paper, ties broken by the order of the rows."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from monjyu_query.ranking.fusion import Scores

_FIRST_LOOK = 20
"""How many times the wanted rows are sorted at first; a cap rarely needs more."""


def best_rows(
    scores: Scores,
    paper: NDArray[np.int32],
    count: int,
    per_paper: int = 0,
    min_score: float | None = None,
    passage: NDArray[np.int32] | None = None,
) -> list[int]:
    """The `count` best rows, best first, at most `per_paper` of one paper (0 = no cap), refilled from later rows.

    `scores` (n,): `-inf` is a row that is no candidate; `paper` (n,): the row's paper; `passage` (n,): rows of one
    value are the same text, which is wanted once. Equal scores keep the row order.
    """
    floor = -np.inf if min_score is None else min_score
    rows = np.flatnonzero((scores > -np.inf) & (scores >= floor))
    look = min(len(rows), max(count * _FIRST_LOOK, 200))
    while True:
        chosen = _capped(_top(scores, rows, look), paper, count, per_paper, passage)
        if len(chosen) == count or look == len(rows):
            return chosen
        look = len(rows)


def _top(scores: Scores, rows: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """The best `count` of the rows in order; rows equal to the last one are decided by row order too."""
    if count < len(rows):
        cut = np.partition(scores[rows], len(rows) - count)[len(rows) - count]
        rows = rows[scores[rows] >= cut]
    return rows[np.argsort(-scores[rows], kind="stable")][:count]


def _capped(
    order: NDArray[np.intp],
    paper: NDArray[np.int32],
    count: int,
    per_paper: int,
    passage: NDArray[np.int32] | None,
) -> list[int]:
    if not per_paper and passage is None:
        return [int(row) for row in order[:count]]
    taken: Counter[int] = Counter()
    seen: set[int] = set()
    chosen: list[int] = []
    for row in order:
        owner, text = int(paper[row]), int(row if passage is None else passage[row])
        if text not in seen and (not per_paper or taken[owner] < per_paper):
            seen.add(text)
            taken[owner] += 1
            chosen.append(int(row))
            if len(chosen) == count:
                break
    return chosen
