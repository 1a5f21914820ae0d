"""A PDF document as lines in reading order, with the properties of its body text."""

import itertools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from monjyu_assets.parsing.formats.pdf.page.columns import body_edges, gutters, reading_order
from monjyu_assets.parsing.formats.pdf.page.lines import Line, page_lines
from monjyu_assets.parsing.formats.pdf.read.characters import Font, PageChars
from monjyu_assets.parsing.formats.pdf.read.geometry import Link
from monjyu_core.text.search_text import count_wide

# Furniture of a page: running heads, page numbers, line numbers, repeated side text.
_PAGE_NUMBER = re.compile(
    r"(?:page\s*)?[-\u2013\u2014\[(]?\s*(?:[ivxlc]{1,6}|\d{1,5})\s*[-\u2013\u2014\])]?(?:\s*(?:of|/)\s*\d{1,4})?", re.I
)
_DIGITS = re.compile(r"\d+")
_NUMBERED = re.compile(r"\[?\d{1,3}[\].]\s")
MARGIN = 0.12
"""The share of the page height, at top and bottom, that is searched for running heads."""


def remove_furniture(pages: list[list[Line]], heights: list[float]) -> tuple[list[list[Line]], list[list[Line]]]:
    """The lines of each page without furniture, and the furniture."""
    repeated = _repeated(pages, heights)
    numbers = _line_numbers(pages) | _numbered_heads(pages, heights)
    kept_pages: list[list[Line]] = []
    removed_pages: list[list[Line]] = []
    for number, (lines, height) in enumerate(zip(pages, heights, strict=True)):
        marks = {i for i, line in enumerate(lines) if (number, i) in repeated or (number, i) in numbers}
        marks |= _page_numbers(lines, height, marks)
        kept_pages.append([line for i, line in enumerate(lines) if i not in marks])
        removed_pages.append([lines[i] for i in sorted(marks)])
    return kept_pages, removed_pages


def _shape(text: str) -> str:
    return "".join(_DIGITS.sub("#", text).split()).casefold()


def _repeated(pages: list[list[Line]], heights: list[float]) -> set[tuple[int, int]]:
    """Lines with the same words in the same size at the same height on several pages (margins), or in the same position
    on most pages (anywhere)."""
    margin: dict[str, list[tuple[int, int, Line]]] = defaultdict(list)
    anywhere: dict[tuple[str, int, int], list[tuple[int, int]]] = defaultdict(list)
    for number, (lines, height) in enumerate(zip(pages, heights, strict=True)):
        edges = _edge_rows(lines)
        for i, line in enumerate(lines):
            shape = _shape(line.text)
            if sum(map(str.isalpha, shape)) < 2:
                continue  # numbers alone: page numbers, labels of list entries, cells
            if line.base < MARGIN * height or line.base > (1 - MARGIN) * height or round(line.base) in edges:
                margin[shape].append((number, i, line))
            anywhere[shape, round(line.x0 / 3), round(line.base / 3)].append((number, i))
    found: set[tuple[int, int]] = set()
    for shape, places in margin.items():
        for number, i, line in places:
            near = {n for n, _, o in places if abs(o.base - line.base) < 4 and abs(o.size - line.size) < 2}
            if len(near) >= (2 if len(shape) > 6 else 3):
                found.add((number, i))
    for group in anywhere.values():
        if len({number for number, _ in group}) >= max(3, 0.5 * len(pages)):
            found.update(group)
    return found


def _edge_rows(lines: list[Line]) -> set[int]:
    """Baselines, in whole points, of the two highest and two lowest rows; small pages may lie on large sheets."""
    rows = sorted({round(line.base) for line in lines})
    return {*rows[:2], *rows[-2:]}


def _page_numbers(lines: list[Line], height: float, marks: set[int]) -> set[int]:
    """Numbers alone on a line at the top or bottom of the page, beyond all text that is not furniture."""
    rest = [line for i, line in enumerate(lines) if i not in marks and not _PAGE_NUMBER.fullmatch(line.text.strip())]
    top = min((line.base for line in rest), default=height)
    bottom = max((line.base for line in rest), default=0.0)
    found: set[int] = set()
    for i, line in enumerate(lines):
        outside = line.base <= top + 2 or line.base >= bottom - 2
        in_margin = line.base < MARGIN * height or line.base > (1 - MARGIN) * height
        if i not in marks and outside and in_margin and _PAGE_NUMBER.fullmatch(line.text.strip()):
            labels = any(abs(other.base - line.base) < 2 and 0 < other.x0 - line.x1 < 40 for other in rest)
            if not labels:
                found.add(i)
    return found


def _numbered_heads(pages: list[list[Line]], heights: list[float]) -> set[tuple[int, int]]:
    """The outermost rows that begin or end with a page number: one that rises with the pages on at least two of
    them."""
    rows: list[tuple[int, set[int], set[int]]] = []
    for page, (lines, height) in enumerate(zip(pages, heights, strict=True)):
        for top in (True, False):
            row = _outer_row(lines, height, top)
            ends = [word for i in row for word in (lines[i].text.split()[0], lines[i].text.split()[-1])]
            offsets = {int(word) - page for word in ends if re.fullmatch(r"\d{1,4}", word)}
            if row and offsets - ({1} if page == 0 else set()):
                rows.append((page, row, offsets))
    votes = Counter(offset for _, _, offsets in rows for offset in offsets)
    counted = {offset for offset, count in votes.items() if count >= 2} | {1}  # 1: the number of the page itself
    of_page: dict[int, list[tuple[set[int], set[int]]]] = defaultdict(list)
    for page, row, offsets in rows:
        of_page[page].append((row, offsets))
    found: set[tuple[int, int]] = set()
    for page, row, offsets in rows:
        elsewhere = any(own != row and offsets & counted & held for own, held in of_page[page])
        if offsets & counted and not (_may_be_heading(pages[page], row) and elsewhere):
            found.update((page, i) for i in row)
    return found


def _may_be_heading(lines: list[Line], row: set[int]) -> bool:
    """Whether the row begins with a number and is bold or larger than the page's type: "2 Methods" on page 2, which is
    numbered below."""
    own = sorted((lines[i] for i in row), key=lambda line: line.x0)
    text = " ".join(line.text for line in own)
    size = sorted(line.size for line in lines)[len(lines) // 2]
    emphasised = all(line.bold_share > 0.6 or line.size > 1.08 * size for line in own) or text.isupper()
    return emphasised and re.match(r"\d{1,2}\.?\s+[^\W\d_]", text) is not None


def _outer_row(lines: list[Line], height: float, top: bool) -> set[int]:
    """The highest or lowest row, if it lies in the margin and apart from the text."""
    if len(lines) < 3:
        return set()
    edge = min(line.base for line in lines) if top else max(line.base for line in lines)
    row = {i for i, line in enumerate(lines) if abs(line.base - edge) < 2}
    rest = [abs(line.base - edge) for i, line in enumerate(lines) if i not in row]
    size = max(lines[i].size for i in row)
    margin = edge < 1.5 * MARGIN * height if top else edge > (1 - 1.5 * MARGIN) * height
    return row if rest and margin and min(rest) > 1.7 * size and len(row) < 5 else set()


def _line_numbers(pages: list[list[Line]]) -> set[tuple[int, int]]:
    """Columns of rising integers in the margin, at least five on a page or only multiples of five, on at least half of
    the pages."""
    found: set[tuple[int, int]] = set()
    pages_with: dict[int, int] = {}
    for number, lines in enumerate(pages):
        integers = [(i, line) for i, line in enumerate(lines) if re.fullmatch(r"\d{1,5}", line.text)]
        edges = Counter(round(line.x1 / 4) for _, line in integers)
        if not edges:
            continue
        edge, count = min(edges.items(), key=lambda item: (-item[1], item[0]))
        column = [(i, line) for i, line in integers if abs(round(line.x1 / 4) - edge) <= 1]
        values = [int(line.text) for _, line in sorted(column, key=lambda item: item[1].base)]
        rising = sum(1 for a, b in itertools.pairwise(values) if 0 < b - a <= 5)
        others = [line for i, line in enumerate(lines) if (i, line) not in column and len(line.text) > 10]
        left = sum(1 for line in others if line.x0 < min(c.x1 for _, c in column))
        right = sum(1 for line in others if line.x1 > max(c.x0 for _, c in column))
        outside = min(left, right) <= 0.05 * max(1, len(others))
        stepped = len(values) > 1 and all(
            value % 5 == 0 and value - values[0] == 5 * k for k, value in enumerate(values)
        )
        if (
            (count >= 5 or stepped)
            and rising >= 0.9 * (len(values) - 1)
            and outside
            and len(column) >= 0.1 * len(others)
        ):
            pages_with[number] = edge
            found.update((number, i) for i, _ in column)
    if len(pages_with) < 0.5 * len(pages):
        return set()
    edges_with = set(pages_with.values())  # the last page of a part has few lines
    for number, lines in enumerate(pages):
        own = [(number, i) for i, line in enumerate(lines) if re.fullmatch(r"\d{1,5}", line.text)]
        texts = [line for line in lines if len(line.text) > 10]
        at_edge = [at for at in own if round(lines[at[1]].x1 / 4) in edges_with]
        beside = texts and all(lines[i].x1 < min(line.x0 for line in texts) for _, i in at_edge)
        if number not in pages_with and (len(own) >= 0.8 * len(texts) or beside):
            found.update(at_edge)
    return found


_NO_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class OutlineItem:
    """A bookmark: its title, its level (0 is the top) and its page (from 1; None if it leads nowhere)."""

    title: str
    level: int
    page: int | None


@dataclass
class Layout:
    """Lines of the text in reading order; `asides` are narrow side columns, `furniture` are lines that are repeated on
    the pages."""

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
    """The most frequent distance between the baselines of body lines."""
    steps = [
        round(b.base - a.base, 1)
        for a, b in itertools.pairwise(lines)
        if a.page == b.page and a.block == b.block and 0.8 * body_size < b.base - a.base < 3 * body_size
        and abs(a.size - body_size) < 0.6 and abs(b.size - body_size) < 0.6
    ]  # fmt: skip
    return Counter(steps).most_common(1)[0][0] if steps else 1.2 * body_size


def _aside_columns(lines: list[Line], body_size: float, edges: tuple[float, float]) -> set[int]:
    """Columns next to the text: narrow, and outside its edges or entirely in smaller type."""
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
        if _count(own) > 2 and _count(line for line in lines if line.column != column) > 2:
            continue  # a numbered list of references continues in it
        if narrow and characters < 0.4 * total and (outside or small > 0.85 * characters):
            result.add(column)
    return result if result != columns else set()  # a page in small type: a list of references in three columns


def _count(lines: Iterable[Line]) -> int:
    return sum(_NUMBERED.match(line.text) is not None for line in lines)


def squeezed(text: str) -> str:
    """The letters and digits of a text without accents and case, for comparing texts from different sources."""
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKD", text).casefold())
