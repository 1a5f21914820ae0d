"""What a sentence holds before types are decided: phrases with votes for their type, and verbs."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

_NO_WORD = re.compile(r"[^\w]+|_+")


@dataclass
class FoundPhrase:
    """A phrase and its place in the cleaned sentence. `votes` are (type, confidence)."""

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
    """The phrases and verbs of one sentence, in order."""

    phrases: list[FoundPhrase] = field(default_factory=list)
    verbs: list[Verb] = field(default_factory=list)


def fold(text: str) -> str:
    """The text without case, accents and marks, words separated by one space: names and titles are compared this
    way."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(_NO_WORD.sub(" ", "".join(c for c in plain if not unicodedata.combining(c))).split())
