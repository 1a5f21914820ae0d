"""Measures of a ranked list against graded judgements, averaged over queries by the caller.

`ranked` holds distinct document ids, best first; `grades` the judged ones, relevant where the grade is above 0. A query
without a relevant document has no measure: leave it out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

Grades = Mapping[str, float]


def ndcg(ranked: Sequence[str], grades: Grades, depth: int) -> float:
    """Normalised discounted cumulated gain: `sum(gain_i / log2(i + 1))` over the ideal order's, ranks i from 1.

    Järvelin and Kekäläinen 2002; linear gains and the ideal cut at the same depth, as `ndcg_cut` of trec_eval.
    """
    gains = [max(grades.get(document, 0.0), 0.0) for document in ranked[:depth]]
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth]
    return _discounted(gains) / _discounted(ideal) if ideal else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def recall(ranked: Sequence[str], grades: Grades, depth: int) -> float:
    """The share of the relevant documents that stand in the first `depth`."""
    relevant = {document for document, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:depth])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Grades, depth: int) -> float:
    """1 / rank of the first relevant document in the first `depth`, else 0 (Voorhees 1999; its mean is MRR)."""
    return next((1.0 / rank for rank, document in enumerate(ranked[:depth], 1) if grades.get(document, 0.0) > 0), 0.0)


def percentile(values: Sequence[float], share: float) -> float:
    """The value at `share` (0 to 1) of the sorted values, between neighbours in proportion; 0 without values."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
