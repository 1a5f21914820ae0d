"""Sections with their text, each character traceable to its page."""

from __future__ import annotations

import re
from dataclasses import dataclass

from monjyu_assets.parsing.headings import section_type
from monjyu_assets.parsing.pdf.front import Front, Piece
from monjyu_assets.parsing.pdf.heading import Heading
from monjyu_assets.parsing.pdf.layout import Layout
from monjyu_assets.parsing.pdf.lines import Line
from monjyu_assets.parsing.pdf.paragraphs import Edges, begins_paragraph, column_edges
from monjyu_assets.parsing.pdf.text import MappedText, join_lines
from monjyu_core.paper import Section


@dataclass
class MappedSection:
    """A section and the way from its text back to the page."""

    section: Section
    text: MappedText


def build_sections(
    layout: Layout, front: Front, headings: list[Heading], body: list[int], words: set[str]
) -> list[MappedSection]:
    """The abstract, the text in front of the first heading (if any), and a section a heading.

    `body` are the lines of running text, in order.
    """
    edges = column_edges(layout)
    result: list[MappedSection] = []
    if front.abstract:
        result.append(_section(front.abstract_heading, 1, "abstract", front.abstract, layout, edges, words))
    starts = [heading.start for heading in headings]
    bounds = [*starts, len(layout.lines)]
    before = [i for i in body if not starts or i < starts[0]]
    if sum(len(layout.lines[i].text) for i in before) > 200 or (before and not starts):
        result.append(_section("", 1, None, _pieces(layout, before), layout, edges, words))
    for number, heading in enumerate(headings):
        own = [i for i in body if heading.start < i < bounds[number + 1]]
        pieces = _pieces(layout, own)
        if heading.run_in:
            line = layout.lines[heading.end - 1]
            pieces.insert(0, (line, heading.run_in, len(line.text)))
        made = _section(heading.text, heading.level, None, pieces, layout, edges, words)
        made.section.page_start = layout.lines[heading.start].page
        made.section.page_end = made.section.page_end or layout.lines[heading.end - 1].page
        result.append(made)
    return result


def _pieces(layout: Layout, indices: list[int]) -> list[Piece]:
    return [(layout.lines[i], 0, len(layout.lines[i].text)) for i in indices]


def _section(
    heading: str,
    level: int,
    kind: str | None,
    pieces: list[Piece],
    layout: Layout,
    edges: Edges,
    words: set[str],
) -> MappedSection:
    marked: list[tuple[Line, int, int, bool]] = []
    above: Line | None = None
    for line, start, stop in pieces:
        while start < stop and line.text[start] == " ":
            start += 1
        begins = above is not None and begins_paragraph(above, line, edges, layout.leading)
        marked.append((line, start, stop, begins))
        above = line
    text = join_lines(marked, words)
    pages = [line.page for line, _, _ in pieces]
    section = Section(
        heading=re.sub(r"\s+", " ", heading).strip(), level=level,
        section_type="abstract" if kind == "abstract" else section_type(heading),
        page_start=min(pages, default=None), page_end=max(pages, default=None), text=text.text,
    )  # fmt: skip
    return MappedSection(section, text)


def body_lines(layout: Layout, first: int, last: int, taken: set[int]) -> list[int]:
    """Lines of running text in `first:last`: not `taken`, and not small type unless it is prose away from the foot."""
    result: list[int] = []
    i = first
    while i < last:
        if i in taken:
            i += 1
            continue
        line = layout.lines[i]
        if line.size >= 0.93 * layout.body_size:
            result.append(i)
            i += 1
            continue
        end = i
        while end < last and end not in taken and layout.lines[end].size < 0.93 * layout.body_size:
            end += 1
        if _is_prose(layout, i, end, taken):
            result += range(i, end)
        i = end
    return result


def lines_in_images(layout: Layout, first: int, last: int) -> set[int]:
    """Lines drawn over an image that covers less than half of a page: the lettering of a figure."""
    result: set[int] = set()
    for i in range(first, last):
        line = layout.lines[i]
        page = layout.pages[line.page - 1]
        if page.turn:
            continue
        x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
        for x0, y0, x1, y1 in page.images:
            small = (x1 - x0) * (y1 - y0) < 0.5 * page.width * page.height
            if small and x0 <= x <= x1 and y0 <= y <= y1:
                result.add(i)
    return result


def _is_prose(layout: Layout, start: int, end: int, taken: set[int]) -> bool:
    """Three or more lines of sentences in small type, with text of the body below them in the same column."""
    lines = layout.lines[start:end]
    if len(lines) < 3 or (start - 1) in taken or any(len(line.pieces) > 1 for line in lines[:3]):
        return False
    text = " ".join(line.text for line in lines)
    if sum(c.isalpha() for c in text) < 0.7 * len(text) or len(text) < 40 * len(lines):
        return False
    last = lines[-1]
    below = layout.lines[end] if end < len(layout.lines) else None
    return below is not None and below.page == last.page and below.block == last.block
