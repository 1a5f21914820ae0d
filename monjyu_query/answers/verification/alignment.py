"""The words of a text that say something, with their places, cut so that forms of one word agree."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

from monjyu_core.text.search_text import count_wide

WORD = re.compile(
    r"[A-Za-zÀ-ɏα-ωΑ-Ω][A-Za-zÀ-ɏα-ωΑ-Ω'’]*(?:[-+#.][A-Za-z0-9]+)*[+#]*|\d[\d.,]*|[\u3400-\u9fff々]+|[\u30a1-\u30ffー]+|[\u3041-\u309f]+|[,;:]"
)


def _stop_words() -> frozenset[str]:
    lines = files(__package__).joinpath("stop_words_en.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


STOP = _stop_words()
_SUFFIX = re.compile(
    r"(?:ational|isations?|izations?|isation|ization|ations?|ating|ated|ates|ate|ements?|ments?|ities|ity|ingly|edly|ings?"
    r"|ness|fully|ful|ively|ives?|ions?|ically|ical|ally|als?|ies|ied|ers?|ors?|ed|es|ly|ic|s|e|y)$"
)


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
