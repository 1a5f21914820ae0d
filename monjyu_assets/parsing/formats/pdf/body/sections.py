"""Sections with their text; each character can be traced to its page."""

import re
from collections import defaultdict
from dataclasses import dataclass, field

from monjyu_assets.parsing.formats.pdf.body.heading import Heading
from monjyu_assets.parsing.formats.pdf.front.first_page import Front, Piece
from monjyu_assets.parsing.formats.pdf.page.equations import Display
from monjyu_assets.parsing.formats.pdf.page.footnotes import Footnote, marker_end
from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.formats.pdf.page.text import MappedText, Part, join_parts
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_assets.parsing.text.line_ends import Words
from monjyu_core.paper import Section

# Lines of a section joined into paragraphs.
_BULLET = re.compile(
    r"(?:[\u2022\u25cf\u25cb\u25aa\u25e6\u2023\u25a0\uf0b7]|[-\u2013*](?=\s)|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)](?=\s))"
)
_TERMINAL = re.compile(r"[.?!:\u3002][)\]\"\u201d\u2019]*(?:\s*\[[\d,\s\u2013-]+\])?\d{0,3}$")

Edges = dict[tuple[int, int], tuple[float, float]]


def column_edges(layout: Layout) -> Edges:
    """Return the edges of each block: (page, block) -> the smallest x at which a quarter of its lines start, the
    largest x at which a line ends."""
    lefts: dict[tuple[int, int], list[float]] = defaultdict(list)
    rights: dict[tuple[int, int], list[float]] = defaultdict(list)
    for line in layout.lines:
        lefts[line.page, line.block].append(line.x0)
        rights[line.page, line.block].append(line.x1)
    edges: Edges = {}
    for key, values in lefts.items():
        rounded = sorted(round(v) for v in values)
        common = [x for x in sorted(set(rounded)) if rounded.count(x) >= 0.25 * len(rounded)]
        edges[key] = (float(common[0] if common else rounded[0]), max(rights[key]))
    return edges


def begins_paragraph(above: Line, line: Line, edges: Edges, leading: float) -> bool:
    """Whether `line` starts a paragraph: by a gap, an indent, a bullet, or a short line above that ends a sentence."""
    left, _ = edges[line.page, line.block]
    above_left, above_right = edges[above.page, above.block]
    ended = bool(_TERMINAL.search(above.text.rstrip()))
    indented = line.x0 > left + 0.7 * line.size
    short = above.x1 < above_right - 0.12 * (above_right - above_left)
    if above.page != line.page or above.block != line.block or line.base < above.base:
        return ended and (short or indented) and not line.text[:1].islower()
    step = line.base - above.base
    if step > 1.32 * max(leading, 1.1 * line.size):
        return ended or not line.text[:1].islower()
    above_indented = above.x0 > above_left + 0.7 * above.size
    if _BULLET.match(line.text) and (ended or above_indented != indented or short):
        return True
    if indented and not above_indented and not line.text[:1].islower():
        return True
    return short and ended


_SENTENCE_END = re.compile(r"[.?!\u3002][)\]\"\u201d\u2019]*\s*$")


@dataclass
class MappedSection:
    """A section with the mapping from its text to the page."""

    section: Section
    text: MappedText


@dataclass
class Body:
    """The lines of running text in order, with the display equations among them and the footnotes that go with them."""

    lines: list[int]
    displays: list[Display] = field(default_factory=list)
    notes: list[Footnote] = field(default_factory=list)


def build_sections(
    layout: Layout, front: Front, headings: list[Heading], body: Body, words: Words
) -> list[MappedSection]:
    """The abstract, the text before the first heading (if any), and one section per heading.

    Footnotes are paragraphs at the end of the section that refers to them.
    """
    maker = _Maker(layout, body, words)
    result: list[MappedSection] = []
    if front.abstract:
        result.append(maker.section(front.abstract_heading, 1, "abstract", maker.running(front.abstract)))
    starts = [heading.start for heading in headings]
    bounds = [*starts, len(layout.lines)]
    before = [i for i in body.lines if not starts or i < starts[0]]
    if before:
        parts = maker.running(_pieces(layout, before)) + maker.notes(-1, bounds[0])
        result.append(maker.section("", 1, None, parts))
    for number, heading in enumerate(headings):
        own = [i for i in body.lines if heading.start < i < bounds[number + 1]]
        pieces = _pieces(layout, own)
        if heading.run_in:
            line = layout.lines[heading.end - 1]
            pieces.insert(0, (line, heading.run_in, len(line.text)))
        since = heading.start if number or before else -1
        parts = maker.running(pieces) + maker.notes(since, bounds[number + 1])
        made = maker.section(heading.text, heading.level, None, parts)
        made.section.page_start = layout.lines[heading.start].page
        made.section.page_end = made.section.page_end or layout.lines[heading.end - 1].page
        result.append(made)
    return result


def _pieces(layout: Layout, indices: list[int]) -> list[Piece]:
    return [(layout.lines[i], 0, len(layout.lines[i].text)) for i in indices]


class _Maker:
    """Assembles sections from their parts."""

    def __init__(self, layout: Layout, body: Body, words: Words) -> None:
        self._layout, self._body, self._words = layout, body, words
        self._edges: Edges = column_edges(layout)
        lines = layout.lines
        self._heads = {id(lines[display.lines[0]]): display for display in body.displays}
        self._inner = {id(lines[i]) for display in body.displays for i in display.lines}

    def running(self, pieces: list[Piece]) -> list[Part]:
        """Parts of running text; a display equation becomes its number, or a sign that something was omitted."""
        parts: list[Part] = []
        above: Line | None = None
        for line, start, stop in pieces:
            if display := self._heads.get(id(line)):
                # A formula between two sentences belongs to neither.
                mark = self._display(display)
                if id(above) in self._inner and parts and parts[-1].start == parts[-1].stop:
                    parts[-1] = mark  # formulas stacked one below the other leave one mark
                elif id(above) in self._inner and mark.start == mark.stop:
                    pass
                elif parts and not _SENTENCE_END.search(parts[-1].line.text[: parts[-1].stop]):
                    parts.append(mark)
            elif id(line) not in self._inner:
                while start < stop and line.text[start] == " ":
                    start += 1
                begins = above is not None and begins_paragraph(above, line, self._edges, self._layout.leading)
                if start < stop:
                    parts.append(Part(line, start, stop, begins))
            above = line
        return parts

    def _display(self, display: Display) -> Part:
        tail = "." if display.ends_sentence else ""
        if display.number is None:
            return Part(self._layout.lines[display.lines[0]], 0, 0, tail=tail)
        i, start, stop = display.number
        return Part(self._layout.lines[i], start, stop, tail=tail)

    def notes(self, first: int, last: int) -> list[Part]:
        """The footnotes whose anchor is in `first:last`, each as a paragraph."""
        parts: list[Part] = []
        for note in self._body.notes:
            if first <= note.anchor < last:
                for k, i in enumerate(note.lines):
                    line = self._layout.lines[i]
                    cut = marker_end(line) if k == 0 else 0
                    if cut:
                        parts.append(Part(line, 0, cut, begins=True))
                    parts.append(Part(line, cut, len(line.text), begins=k == 0 and not cut))
        return parts

    def section(self, heading: str, level: int, kind: str | None, parts: list[Part]) -> MappedSection:
        text = join_parts(parts, self._words)
        pages = [part.line.page for part in parts]
        section = Section(
            heading=re.sub(r"\s+", " ", heading).strip(), level=level,
            section_type="abstract" if kind == "abstract" else section_type(heading),
            page_start=min(pages, default=None), page_end=max(pages, default=None), text=text.text,
        )  # fmt: skip
        return MappedSection(section, text)


def body_lines(layout: Layout, first: int, last: int, taken: set[int], after: set[int]) -> list[int]:
    """Return the lines of running text in `first:last`. Lines in `taken` and small type are omitted, except small type
    that is prose above other text of its column, or that begins at a line in `after` (below a known heading)."""
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
        if i in after or _is_prose(layout, i, end, taken):
            result += range(i, end)
        i = end
    return result


def lines_in_images(layout: Layout, first: int, last: int) -> set[int]:
    """Lines drawn over an image that covers less than half of a page: the lettering of a figure."""
    result: set[int] = set()
    for i in range(first, last):
        line = layout.lines[i]
        page = layout.pages[line.page - 1]
        x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
        for x0, y0, x1, y1 in page.drawn.images:
            small = (x1 - x0) * (y1 - y0) < 0.5 * page.width * page.height
            if small and x0 <= x <= x1 and y0 <= y <= y1:
                result.add(i)
    return result


def _is_prose(layout: Layout, start: int, end: int, taken: set[int]) -> bool:
    """Whether the lines are sentences, code or quotations in small type, with text of the body below them in the same
    column."""
    lines = layout.lines[start:end]
    if (start - 1) in taken or any(len(line.pieces) > 1 for line in lines[:3]):
        return False
    text = " ".join(line.text for line in lines)
    if sum(c.isalpha() for c in text) < 0.6 * len(text) or len(text) < 25 * len(lines):
        return False
    last = lines[-1]
    below = layout.lines[end] if end < len(layout.lines) else None
    return below is not None and below.page == last.page and below.block == last.block
