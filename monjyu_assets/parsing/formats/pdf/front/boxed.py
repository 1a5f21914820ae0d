"""Front matter of a paper, and the abstract that stands beside a column of notes on the article."""

from __future__ import annotations

from dataclasses import dataclass, field

from monjyu_assets.parsing.formats.pdf.body.heading import Heading
from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.text.labels import ABSTRACT, KEYWORDS

Piece = tuple[Line, int, int]
"""A line and the range of its characters."""


@dataclass
class Front:
    """`abstract` as line pieces; `used` are lines of the body that are part of the front matter."""

    abstract: list[Piece] = field(default_factory=list)
    abstract_heading: str = "Abstract"
    keywords: list[str] = field(default_factory=list)
    used: set[int] = field(default_factory=set)
    dropped: list[Heading] = field(default_factory=list)


def take_beside(layout: Layout, i: int, stop: int, front: Front) -> bool:
    """Fill `front` where line `i` holds the heading of the abstract behind a wide gap; False where it does not.

    The abstract is the text under the heading; the words to its left are notes, including the keywords.
    """
    line = layout.lines[i]
    gap = next((gap for gap in line.wide_gaps if ABSTRACT.fullmatch(line.text[gap + 1 :].strip())), None)
    if gap is None:
        return False
    left = _x(layout, line, gap + 1) - 4
    used, notes, above = [i], list[str](), line
    for k in range(i + 1, stop):
        below = layout.lines[k]
        start = _start(layout, below, left)
        near = below.page == line.page and 0 < below.base - above.base < 3.0 * max(above.size, 8)
        if not near or (start is None and below.x1 > left):
            break
        if start is not None:
            front.abstract.append((below, start, len(below.text)))
        notes.append(below.text[:start].strip() if start is not None else below.text)
        used.append(k)
        above = below
    if sum(stop - start for _, start, stop in front.abstract) < 60:
        front.abstract = []
        return False
    front.abstract_heading = line.text[gap + 1 :].strip()
    front.used.update(used)
    front.keywords = front.keywords or _keywords(notes)
    return True


def _x(layout: Layout, line: Line, place: int) -> float:
    row = next((int(row) for row in line.index[place:].tolist() if row >= 0), -1)
    return float(layout.pages[line.page - 1].x0[row]) if row >= 0 else line.x1


def _start(layout: Layout, line: Line, left: float) -> int | None:
    """Where the text under the heading begins: at a word behind a wide gap, or at the line's own beginning."""
    if left <= line.x0 < left + 30:
        return 0
    starts = [gap + 1 for gap in line.wide_gaps]
    return next((start for start in starts if left <= _x(layout, line, start) < left + 30), None)


def _keywords(notes: list[str]) -> list[str]:
    """Keywords, one a line, under "Keywords"."""
    for k, note in enumerate(notes):
        match = KEYWORDS.match(note)
        if match:
            words = [note[match.end() :], *notes[k + 1 :]]
            end = next((n for n, word in enumerate(words) if n and not word), len(words))
            parts = [part.strip(" .,") for word in words[:end] for part in word.split(";")]
            return [part for part in parts if 1 < len(part) < 80][:30]
    return []
