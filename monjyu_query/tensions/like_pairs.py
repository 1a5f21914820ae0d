"""Which statements of two papers speak of the same thing: pairs that share most of their words, rare ones above all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from monjyu_core.text.search_text import word_terms

FEWEST_TERMS = 5
"""A text with fewer different terms says too little."""
SAME, LEAST = 0.95, 0.15
"""From the first likeness on two texts are one that was copied; below the second they speak of different things."""
OF_EACH = 3
"""Pairs that one text is in at most: what many papers say in the same words would take all places."""
Pair = tuple[float, int, int]
"""Likeness and the places of two texts."""


def like_pairs(texts: Sequence[str], works: Sequence[str], most: int) -> list[Pair]:
    """The pairs of two works that share most, at most `most`, the likest first. `works` has each text's.

    Likeness (0 to 1) is the weight of the terms that two texts share, divided by the geometric mean of their whole
    weights; a term weighs log(1 + texts / texts that have it). Work grows with the square of the number of texts.
    """
    terms = [sorted(set(some)) for some in word_terms(texts)]
    number = {term: place for place, term in enumerate(sorted(set().union(*terms)))}
    rows = np.repeat(np.arange(len(terms)), [len(some) for some in terms])
    columns = np.fromiter((number[term] for some in terms for term in some), np.intp, len(rows))
    counts = np.bincount(columns, minlength=len(number))
    weights = np.log1p(len(texts) / counts)
    whole = np.bincount(rows, weights[columns], len(texts))
    having = np.split(rows[np.argsort(columns, kind="stable")], np.cumsum(counts)[:-1])
    long = np.bincount(rows, minlength=len(texts)) >= FEWEST_TERMS
    owner = np.unique(np.asarray(works, str), return_inverse=True)[1]
    found: list[Pair] = []
    for one in np.flatnonzero(long).tolist():
        shared = np.zeros(len(texts))
        for place in (number[term] for term in terms[one]):
            shared[having[place]] += weights[place]
        likeness = np.round(shared / np.sqrt(np.maximum(whole[one] * whole, 1e-9)), 4)
        others = np.flatnonzero(long & (owner != owner[one]) & (likeness >= LEAST) & (likeness < SAME))
        others = others[others > one]
        best = others[np.argsort(-likeness[others], kind="stable")[:most]]
        found += [(float(likeness[other]), one, other) for other in best.tolist()]
    return _spread(sorted(found, key=lambda pair: (-pair[0], *pair[1:])), most)


def _spread(pairs: Iterable[Pair], most: int) -> list[Pair]:
    taken: Counter[int] = Counter()
    kept: list[Pair] = []
    for pair in pairs:
        if len(kept) < most and max(taken[pair[1]], taken[pair[2]]) < OF_EACH:
            taken.update(pair[1:])
            kept.append(pair)
    return kept
