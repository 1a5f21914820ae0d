"""What the words of a text belong to: the words around a place, and how alike two such surroundings are."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from monjyu_query.answers.verification.alignment import Words

FAR = 12
"""Words, or so, on either side that tell what a figure or a name belongs to."""
JOINTS = re.compile(r"[,;:、]|\b(?:and|while|whereas|but|versus|vs|or|than|from|to)\b|(?:一方|が、|より)")
"""What divides a sentence: words on the other side belong together less."""


@dataclass(frozen=True)
class Anchor:
    """A word that the words around it belong to: a figure, a name, a word of direction; with their weights."""

    word: str
    context: dict[str, float]


def context_of(sentence: Words, start: int, end: int) -> dict[str, float]:
    """Terms of a sentence around a place, with weights that fall with distance and at each joint between."""
    weights: dict[str, float] = {}
    for place, term in sentence.content:
        match = sentence.found[place]
        if match.start() < end and match.end() > start:
            continue
        low, high = (match.end(), start) if match.end() <= start else (end, match.start())
        between = sentence.text[low:high]
        distance = len(between) / (4 if sentence.wide else 6)
        joints = len(JOINTS.findall(between))
        if distance <= FAR:
            weights[term] = max(weights.get(term, 0.0), 1.0 / (1 + 0.35 * distance) / (1 + 2.0 * joints))
    return weights


def alike(one: dict[str, float], other: dict[str, float]) -> float:
    """Cosine of two contexts, 0 to 1."""
    norm = np.sqrt(sum(v * v for v in one.values()) * sum(v * v for v in other.values()))
    return float(sum(weight * other.get(term, 0.0) for term, weight in one.items()) / norm) if norm else 0.0


def anchors(sentence: Words, pattern: re.Pattern[str]) -> list[Anchor]:
    """Every match of a pattern with what stands around it."""
    return [
        Anchor(match.group().casefold().removesuffix("'s"), context_of(sentence, match.start(), match.end()))
        for match in pattern.finditer(sentence.text)
    ]
