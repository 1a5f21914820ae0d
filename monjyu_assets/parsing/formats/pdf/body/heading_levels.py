"""Levels of headings: by numbers, by outline, by rank of type style."""

from __future__ import annotations

import re
from itertools import pairwise

from monjyu_assets.parsing.formats.pdf.body.heading import Heading
from monjyu_assets.parsing.formats.pdf.page.lines import Style
from monjyu_assets.parsing.text.heading_types import section_type

_MAIN = {"introduction", "methods", "experiments", "results", "discussion", "conclusion"}


def set_levels(headings: list[Heading], body_size: float) -> None:
    """Levels by numbers where headings have them, by outline where there is one, else by rank of style; in place.

    A heading that runs into its paragraph and has no number with parts is one level below the one it stands under.
    """
    found = [h for h in headings if not _by_place(h)]
    _set_levels(found, body_size)
    above = 0
    for heading in headings:
        if _by_place(heading):
            heading.level = above + 1
        else:
            above = heading.level


def _by_place(heading: Heading) -> bool:
    return bool(heading.run_in) and heading.outline_level is None and "." not in (heading.number or "")


def _set_levels(found: list[Heading], body_size: float) -> None:
    offset = min((h.outline_level for h in found if h.outline_level is not None), default=0)
    numbered = [h for h in found if h.number is not None]
    if len(numbered) < 0.5 * len(found) and not any(section_type(h.text) in _MAIN for h in numbered):
        # Steps counted within a section ("1) Surgery") say nothing about the level.
        for heading in numbered:
            if not heading.run_in and "." not in (heading.number or ""):
                heading.number = None
    roman = sum(bool(re.fullmatch(r"[IVX]+", h.number or "")) for h in found) > 1
    for heading in found:
        if heading.outline_level is not None:
            heading.level = heading.outline_level - offset + 1
        elif heading.number is not None:
            heading.level = _depth(heading.number) + (roman and bool(re.fullmatch(r"[A-H]", heading.number)))
    known: dict[Style, int] = {}
    for heading in found:
        if heading.outline_level is not None or heading.number is not None:
            known.setdefault(heading.style, heading.level)
    level_of = _style_levels(sorted({h.style for h in found}, key=lambda style: _rank(style, body_size)), known)
    for heading in found:
        if heading.outline_level is None and heading.number is None:
            heading.level = level_of[heading.style]
    _lower_stacked(found)
    _raise_main(found)
    _close_gaps(found)


def _raise_main(found: list[Heading]) -> None:
    """Main sections (introduction, methods, results, ...) in one style without numbers are of level 1, with those
    below them raised as well: a translated title or a first line in larger type is above no section."""
    free = [h for h in found if h.number is None and h.outline_level is None]
    if len(free) < len(found):
        return
    types: dict[Style, set[str]] = {}
    for heading in free:
        if (kind := section_type(heading.text)) in _MAIN:
            types.setdefault(heading.style, set()).add(kind)
    style = max(types, key=lambda style: len(types[style]), default=None)
    if style is None or len(types[style]) < 3:
        return
    main = min(h.level for h in free if h.style == style)
    above = [h for h in free if h.level < main]
    if main > 1 and len(above) <= 2 + sum(section_type(h.text) in _MAIN for h in above):
        for heading in free:
            heading.level = max(1, heading.level - main + 1)


def _lower_stacked(found: list[Heading]) -> None:
    """If a main section's heading stands directly above another of the same style, that style serves both levels.

    Then headings of that style whose words do not name a main section are one level lower.
    """
    stacked = {
        a.style
        for a, b in pairwise(found)
        if a.end == b.start and a.style == b.style and a.level == b.level
        and section_type(a.text) in _MAIN and section_type(b.text) == "other" and a.outline_level is None
        and a.number is None
    }  # fmt: skip
    for heading in found:
        if heading.style in stacked and heading.number is None and heading.outline_level is None:
            heading.level += section_type(heading.text) == "other"


def _rank(style: Style, body_size: float) -> tuple[float, ...]:
    """Larger type first; among sizes near that of the text bold capitals, bold, capitals, bold italic, italic."""
    size, bold, italic, capitals = style
    face = (
        0 if bold and capitals else 1 if bold and not italic else 2 if capitals else 3 if bold else 4 if italic else 5
    )
    if size >= body_size + 0.9:
        return (0, -size, face)
    return (1, face, -size)


def _depth(number: str) -> int:
    """The depth of "3.1.2" is 3, of "IV" or "A" 1, of "A.1" 2."""
    parts = [part for part in re.split(r"[.\s]+", number) if part]
    if parts and len(parts[0]) > 1 and parts[0].isalpha() and not re.fullmatch(r"[IVX]+", parts[0]):
        parts = parts[1:]  # "Appendix B"
    return max(1, len(parts))


def _style_levels(styles: list[Style], known: dict[Style, int]) -> dict[Style, int]:
    """Styles in rank order get rising levels; a style whose level is known resets the count."""
    levels: dict[Style, int] = {}
    current = 0
    for style in styles:
        current = known.get(style, current + 1 if style not in known else current)
        levels[style] = current
    return levels


def _close_gaps(found: list[Heading]) -> None:
    """The highest level is 1, and no heading is more than one level below the one before it."""
    lowest = min((heading.level for heading in found), default=1)
    previous = 0
    for heading in found:
        heading.level = max(1, min(heading.level - lowest + 1, previous + 1))
        previous = heading.level
