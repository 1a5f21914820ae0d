"""Words of a sentence laid beside words of its sources: which stand there, as such or nearly, and where."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from monjyu_core.text.search_text import count_wide

WORD = re.compile(
    r"[A-Za-zÀ-ɏα-ωΑ-Ω][A-Za-zÀ-ɏα-ωΑ-Ω'’]*(?:[-+#.][A-Za-z0-9]+)*[+#]*|\d[\d.,]*|[\u3400-\u9fff々]+|[\u30a1-\u30ffー]+|[\u3041-\u309f]+|[,;:]"
)


def _stop_words() -> frozenset[str]:
    lines = files(__package__).joinpath("stop_words_en.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


STOP = _stop_words()
NEAR = 0.62
"""Cosine of two words (each embedded alone) from which one may stand for the other."""
_SUFFIX = re.compile(
    r"(?:ational|isations?|izations?|isation|ization|ations?|ating|ated|ates|ate|ements?|ments?|ities|ity|ingly|edly|ings?"
    r"|ness|fully|ful|ively|ives?|ions?|ically|ical|ally|als?|ies|ied|ers?|ors?|ed|es|ly|ic|s|e|y)$"
)
Embed = Callable[[Sequence[str]], NDArray[np.float32]]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A word without its ending: forms of one word agree, at the price of a few that are not."""
    word = word.casefold().replace("’", "'").removesuffix("'s").strip("'.,")
    if len(word) > 4 and word.isascii():
        cut = _SUFFIX.sub("", word)
        word = cut if len(cut) >= 3 else word
    return word


@dataclass(frozen=True)
class Words:
    """The words of a text in order, in small letters, with their places."""

    text: str

    @cached_property
    def found(self) -> list[re.Match[str]]:
        return list(WORD.finditer(self.text))

    @cached_property
    def plain(self) -> list[str]:
        return [match.group().casefold() for match in self.found]

    @cached_property
    def wide(self) -> bool:
        return count_wide(self.text) > len(self.text) / 4

    @cached_property
    def content(self) -> list[tuple[int, str]]:
        """(place in `plain`, stem) of the words that say something; ideographs and katakana as pairs of letters."""
        stems: list[tuple[int, str]] = []
        for place, word in enumerate(self.plain):
            if word in STOP or word in ",;:" or word[0].isdigit():
                continue
            if count_wide(word):
                if not "\u3041" <= word[0] <= "\u309f":
                    stems += [(place, word[at : at + 2]) for at in range(max(1, len(word) - 1))]
            elif len(word) > 1 or word.isupper():
                stems.append((place, stem(word)))
        return stems


def normal(text: str) -> str:
    """Usual width, plain dashes and apostrophes, single spaces."""
    text = unicodedata.normalize("NFKC", text)
    for marks, plain in (("‐‑‒–—−", "-"), ("’‘", "'"), ("“”", '"')):
        for mark in marks:
            text = text.replace(mark, plain)
    return " ".join(text.split())


class Nearness:
    """Cosines of single words, each embedded once."""

    def __init__(self, embed: Embed | None) -> None:
        self._embed = embed
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def __call__(self, words: Sequence[str], others: Sequence[str]) -> NDArray[np.float32]:
        """(words, others); zeros where there is no model."""
        if self._embed is None or not words or not others:
            return np.zeros((len(words), len(others)), np.float32)
        new = [word for word in dict.fromkeys((*words, *others)) if word not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._embed(new), strict=True))
        one = np.stack([self._vectors[word] for word in words])
        other = np.stack([self._vectors[word] for word in others])
        return np.asarray(one @ other.T, np.float32)
