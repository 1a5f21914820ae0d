"""Keys of bibliographic entries that a person can read and type: `smith2021noun`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import count

from monjyu_query.citations.romaji import family_name, is_japanese, readings

_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h"}
)
"""Letters that do not come apart into an ASCII one and an accent."""
_SMALL_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at by can do does for from how in into is it its of on or our over that the their this to "
        "toward towards under using via we what when where which who why will with without "
        "der die das ein eine le la les un une el los las il",
    )
)
_SUFFIXES = frozenset(("jr", "sr", "ii", "iii", "iv"))
_INITIALS = re.compile(r"(?:[^\W\d_]\.-?){1,4}|[^\W\d_]|[A-Z]{2,3}")
_LONGEST = 40


def citation_key(author: str, year: int | None, title: str, otherwise: str) -> str:
    """First author's family name, year, first word of the title that says something, in ASCII letters and digits.

    Without an author the title's next word stands for the name. `otherwise` (an id) is what is left of a work of whose
    author and title nothing can be written so.
    """
    name, words = _family(author), _title_words(title)
    parts = [name, next(words, "")] if name else [next(words, ""), next(words, "")]
    first, last = (part[:_LONGEST] for part in parts)
    if not first and not last:
        return re.sub(r"[^a-z0-9]", "", fold(otherwise)) or "work"
    return f"{first}{year or ''}{last}"


def distinct(keys: Iterable[str]) -> list[str]:
    """The keys in order, where one that was there before gets a, b, ... at its end."""
    taken: set[str] = set()
    found = []
    for key in keys:
        free = next(one for one in _with_letters(key) if one not in taken)
        taken.add(free)
        found.append(free)
    return found


def _with_letters(key: str) -> Iterator[str]:
    yield key
    for number in count():
        tail, rest = "", number
        while rest >= 0:
            tail, rest = chr(ord("a") + rest % 26) + tail, rest // 26 - 1
        yield key + tail


def fold(text: str) -> str:
    """Lower case, accents taken off; what has no ASCII form goes."""
    decomposed = unicodedata.normalize("NFKD", text.lower().translate(_LETTERS))
    return decomposed.encode("ascii", "ignore").decode()


def _family(author: str) -> str:
    author = re.sub(r"\bet\.? al\b\.?", "", " ".join(author.split())).strip()
    if is_japanese(author):
        return _only_letters(family_name(author))
    if "," in author:
        return _only_letters(author.partition(",")[0])
    words = [word for word in author.split() if word.strip(".").lower() not in _SUFFIXES]
    full = [word for word in words if not _INITIALS.fullmatch(word)]
    return _only_letters((full or words or [""])[-1])


def _title_words(title: str) -> Iterator[str]:
    """The words that say something, folded; where there is none of Latin letters the readings of Japanese nouns."""
    words = [_only_letters(word) for word in re.findall(r"[^\W_]+(?:['\u2019][^\W_]+)*", title)]
    said = [word for word in words if len(word) > 2 and word not in _SMALL_WORDS]
    if is_japanese(title):
        said = [word for word in (_only_letters(said) for _, said in readings(title)) if len(word) > 1] or said
    yield from said or [word for word in words if word]


def _only_letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", fold(text))
