"""Sets levels of headings by numbers, outline or rank of type style, and recognises run-in headings."""

import re
from collections import Counter
from itertools import pairwise

from monjyu_assets.parsing.formats.pdf.body.heading import Heading, gap_above
from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line, Style
from monjyu_assets.parsing.text.author_block import ABSTRACT, KEYWORDS, NUMBERED_FLOAT
from monjyu_assets.parsing.text.heading_types import section_type, strip_numbering
from monjyu_core.language.packs import cues

_MAIN = {"introduction", "methods", "experiments", "results", "discussion", "conclusion"}

_Look = tuple[Style, bool]


def set_levels(headings: list[Heading], body_size: float) -> None:
    """Set the levels of headings by their numbers, by the outline if there is one, otherwise by rank of style. A run-in
    heading without a number of several parts is one level below the heading above it.
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
    if _nested_by_mistake(found):
        for heading in found:
            heading.outline_level = None
    offset = min((h.outline_level for h in found if h.outline_level is not None), default=0)
    numbered = [h for h in found if h.number is not None]
    if len(numbered) < 0.5 * len(found) and not any(section_type(h.text) in _MAIN for h in numbered):
        # Steps numbered within a section ("1) Surgery") do not show the level.
        for heading in numbered:
            if not heading.run_in and "." not in (heading.number or ""):
                heading.number = None
    _letter_i(numbered)
    roman = sum(bool(re.fullmatch(r"[IVX]+", h.number or "")) for h in found) > 1
    lettered = roman and any(re.fullmatch(r"[A-H]", h.number or "") for h in found)
    for heading in found:
        if heading.outline_level is not None:
            heading.level = heading.outline_level - offset + 1
        elif heading.number is not None:
            counted = heading.number[0].isdigit()  # below Roman numbers, or the letters below these
            lower = counted or re.fullmatch(r"[A-H]", heading.number) is not None
            heading.level = _depth(heading.number) + (roman and lower) + (lettered and counted)
    enclosed = [h for h in numbered if h.text.startswith("(") and h.outline_level is None]
    for heading in [*_counted_within(numbered), *(enclosed if len(enclosed) < len(numbered) else [])]:
        heading.level += 1  # "(1)" is below "1"
    looks = _looks(found)
    known: dict[_Look, int] = {}
    for heading in found:
        if heading.outline_level is not None or heading.number is not None:
            known.setdefault(looks[heading.start], heading.level)
    ranked = sorted(set(looks.values()), key=lambda look: (_rank(look[0], body_size), look[1]))
    level_of = _look_levels(ranked, known)
    for heading in found:
        if heading.outline_level is None and heading.number is None:
            heading.level = level_of[looks[heading.start]]
    _lower_stacked(found)
    _raise_main(found)
    for heading in found:
        if heading.number is None and heading.outline_level is None and section_type(heading.text) == "acknowledgments":
            heading.level = min(h.level for h in found)
    _close_gaps(found)


def _looks(found: list[Heading]) -> dict[int, _Look]:
    """The style of each heading by its first line, and whether it is at the left in a style of which others are
    centred, which are above it."""
    count = Counter((h.style, h.centred) for h in found if h.number is None)
    both = {style for style, centred in count if centred and min(count[style, True], count[style, False]) > 1}
    return {h.start: (h.style, h.style in both and not h.centred and h.number is None) for h in found}


def _letter_i(numbered: list[Heading]) -> None:
    """Replace the number "I" after "H" by "A", so that it counts as a letter and not as a Roman number."""
    for above, heading in pairwise(numbered):
        if above.number == "H" and heading.number == "I" and above.style == heading.style:
            heading.number = "A"


def _counted_within(numbered: list[Heading]) -> list[Heading]:
    """Headings whose numbers start again at 1 between two main ones (4, 1, 2, 3, 5), or at any number in smaller
    type."""
    main = [h for h in numbered if h.outline_level is None and (h.number or "").isdigit()]
    numbers = [int(h.number or 0) for h in main]
    inner: list[Heading] = []
    last, size = 0, 0.0
    for k, number in enumerate(numbers):
        goes_on = bool(inner) and inner[-1] is main[k - 1]
        if number == last + 1 and not (goes_on and last < 3 and number == numbers[k - 1] + 1):
            last, size = number, main[k].style[0]
        elif last > 1 and last + 1 in numbers[k:] and (number == 1 or goes_on or main[k].style[0] < size - 0.9):
            inner.append(main[k])
    return inner


def _nested_by_mistake(found: list[Heading]) -> bool:
    """Whether the outline's levels are wrong. They are if the headings 1, 2, 3 … have different levels, if introduction
    and conclusion do although they have one style, or if all numbered headings have one level although some are
    numbered 1 and others 1.1."""
    ends = [h for h in found if h.outline_level is not None and section_type(h.text) in ("introduction", "conclusion")]
    if any(a.style == b.style and a.outline_level != b.outline_level for a, b in pairwise(ends)):
        return True
    depths: dict[int | None, set[int]] = {}
    for heading in found:
        if heading.outline_level is not None and heading.number is not None:
            depths.setdefault(heading.outline_level, set()).add(_depth(heading.number))
    if len(depths) == 1 and len(*depths.values()) > 1:
        return True
    main = [h for h in found if h.outline_level is not None and (h.number or "").isdigit()]
    numbers = [int(h.number or 0) for h in main]
    rising = len(numbers) > 2 and all(a < b for a, b in pairwise(numbers))
    return rising and len({h.outline_level for h in main}) > 1


def _raise_main(found: list[Heading]) -> None:
    """Main sections (introduction, methods, results, ...) in one style without numbers get level 1, and those below
    them are raised as well, because a translated title or a first line in larger type is not above a section."""
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
    """Lower subsections that have the style of main sections, if a main section's heading is directly above another in
    its style.

    Headings in this style that are unknown, long or directly below another become one level lower.
    """
    stacked = {
        a.style
        for a, b in pairwise(found)
        if a.end == b.start and a.style == b.style and a.level == b.level
        and section_type(a.text) in _MAIN and section_type(b.text) in ("other", section_type(a.text))
        and a.outline_level is None
        and a.number is None
    }  # fmt: skip
    below = {b.start for a, b in pairwise(found) if a.end == b.start and a.style == b.style}
    for heading in found:
        if heading.style in stacked and heading.number is None and heading.outline_level is None:
            lower = section_type(heading.text) == "other" or heading.start in below or len(heading.text) > 30
            heading.level += lower


def _rank(style: Style, body_size: float) -> tuple[float, ...]:
    """The sort key of a style: larger type first; among sizes near that of the text bold capitals, bold, capitals, bold
    italic, italic."""
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
    if parts[1:] == ["0"]:  # "4.0" above "4.1"
        parts.pop()
    if parts and len(parts[0]) > 1 and parts[0].isalpha() and not re.fullmatch(r"[IVX]+", parts[0]):
        parts = parts[1:]  # "Appendix B"
    return max(1, len(parts))


def _look_levels(looks: list[_Look], known: dict[_Look, int]) -> dict[_Look, int]:
    """Give looks in rank order rising levels; one whose level is known resets the count."""
    levels: dict[_Look, int] = {}
    current = 0
    for look in looks:
        current = known.get(look, current + 1)
        levels[look] = current
    return levels


def _close_gaps(found: list[Heading]) -> None:
    """Change levels so that the highest is 1 and no heading is more than one level below the one before it."""
    lowest = min((heading.level for heading in found), default=1)
    previous = 0
    for heading in found:
        heading.level = max(1, min(heading.level - lowest + 1, previous + 1))
        previous = heading.level


# Headings in bold or italic type with which a paragraph begins on the same line.
_NO_HEADING = re.compile(
    cues("heading_levels.no_heading"), re.I,
)  # fmt: skip
_LONGEST = 80
"""The maximum number of characters of a run-in heading without a number."""


def run_in_heading(layout: Layout, i: int, last: int) -> Heading | None:
    """Return the heading with which the paragraph at line `i` begins, on up to three lines; None if it has no
    heading."""
    return _numbered(layout, i, last) or _plain(layout, i)


def _numbered(layout: Layout, i: int, last: int) -> Heading | None:
    line = layout.lines[i]
    number, words = strip_numbering(line.text)
    start = line.text.find(words[:12]) if words else -1
    mark = line.text.lstrip("( ")[len(number) :][:1] if number else ""
    main = number is not None and mark == "." and "." not in number
    counted = number is not None and ("." in number or mark == ")" or (main and line.bold[0]))
    if number is None or not counted or start < 0:
        return None
    text = line.text[:start].strip()
    current, stop, end = line, start, i
    for end in range(i, min(i + 3, last)):
        current = layout.lines[end]
        if abs(current.size - line.size) > 0.6:
            return None  # whole lines above a paragraph in other type
        if end > i and main and strip_numbering(current.text)[0] is not None:
            return None
        stop = start
        while stop < len(current.text) and (current.bold[stop] or current.italic[stop]):
            stop += 1
        text = f"{text} {current.text[start:stop].strip()}".strip()
        if stop < len(current.text):
            break
        start = 0
    if main and stop == 0:
        return None  # whole lines: a separate heading
    while stop < len(current.text) and current.text[stop] in ".: ":
        stop += 1
    ended = text.endswith((".", ":")) or current.text[:stop].rstrip().endswith((".", ":"))
    if (
        sum(map(str.isalpha, strip_numbering(text)[1])) < 3
        or stop >= len(current.text) - 3
        or not ended
        or len(text) > 200
    ):
        return None
    face = (round(line.size * 2) / 2, line.bold[0], line.italic[0] or line.italic[-1], False)
    return Heading(i, end + 1, text.rstrip(" .:"), face, number, run_in=stop)


def _plain(layout: Layout, i: int) -> Heading | None:
    """The heading of bold or italic words that end with a full stop or colon at the start of a paragraph, or None."""
    line = layout.lines[i]
    bold, italic = line.bold[0], line.italic[0]
    if not (bold or italic) or abs(line.size - layout.body_size) > 0.6:
        return None
    face = line.bold if bold else line.italic
    stop = next((k for k, marked in enumerate(face) if not marked), len(face))
    while stop < len(line.text) and line.text[stop] in ".: ":
        stop += 1
    text = line.text[:stop].strip()
    if stop >= len(line.text) - 3 or not text.endswith((".", ":")) or not 4 <= len(text) <= _LONGEST:
        return None
    words = text.rstrip(" .:").split()
    if len(words) > 10 or not words or not words[0][0].isupper() or words[-1] in ("al", "vs", "cf"):
        return None
    if (
        _NO_HEADING.match(text)
        or NUMBERED_FLOAT.match(text)
        or ABSTRACT.match(text)
        or KEYWORDS.match(text)
        or re.search(r"[.;=@]\s", text)
    ):
        return None
    if not _begins(layout, i, line) or not _runs_on(layout, i):
        return None
    return Heading(i, i + 1, text.rstrip(" .:"), (round(line.size * 2) / 2, bold, italic, False), run_in=stop)


def _begins(layout: Layout, i: int, line: Line) -> bool:
    """Whether a paragraph begins at this line, as shown by a gap, an indent, or a line above that ends early."""
    if gap_above(layout, i) > 1.2 * layout.leading:
        return True
    above = layout.lines[i - 1]
    left, right = layout.extents[line.page, line.block]
    ended = above.text.rstrip().endswith((".", ":", "!", "?"))
    return ended and (above.x1 < right - 3 * line.size or line.x0 > left + 0.7 * line.size)


def _runs_on(layout: Layout, i: int) -> bool:
    """Whether the paragraph fills its first line and goes on, unlike entries of a list ("Funding: none")."""
    line = layout.lines[i]
    left, right = layout.extents[line.page, line.block]
    if line.x1 < right - 0.12 * (right - left):
        return False
    below = layout.lines[i + 1] if i + 1 < len(layout.lines) else None
    words = [word for word in line.text.split() if word[0].isalpha()]
    if sum(word[0].islower() for word in words) < 0.35 * len(words):
        return False  # a list of names
    return below is not None and not (below.bold[0] or (below.italic[0] and below.text[0].isupper()))


def usual_run_ins(found: list[Heading]) -> list[Heading]:
    """Drop run-in headings without a number whose face begins only one paragraph, which is emphasis, and items of
    lists. "1. Main part." is a heading if there are at least three such, their numbers count up from 1, and no other
    heading has such a number."""
    faces = Counter(h.style[1:3] for h in found if h.run_in and h.number is None)
    main = [
        h for h in found if h.number is not None and h.number.isdigit() and not h.text.startswith((f"{h.number})", "("))
    ]
    once = [h.number for h in main] == [str(k + 1) for k in range(len(main))] and len(main) > 2
    items = [] if once and all(h.run_in for h in main) else [h for h in main if h.run_in]
    return [h for h in found if h not in items and (not h.run_in or h.number is not None or faces[h.style[1:3]] >= 2)]
