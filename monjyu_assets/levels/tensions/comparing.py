"""Which statements are compared: those that are near each other and speak of the same thing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monjyu_assets.levels.tensions.aligning import Near
from monjyu_assets.levels.tensions.opposing_sides import Opposition, opposition
from monjyu_core.storage.rows.rows_levels import TensionSideRow

NEAR = 0.35
"""Cosine from which two statements are compared."""
BLOCK = 256
"""Statements whose nearness to all others is reckoned at once."""
_MARGIN = 1e-3
"""The product of blocks may differ from that of two vectors in its last bits."""


@dataclass(frozen=True)
class Compared:
    """Statements in the order of their ids: papers, sides, unit vectors (statements, dimensions), and which are
    compared with all; the others are compared with these only."""

    papers: Sequence[str]
    sides: Sequence[Sequence[TensionSideRow]]
    vectors: NDArray[np.float32]
    new: NDArray[np.bool_]


def near_pairs(claims: Compared, near: Near, progress: Callable[[int, int], None]) -> Iterator[Opposition]:
    """The opposed pairs of which one claim at least is new, each once, the one with the lower id first. Statements of
    one paper are not compared: mostly both hold, of different groups or times."""
    papers = np.unique(np.asarray(claims.papers, str), return_inverse=True)[1]
    rows = np.flatnonzero(claims.new)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        places, others = np.nonzero(claims.vectors[block] @ claims.vectors.T >= NEAR - _MARGIN)
        ones = block[places]
        once = (ones < others) | ((ones > others) & ~claims.new[others])
        once &= papers[ones] != papers[others]
        ones, others = ones[once], others[once]
        cosines = np.einsum("ij,ij->i", claims.vectors[ones].astype(np.float64), claims.vectors[others])
        for one, other, cosine in zip(ones.tolist(), others.tolist(), np.round(cosines, 4).tolist(), strict=True):
            first, second = claims.sides[min(one, other)], claims.sides[max(one, other)]
            if cosine >= NEAR and (found := opposition(first, second, cosine, near)):
                yield found
        progress(start + len(block), len(rows))
