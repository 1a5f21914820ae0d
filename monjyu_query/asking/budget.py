"""The budget of relevance tests: presets, how many relevant sentences are enough, and what is left."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

PRESETS = {"z100": 100, "z500": 500, "z1500": 1500}
DEFAULT = "z100"
_ENOUGH = ((100, 20), (500, 50), (1500, 100))
"""Tests and the relevant sentences that are enough for them; between them in proportion."""


@dataclass
class Budget:
    """`total` tests for all subqueries together; `used` are those made. No more than `total` are ever made.

    The subqueries take turns, so that each gets about `total / q`; what one that has ended leaves unspent goes to the
    others. The order of tests does not depend on the total: a larger budget continues where a smaller one ended.
    """

    total: int
    used: int = 0

    @classmethod
    def of(cls, asked: str | int | None) -> Budget:
        """From z100, z500, z1500 or a number of 0 or more; z100 by default."""
        return cls(asked if isinstance(asked, int) else PRESETS[asked or DEFAULT])

    @property
    def left(self) -> int:
        return self.total - self.used

    @property
    def enough(self) -> int:
        """Relevant sentences after which no more are looked for; never fewer for a larger budget."""
        return enough_sentences(self.total)

    def spend(self, tests: int) -> None:
        """ValueError where more would be spent than is left."""
        if not 0 <= tests <= self.left:
            raise ValueError(f"{tests} tests of {self.left} that are left")
        self.used += tests


def enough_sentences(total: int) -> int:
    """20, 50 and 100 for 100, 500 and 1500 tests; in proportion between, 20 below, and a twentieth of what is above."""
    first, last = _ENOUGH[0], _ENOUGH[-1]
    if total <= first[0]:
        return first[1]
    for (low, few), (high, many) in pairwise(_ENOUGH):
        if total <= high:
            return few + math.floor((many - few) * (total - low) / (high - low))
    return last[1] + (total - last[0]) // 20
