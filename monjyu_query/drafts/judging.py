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
SURE = 0.5
"""The chance from which a claim is said to be contradicted: a grave word, and rarely true of what people write."""
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


def likeliest(chance: Array) -> int:
    """The place in `LABELS` of the verdict that is likeliest by `chance` (labels,)."""
    best = int(chance.argmax())
    if LABELS[best] == "contradicted" and chance[best] < SURE:
        best = int(chance[: LABELS.index("contradicted")].argmax())
    return best


def verdict_of(signs: Mapping[str, float]) -> tuple[Support, float]:
    """The likeliest verdict and its chance (0 to 1), as far as the set that was learned from is like the draft."""
    chance = chances(np.array([[signs[name] for name in NAMES]]), _weights())[0]
    best = likeliest(chance)
    return LABELS[best], round(float(chance[best]), 3)
