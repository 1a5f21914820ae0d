"""What a similarity says, model by model (one crowds all texts into a narrow cone, another spreads them out), and how
relevant a text is by it and by the terms that it shares with a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from monjyu_query.ranking.mapped_vectors import Vectors

Scale = tuple[float, float]
SCALES: dict[str, Scale] = {"all-MiniLM-L6-v2": (0.2, 0.7), "multilingual-e5-small": (0.81, 0.9)}
"""By model, the similarity of the closest chunk to unrelated questions, and to those that a collection answers well.
Measured on questions of other collections and of the collection itself."""

_NEAR_WEIGHT = 0.4
"""What nearness of meaning adds where words agree, as in lazy search."""
_BELOW, _ABOVE = 0.2, 0.45
_NARROWEST = 0.9


def scale_of(model: str, vectors: Vectors) -> Scale:
    """The model's scale; for one that was never measured, estimated from the collection's own vectors.

    The mean similarity m of two chunks tells how narrow the model's cone is: the scale goes from `m - 0.2 (1 - m)` to
    `m + 0.45 (1 - m)`. With m of 0.30 and 0.85, as English papers have in the two measured models, that is 0.16 to 0.62
    and 0.82 to 0.92.
    """
    if model in SCALES:
        return SCALES[model]
    count = len(vectors)
    if count < 2:
        return SCALES["all-MiniLM-L6-v2"]
    total = vectors.sum()
    mean = min(_NARROWEST, max(0.0, float(total @ total - count) / (count * (count - 1))))
    return mean - _BELOW * (1 - mean), mean + _ABOVE * (1 - mean)


def nearness(similarity: float, scale: Scale) -> float:
    """0 to 1: where a similarity lies on the model's scale, between chance and paraphrase."""
    low, high = scale
    return min(1.0, max(0.0, (similarity - low) / (high - low)))


def text_relevance(share: float, similarity: float, scale: Scale) -> float:
    """`10 * (1 - (1 - share) * (1 - 0.4 * near))`, 0 without a shared term; `share` (0-1) of the question's terms."""
    return round(10 * (1 - (1 - share) * (1 - _NEAR_WEIGHT * nearness(similarity, scale))), 2) if share else 0.0
