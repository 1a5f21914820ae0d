"""Sections of a paper by what a reader calls them."""

from __future__ import annotations

from collections.abc import Sequence

from monjyu_core.errors import QueryError


def sections_named(sections: Sequence[tuple[str, str]], wanted: str) -> list[int]:
    """Places of the sections (heading, section type) meant: by number from 1, by type, or by words of the heading.

    QueryError where the paper has none such, with what it has.
    """
    name = wanted.strip().lower()
    if name.isdecimal() and 0 < int(name) <= len(sections):
        return [int(name) - 1]
    places = range(len(sections))
    found = [place for place in places if sections[place][1] == name]
    found = found or [place for place in places if name in sections[place][0].lower()]
    if not found:
        listed = "; ".join(f"{number}. {heading}" for number, (heading, _) in enumerate(sections, start=1))
        raise QueryError(f"The paper has no section {wanted!r}.", f"It has: {listed}.")
    return found
