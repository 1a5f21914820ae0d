"""What a sentence holds before types are decided: phrases with votes for their type, and verbs."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Literal

Stance = Literal["stated", "negated", "hedged"]
"""Whether a sentence says that a relationship holds, that it does not, or that it may."""
OWN_PAPER = -1
"""As an end of a relationship: the paper itself ("we", "this paper")."""

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
    head: int = 0  # the number of its head among the sentence's words; phrases with one head are one place


@dataclass(frozen=True)
class FoundRelation:
    """A relationship that a sentence states between two phrases, named by their heads (or `OWN_PAPER`)."""

    source: int
    relation: str
    target: int
    stance: Stance


@dataclass
class Findings:
    """The phrases of one sentence, in order, and the relationships between them."""

    phrases: list[FoundPhrase] = field(default_factory=list)
    relations: list[FoundRelation] = field(default_factory=list)


def fold(text: str) -> str:
    """The text without case, accents and marks, words separated by one space: names and titles are compared this
    way."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(_NO_WORD.sub(" ", "".join(c for c in plain if not unicodedata.combining(c))).split())
