"""Acronyms and the long forms that define them: "latent Dirichlet allocation (LDA)".

After Schwartz & Hearst (2003), "A simple algorithm for identifying abbreviation definitions in biomedical text": the
short form's letters are found in the words before it, from right to left, the first at the beginning of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_DEFINED = re.compile(r"\(\s{0,2}([A-Za-zΑ-ω0-9][\w.&/+-]{1,11})\s{0,2}(?:[;,][^()]{0,80})?\)")
_SPACE_BEFORE = 200


def definitions(text: str) -> list[tuple[str, str]]:
    """(short form, long form) of each definition in a text, in order."""
    pairs = []
    for match in _DEFINED.finditer(text):
        short = match[1].strip(".")
        if _is_short(short):
            long = long_form(short, text[max(0, match.start() - _SPACE_BEFORE) : match.start()])
            if long:
                pairs.append((_singular(short), long))
    return pairs


def _is_short(short: str) -> bool:
    capitals = sum(letter.isupper() for letter in short)
    return 2 <= len(short) <= 12 and capitals >= 2 and not short.isdigit()


def _singular(short: str) -> str:
    return short[:-1] if short.endswith("s") and short[:-1].isupper() else short


def long_form(short: str, before: str) -> str | None:
    """The words at the end of `before` that the short form stands for, or None."""
    short = _singular(short)
    words = before.split()
    words = words[-min(len(short) + 5, 2 * len(short)) :]
    candidate = " ".join(words)
    at = len(candidate) - 1
    for n in range(len(short) - 1, -1, -1):
        letter = short[n].lower()
        if not letter.isalnum():
            continue
        while at >= 0 and (candidate[at].lower() != letter or (n == 0 and at > 0 and candidate[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return None
        at -= 1
    long = candidate[at + 1 :].strip()
    return long if len(long.split()) > 1 or len(long) > len(short) + 4 else None


def agreed(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Short form to long form within one paper; the first definition counts."""
    known: dict[str, str] = {}
    for short, long in pairs:
        known.setdefault(short, long)
    return known
