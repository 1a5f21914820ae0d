"""Words for people: numbers with their noun, and the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_ALIKE = 0.6


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 call`, `2 calls`."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def among(name: str, known: Sequence[str]) -> str:
    """What was probably meant, and what there is."""
    return f"{did_you_mean(name, known)} Known: {', '.join(known) or 'none'}.".lstrip()


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`Did you mean 'search'?` where a known name is much like this one, else nothing."""
    by_small = {one.lower(): one for one in known}
    found = get_close_matches(name.lower(), by_small, n=1, cutoff=_ALIKE)
    return f"Did you mean {by_small[found[0]]!r}?" if found else ""
