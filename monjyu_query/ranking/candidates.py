"""The ranking of a large corpus: candidates of both rankers, scored exactly, with the statistics of all rows.

A score differs from that over all rows in nothing but the mean and deviation of the similarities, which are those of a
sample; a row that is no candidate has no score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monjyu_core.settings.settings import SearchSettings
from monjyu_query.ranking.corpus import Corpus
from monjyu_query.ranking.fusion import Mask, Scores, rrf_fusion
from monjyu_query.ranking.mapped_vectors import neutral
from monjyu_query.ranking.nearest import Nearest, best_matches
from monjyu_query.ranking.scripts import levels, merged

_FLAT = 1e-12


@dataclass(frozen=True)
class Candidates:
    """Scores (n,) and similarities (n,) of the candidates, `-inf` elsewhere."""

    scores: Scores
    similarity: Scores


def rank_candidates(
    corpus: Corpus,
    nearest: Nearest,
    wide: Mask,
    vector: NDArray[np.float32],
    sparse: Scores | None,
    passing: Mask,
    settings: SearchSettings,
) -> Candidates:
    """Of a question's vector (d,), and its keyword scores (n,) in hybrid mode, among the rows that pass."""
    count = int(np.count_nonzero(passing))
    rows = nearest.rows(vector, passing, count)
    if sparse is not None:
        rows = np.union1d(rows, best_matches(sparse, passing))
    sampled, vectors = nearest.sample(passing, count)
    usual = np.vecdot(vectors, vector)
    shifts = levels(usual, wide[sampled])
    similar = neutral(np.vecdot(corpus.vectors[rows], vector), float(usual.mean())) + shifts[wide[rows].astype(np.intp)]
    scores = similar
    if sparse is not None:
        usual = usual + shifts[wide[sampled].astype(np.intp)]
        scores = _fused(similar, (float(usual.mean()), float(usual.std())), sparse, rows, passing, count, settings)
        if settings.alpha > 0:
            scores = merged(scores, similar, wide[rows], np.ones(len(rows), np.bool_))
    return Candidates(_spread(scores, rows, len(corpus)), _spread(similar, rows, len(corpus)))


def _fused(
    dense: Scores,
    usual: tuple[float, float],
    sparse: Scores,
    rows: NDArray[np.intp],
    passing: Mask,
    count: int,
    settings: SearchSettings,
) -> Scores:
    matches = sparse[rows]
    if settings.fusion == "rrf":
        return rrf_fusion(dense, matches, np.ones(len(rows), np.bool_), settings.alpha, settings.rrf_k)
    deviations = settings.alpha * _deviations(dense, *usual)
    fused: Scores = deviations + (1 - settings.alpha) * _deviations(matches, *_moments(sparse, passing, count))
    return fused


def _moments(sparse: Scores, passing: Mask, count: int) -> tuple[float, float]:
    """Mean and deviation over all rows that pass; a row without a match counts as 0."""
    some = sparse if count == len(sparse) else sparse[passing]
    mean = float(some.sum(dtype=np.float64)) / count
    return mean, max(0.0, float(np.vecdot(some, some)) / count - mean * mean) ** 0.5


def _deviations(scores: Scores, mean: float, spread: float) -> Scores:
    if spread <= _FLAT:
        return np.zeros(len(scores), np.float32)
    found: Scores = ((scores - mean) / spread).astype(np.float32)
    return found


def _spread(values: Scores, rows: NDArray[np.intp], count: int) -> Scores:
    found = np.full(count, -np.inf, np.float32)
    found[rows] = values
    return found
