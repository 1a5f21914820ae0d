"""The measures of the encoders, apart from the graph so that knowing them does not load the engine."""

from __future__ import annotations

from dataclasses import dataclass

HEADS, WIDTH = 12, 384


@dataclass(frozen=True)
class Shape:
    """What tells the models apart; all have 12 heads and a width of 384."""

    name: str
    layers: int
    padding_id: int
