"""Headings among the lines of a document, by outline, numbering, known names and type style."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from monjyu_assets.parsing.headings import section_type, strip_numbering
from monjyu_assets.parsing.pdf.layout import Layout, OutlineItem
from monjyu_assets.parsing.pdf.lines import Line
from monjyu_assets.parsing.pdf.outline import outline_marks
from monjyu_core.text.search_text import count_wide

Style = tuple[float, bool, bool, bool]
"""Size to half a point, bold, italic, capitals."""

_CAPTION = re.compile(
    r"(?:supplementary |extended data )?(?:fig(?:ure|\.)?s?|tables?|scheme|algorithm|listing|box|plate|図|表|写真)"
    r"\s*\.?\s*(?:S?\d+|[IVXL]+\b|[A-Z]\d*\b)", re.I,
)  # fmt: skip
_BULLET = re.compile(r"[\u2022\u25cf\u25cb\u25aa\u25e6\u2023\u2013\u2014*\uf0b7-]\s")
_FORMULA = re.compile(r"[=\u00bc\u2211\u222b\u221a\u2264\u2265\u2208\u2202]")
_ENDS_OPEN = re.compile(r"(?:[,;]|\b(?:the|of|and|or|a|an|in|to|with|for|by|is|are|from|on|as|that))$")


@dataclass
class Heading:
    """A heading found at `lines[start:end]`; one that runs in takes `run_in` characters of its last line."""

    start: int
    end: int
    text: str
    style: Style
    number: str | None = None
    level: int = 1
    run_in: int = 0
    outline_level: int | None = None
    rank: tuple[float, ...] = field(default=())


def style_of(line: Line) -> Style:
    """The style of a line's letters."""
    letters = [c for c in line.text if c.isalpha()]
    capitals = len(letters) > 3 and sum(c.isupper() for c in letters) > 0.9 * len(letters)
    return (round(line.size * 2) / 2, line.bold_share > 0.6, line.italic_share > 0.6, capitals)


def find_headings(layout: Layout, first: int, last: int) -> list[Heading]:
    """Headings among `layout.lines[first:last]`, in order, with levels."""
    marked = outline_marks(layout, first, last)
    body_bold = _body_is_bold(layout)
    strong: Counter[Style] = Counter()
    candidates: list[Heading] = []
    i = first
    while i < last:
        heading = _candidate(layout, i, last, marked)
        if heading is None:
            i += 1
            continue
        candidates.append(heading)
        if heading.outline_level is not None or _known(heading.text):
            strong[heading.style] += 1
        i = heading.end
    by_style = Counter(h.style for h in candidates)
    found = [h for h in candidates if _accepted(h, layout, strong, by_style, body_bold)]
    return found


def _known(text: str) -> bool:
    return section_type(text) != "other"


def _body_is_bold(layout: Layout) -> bool:
    bold = sum(len(line.text) for line in layout.lines if line.bold_share > 0.6)
    return bold > 0.5 * sum(len(line.text) for line in layout.lines)


def _candidate(layout: Layout, i: int, last: int, marked: dict[int, tuple[int, OutlineItem]]) -> Heading | None:
    lines = layout.lines
    line = lines[i]
    if i in marked:
        end, item = marked[i]
        text = _text(lines[i:end])
        return Heading(i, end, text, style_of(line), strip_numbering(text)[0], outline_level=item.level)
    style = style_of(line)
    end = i + 1
    while end < min(last, i + 4) and end not in marked and _continues(layout, lines[end - 1], lines[end], style):
        end += 1
    found = _run_in(layout, i, last)
    if found is not None:
        return found
    text = _text(lines[i:end])
    if not _shape(text, lines[i:end]) or not _stands_out(line, style, text, layout):
        return None
    if not _alone(layout, i, end):
        return None
    return Heading(i, end, text, style, strip_numbering(text)[0])


def _run_in(layout: Layout, i: int, last: int) -> Heading | None:
    """A numbered heading in bold or italic type with which a paragraph begins, on one line or two."""
    line = layout.lines[i]
    number, words = strip_numbering(line.text)
    start = line.text.find(words[:12]) if words else -1
    if number is None or "." not in number or start < 0:
        return None
    text = line.text[:start].strip()
    current, stop, end = line, start, i
    for end in range(i, min(i + 3, last)):
        current = layout.lines[end]
        stop = start
        while stop < len(current.text) and (current.bold[stop] or current.italic[stop]):
            stop += 1
        text = f"{text} {current.text[start:stop].strip()}".strip()
        if stop < len(current.text):
            break
        start = 0
    while stop < len(current.text) and current.text[stop] in ".: ":
        stop += 1
    ended = text.endswith((".", ":")) or current.text[:stop].rstrip().endswith((".", ":"))
    if len(strip_numbering(text)[1]) < 4 or stop >= len(current.text) - 3 or not ended or len(text) > 200:
        return None
    face = (round(line.size * 2) / 2, line.bold[0], line.italic[0] or line.italic[-1], False)
    return Heading(i, end + 1, text.rstrip(" .:"), face, number, run_in=stop)


def _text(lines: list[Line]) -> str:
    text = " ".join(line.text for line in lines)
    return re.sub(r"(\w)- (?=[a-z])", r"\1-", text) if len(lines) > 1 else text


def _continues(layout: Layout, above: Line, line: Line, style: Style) -> bool:
    """The next line goes on with the same heading."""
    step = line.base - above.base
    return (
        above.page == line.page
        and style_of(line)[:3] == style[:3]
        and 0 < step < 1.6 * max(line.size, above.size)
        and abs(line.size - above.size) < 0.3
        and strip_numbering(line.text)[0] is None
        and not (above.x1 < line.x0)
        and not _fits(layout, above, line)
    )


def _fits(layout: Layout, above: Line, line: Line) -> bool:
    """The first word of `line` had room behind `above`: the line break is meant, they are two headings."""
    left, right = layout.extents[line.page, line.block]
    word = line.text.split()[0]
    width = line.width * len(word) / max(1, len(line.text)) + 0.6 * line.size
    centred = abs((above.x0 + above.x1) - (left + right)) < 6 and above.x0 > left + 6
    room = (right - left) - above.width if centred else right - above.x1
    return width < 0.9 * room - 0.08 * (right - left)


def _shape(text: str, lines: list[Line]) -> bool:
    """Short, begins like a heading, has letters (方法 is a word), is no caption, bullet, sentence or reference."""
    words = strip_numbering(text)[1]
    letters = sum(c.isalpha() for c in words)
    if letters + count_wide(words) < 3 or letters < 0.5 * len(words.replace(" ", "")):
        return False
    if len(text) > 220 or len(text.split()) > 28:
        return False
    if _CAPTION.match(text) or _BULLET.match(text) or "@" in text or "http" in text:
        return False
    first = next((c for c in words if c.isalnum()), "")
    if not first or first.islower():
        return False
    if _FORMULA.search(text) or (re.search(r"[.;,。]$", text) and not re.search(r"\b(?:etc|al|vs|spp?|L)\.$", text)):
        return False
    cells = any(len(line.pieces) > 2 for line in lines)
    return not _ENDS_OPEN.search(text.casefold()) and len(lines) < 5 and not cells


def _stands_out(line: Line, style: Style, text: str, layout: Layout) -> bool:
    size, bold, italic, capitals = style
    if size < (0.7 if bold or capitals else 0.85) * layout.body_size:
        return False
    larger = size >= layout.body_size + 0.9
    numbered = strip_numbering(text)[0] is not None
    return (
        larger
        or bold
        or capitals
        or (italic and size >= 0.95 * layout.body_size)
        or numbered
        or (_known(text) and len(text) < 40)
    )


def _alone(layout: Layout, start: int, end: int) -> bool:
    """Nothing of a paragraph above runs into it, and what follows starts anew."""
    lines = layout.lines
    line = lines[start]
    above = lines[start - 1] if start else None
    same_place = above is not None and above.page == line.page and above.block == line.block
    if above is not None and same_place:
        step = line.base - above.base
        same_style = style_of(above) == style_of(line)
        if step < 0.4 * line.size:
            return False
        if same_style and step < 1.15 * layout.leading and above.x1 - above.x0 > 0.5 * line.width:
            return False
    if end < len(lines):
        below = lines[end]
        if below.page == line.page and abs(below.base - lines[end - 1].base) < 0.4 * line.size:
            return False
        small = below.size < 0.93 * layout.body_size and below.bold_share < 0.6
        if small and line.size < 0.97 * layout.body_size:
            return False
    return True


def _accepted(
    heading: Heading, layout: Layout, strong: Counter[Style], by_style: Counter[Style], body_bold: bool
) -> bool:
    if heading.outline_level is not None or heading.run_in:
        return True
    if heading.text.endswith(":") and heading.number is None and not _known(heading.text):
        return heading.style[0] >= layout.body_size + 0.9
    size, bold, italic, capitals = heading.style
    larger = size >= layout.body_size + 0.9
    distinct = larger or (bold and not body_bold) or capitals
    if layout.outline and strong:
        # With an outline that was found, only its styles and clear numbering add to it.
        if heading.style in strong:
            return distinct or (italic and heading.number is not None) or _known(heading.text)
        return heading.number is not None and distinct
    if _known(heading.text):
        return distinct or heading.number is not None or _gap_above(layout, heading.start) > 1.3 * layout.leading
    if heading.style in strong and distinct:
        return True
    if heading.number is not None:
        return distinct or (italic and by_style[heading.style] >= 2)
    if larger or (bold and not body_bold):
        return _gap_above(layout, heading.start) > 1.15 * layout.leading or by_style[heading.style] >= 3
    if italic or capitals:
        return _gap_above(layout, heading.start) > 1.25 * layout.leading and by_style[heading.style] >= 2
    return False


def _gap_above(layout: Layout, index: int) -> float:
    """Distance to the baseline above, large at the top of a page or column."""
    if index == 0:
        return 99.0
    above, line = layout.lines[index - 1], layout.lines[index]
    if above.page != line.page or above.block != line.block:
        return 99.0
    return line.base - above.base
