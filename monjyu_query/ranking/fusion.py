"""Fuses two rankings of the same chunks: z-scores if scores are comparable, reciprocal ranks if they are not.

Every function takes full score arrays of shape (n,), one value per chunk, and a mask of the chunks that pass the
filters; chunks outside the mask get `-inf` and do not count in means and ranks.
"""

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]
Mask = NDArray[np.bool_]


def z_scores(scores: Scores, passing: Mask) -> Scores:
    """`(s - mean) / deviation` over the passing chunks (population deviation); all 0 if they do not differ.

    Zero-mean unit-variance normalisation as in Montague and Aslam 2001, "Relevance score normalization for metasearch".
    """
    result = np.full(scores.shape, -np.inf, dtype=np.float32)
    inside = scores[passing].astype(np.float64)
    if inside.size:
        spread = float(inside.std())
        flat = spread <= 1e-12 * max(1.0, float(np.abs(inside).max()))
        result[passing] = 0.0 if flat else (inside - inside.mean()) / spread
    return result


def zscore_fusion(dense: Scores, sparse: Scores, passing: Mask, alpha: float) -> Scores:
    """`alpha * z(dense) + (1 - alpha) * z(sparse)` over passing chunks; `sparse` is 0 without a match."""
    fused = np.full(dense.shape, -np.inf, dtype=np.float32)
    mixed = alpha * z_scores(dense, passing)[passing] + (1.0 - alpha) * z_scores(sparse, passing)[passing]
    fused[passing] = mixed
    return fused


def rrf_fusion(dense: Scores, sparse: Scores, passing: Mask, alpha: float, k: int) -> Scores:
    """`alpha / (k + rank_dense) + (1 - alpha) / (k + rank_sparse)`, ranks from 1; no keyword match adds nothing.

    Cormack, Clarke and Büttcher 2009, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods", weighted; with alpha 0.5 it orders as theirs.
    """
    fused = np.full(dense.shape, -np.inf, dtype=np.float32)
    fused[passing] = alpha * _reciprocal_ranks(dense, passing, k)[passing]
    matched = passing & (sparse > 0)
    fused[matched] += (1.0 - alpha) * _reciprocal_ranks(sparse, matched, k)[matched]
    return fused


def _reciprocal_ranks(scores: Scores, passing: Mask, k: int) -> Scores:
    rows = np.flatnonzero(passing)
    order = rows[np.argsort(-scores[rows], kind="stable")]
    result = np.zeros(scores.shape, dtype=np.float32)
    result[order] = 1.0 / (k + np.arange(1, len(order) + 1, dtype=np.float64))
    return result
