"""What is found in a sentence before anything is decided: phrases with votes for their type, and verbs."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

_NO_WORD = re.compile(r"[^\w]+|_+")


@dataclass
class FoundPhrase:
    """A phrase at a place of the cleaned sentence. `votes` are (type, confidence)."""

    key: str
    surface: str
    start: int
    end: int
    votes: list[tuple[str, float]] = field(default_factory=list)
    proper: bool = False
    defined: bool = False  # the sentence says what it is
    particle: str = ""  # what follows it in Japanese: は, を, …
    bare: bool = False  # a head without a name: "several models", which names may follow


@dataclass(frozen=True)
class Verb:
    start: int
    end: int
    relation: str
    passive: bool


@dataclass
class Findings:
    """Of one sentence; phrases and verbs in order."""

    phrases: list[FoundPhrase] = field(default_factory=list)
    verbs: list[Verb] = field(default_factory=list)


def fold(text: str) -> str:
    """Without case, accents and marks, words divided by one space: what names and titles are compared by."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(_NO_WORD.sub(" ", "".join(c for c in plain if not unicodedata.combining(c))).split())
