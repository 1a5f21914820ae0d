"""The verdict on a claim, from its signs by weights that were learned."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from monjyu_query.drafts.claim_signs import NAMES

Support = Literal["supported", "partly", "not_found", "contradicted"]
LABELS: tuple[Support, ...] = ("supported", "partly", "not_found", "contradicted")
SURE = {"supported": 0.45, "contradicted": 0.6}
"""The chance from which a claim is said to be so. Contradicted is a grave word, and rarely true of what people write;
who reads supported looks no further."""
MOST_UNCOVERED = 0.5
"""Share of a claim's words beyond the sentences found, of which a part may be said to stand there."""
Array = NDArray[np.float64]


def chances(signs: Array, weights: Array) -> Array:
    """(n, labels) from signs (n, names) and weights (1 + names, labels): the softmax of `bias + signs · weights`."""
    scores = weights[0] + signs @ weights[1:]
    power = np.exp(scores - scores.max(axis=1, keepdims=True))
    found: Array = power / power.sum(axis=1, keepdims=True)
    return found


@lru_cache(maxsize=1)
def _weights() -> Array:
    table = json.loads(files(__package__).joinpath("claim_weights.json").read_text(encoding="utf-8"))
    return np.array([[table[label][name] for label in LABELS] for name in ("bias", *NAMES)])


def verdict_of(signs: Mapping[str, float]) -> tuple[Support, float]:
    """The likeliest verdict and its chance (0 to 1), as far as the set that was learned from is like the draft.

    What is not surely supported or contradicted is said to stand there in part, or not, whichever is likelier.
    """
    chance = chances(np.array([[signs[name] for name in NAMES]]), _weights())[0]
    best = int(chance.argmax())
    if chance[best] < SURE.get(LABELS[best], 0.0):
        best = max((LABELS.index("partly"), LABELS.index("not_found")), key=lambda place: chance[place])
    if LABELS[best] == "partly" and signs["wide_uncovered"] > MOST_UNCOVERED:
        best = LABELS.index("not_found")
    return LABELS[best], round(float(chance[best]), 3)
