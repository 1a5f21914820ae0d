"""How much two phrases share: stems, weighed by whether they say what a statement is about, and abbreviations."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from monjyu_assets.levels.tensions.tension_words import general_stems

GENERAL_WEIGHT = 0.25
"""What a word counts that many claims share, whatever they are about."""
SHORTEST, LONGEST = 2, 6
"""Letters of an abbreviation."""


@dataclass(frozen=True)
class Likeness:
    """What two phrases share, 0 to 1: of both together (`jaccard`), of the shorter one (`cover`), of the first."""

    jaccard: float
    cover: float
    cover_of_first: float
    conditions_differ: bool = False


def alike(one: Collection[str], other: Collection[str]) -> Likeness:
    first, second = set(one), set(other)
    shared = _weight(first & second)
    if not shared:
        return Likeness(0.0, 0.0, 0.0)
    whole = _weight(first), _weight(second)
    return Likeness(shared / _weight(first | second), shared / min(whole), shared / whole[0])


def _weight(words: Collection[str]) -> float:
    return sum(GENERAL_WEIGHT if word in general_stems() else 1.0 for word in words)


def specific(one: Collection[str], other: Collection[str]) -> set[str]:
    """The words both share that not every paper has."""
    return (set(one) & set(other)) - general_stems()


def with_short_forms(one: Sequence[str], other: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both, the words that one abbreviates by their initials put in place of the other's abbreviation."""
    return written_out(one, other), written_out(other, one)


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
    if not one or not other:
        return True
    return any(_same_name(first.casefold(), second.casefold()) for first in one for second in other)


def _same_name(first: str, second: str) -> bool:
    short, long = sorted((first, second), key=len)
    return short == long or (long.startswith(f"{short}-") and not any(c.isdigit() for c in long[len(short) :]))
