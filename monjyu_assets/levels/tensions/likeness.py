"""What two statements call the same: names, abbreviations, and words whose vectors are near."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from monjyu_core.embedding import load_embedder
from monjyu_core.settings.settings import EmbeddingSettings

SHORTEST, LONGEST = 2, 6
"""Letters of an abbreviation."""


class WordNearness:
    """The cosine of two words by the English model, whatever model the collection has. Each word is embedded by itself,
    so that its vector never depends on what else is asked, and once."""

    def __init__(self) -> None:
        self._model = load_embedder(EmbeddingSettings())
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def __call__(self, one: str, other: str) -> float:
        return round(float(self._vector(one) @ self._vector(other)), 4)

    def _vector(self, word: str) -> NDArray[np.float32]:
        if word not in self._vectors:
            vector = np.asarray(self._model.embed_passages([word])[0], np.float32)
            self._vectors[word] = vector / np.maximum(np.linalg.norm(vector), 1e-9)
        return self._vectors[word]


def words_model() -> str:
    """What the nearness of words depends on."""
    return load_embedder(EmbeddingSettings()).fingerprint


def written_out(words: Sequence[str], by: Sequence[str]) -> list[str]:
    """The words, those that are initials of words in a row of `by` put as these."""
    initials = "".join(word[0] for word in by)
    found: list[str] = []
    for word in words:
        place = initials.find(word) if SHORTEST <= len(word) <= LONGEST and word not in by else -1
        found += by[place : place + len(word)] if place >= 0 else [word]
    return found


def same_names(one: Collection[str], other: Collection[str]) -> bool:
    """Whether the names of two statements can be of one thing: neither has any, or they share one. "MERS" is
    "MERS-CoV"; "SARS-CoV" is not "SARS-CoV-2"."""
    return not one or not other or share_a_name(one, other)


def share_a_name(one: Collection[str], other: Collection[str]) -> bool:
    return any(_same_name(first.casefold(), second.casefold()) for first in one for second in other)


def _same_name(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    return short == long or (long.startswith(f"{short}-") and not any(c.isdigit() for c in long[len(short) :]))
