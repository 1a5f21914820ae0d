"""How relevant a text is to a question, 0 to 10: shared terms, lifted by nearness of meaning."""

from __future__ import annotations

from monjyu_query.ranking.similarity_scale import Scale

_NEAR_WEIGHT = 0.4
"""What nearness of meaning adds where words agree, as in lazy search."""


def nearness(similarity: float, scale: Scale) -> float:
    """0 to 1: where a similarity lies on the model's scale, between chance and paraphrase."""
    low, high = scale
    return min(1.0, max(0.0, (similarity - low) / (high - low)))


def text_relevance(share: float, similarity: float, scale: Scale) -> float:
    """`10 * (1 - (1 - share) * (1 - 0.4 * near))`, 0 without a shared term; `share` (0-1) of the question's terms."""
    return round(10 * (1 - (1 - share) * (1 - _NEAR_WEIGHT * nearness(similarity, scale))), 2) if share else 0.0
