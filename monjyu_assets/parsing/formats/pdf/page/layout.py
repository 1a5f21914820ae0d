"""A PDF document as lines in reading order, with the known facts about its body text."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from monjyu_assets.parsing.formats.pdf.page.columns import body_edges, gutters, reading_order
from monjyu_assets.parsing.formats.pdf.page.furniture import remove_furniture
from monjyu_assets.parsing.formats.pdf.page.lines import Line, page_lines
from monjyu_assets.parsing.formats.pdf.read.characters import Font, PageChars
from monjyu_assets.parsing.formats.pdf.read.links import Link
from monjyu_core.text.search_text import count_wide

_NO_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class OutlineItem:
    """A bookmark: its title, its level (0 = top) and its page (1-based, None where it leads nowhere)."""

    title: str
    level: int
    page: int | None


@dataclass
class Layout:
    """Lines of the text in reading order; `asides` are narrow side columns, `furniture` is what pages repeat."""

    pages: list[PageChars]
    fonts: list[Font]
    lines: list[Line]
    asides: list[Line]
    furniture: list[Line]
    body_size: float
    leading: float
    outline: list[OutlineItem] = field(default_factory=list)
    info: dict[str, str] = field(default_factory=dict)
    unread_pages: list[int] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    @cached_property
    def extents(self) -> dict[tuple[int, int], tuple[float, float]]:
        """Smallest x0 and largest x1 of the lines of each (page, block)."""
        result: dict[tuple[int, int], tuple[float, float]] = {}
        for line in self.lines:
            left, right = result.get((line.page, line.block), (line.x0, line.x1))
            result[line.page, line.block] = min(left, line.x0), max(right, line.x1)
        return result


def build_layout(pages: list[PageChars], fonts: list[Font], outline: list[OutlineItem], info: dict[str, str]) -> Layout:
    """Find lines, columns and furniture of the pages."""
    found = [page_lines(page, fonts) for page in pages]
    kept, removed = remove_furniture(found, [page.height for page in pages])
    body_size = body_font_size(kept)
    edges = body_edges(kept)
    lines: list[Line] = []
    asides: list[Line] = []
    for page, own, page_gutters in zip(pages, kept, gutters(kept), strict=True):
        ordered = reading_order(page, own, page_gutters, fonts)
        side = _aside_columns(ordered, body_size, edges)
        lines += [line for line in ordered if line.full_width or line.column not in side]
        asides += [line for line in ordered if not line.full_width and line.column in side]
    return Layout(
        pages, fonts, lines, asides, [line for page_removed in removed for line in page_removed],
        body_size, _leading(lines, body_size), outline, info,
    )  # fmt: skip


def body_font_size(pages: list[list[Line]]) -> float:
    """The size, to half a point, in which most characters are set."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[round(line.size * 2) / 2] += len(line.text) + count_wide(line.text)  # a wide character counts as two
    return max(sizes.items(), key=lambda item: (item[1], item[0]))[0] if sizes else 10.0


def _leading(lines: list[Line], body_size: float) -> float:
    """Median distance of baselines of body lines."""
    steps = [
        round(b.base - a.base, 1)
        for a, b in itertools.pairwise(lines)
        if a.page == b.page and a.block == b.block and 0.8 * body_size < b.base - a.base < 3 * body_size
        and abs(a.size - body_size) < 0.6 and abs(b.size - body_size) < 0.6
    ]  # fmt: skip
    return Counter(steps).most_common(1)[0][0] if steps else 1.2 * body_size


def _aside_columns(lines: list[Line], body_size: float, edges: tuple[float, float]) -> set[int]:
    """Columns beside the text: narrow, and outside its edges or all in smaller type."""
    total = sum(len(line.text) for line in lines)
    result: set[int] = set()
    columns = {line.column for line in lines if not line.full_width}
    if len(columns) < 2:
        return result
    page_width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    for column in columns:
        own = [line for line in lines if line.column == column and not line.full_width]
        x0, x1 = min(line.x0 for line in own), max(line.x1 for line in own)
        narrow = x1 - x0 < 0.36 * page_width
        outside = x1 < edges[0] + 5 or x0 > edges[1] - 5
        small = sum(len(line.text) for line in own if line.size < 0.93 * body_size)
        characters = sum(len(line.text) for line in own)
        if narrow and characters < 0.4 * total and (outside or small > 0.85 * characters):
            result.add(column)
    return result if result != columns else set()  # a page in small type: a list of references in three columns


def squeezed(text: str) -> str:
    """Letters and digits only, without accents and case: for comparing texts from different sources."""
    if text.isascii():
        return _NO_LETTERS.sub("", text.casefold())
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return _NO_LETTERS.sub("", "".join(c for c in decomposed if not unicodedata.combining(c)))
