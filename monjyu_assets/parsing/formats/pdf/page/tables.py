"""Tables of a page: between rules, in grids, or rows of cells next to a caption."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from monjyu_assets.parsing.formats.pdf.page.cells import Cells, read_cells
from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.formats.pdf.page.ruled import (
    Region,
    Rules,
    framed_region,
    grid_regions,
    is_prose,
    page_rules,
)
from monjyu_assets.parsing.formats.pdf.read.geometry import Area

BLOCK = 90
"""How many lines next to a caption are searched for rows."""


class TableFinder:
    """Tables among the free lines `first` to `last` of a layout; `is_caption` recognises the line of a caption."""

    def __init__(self, layout: Layout, first: int, last: int, is_caption: Callable[[int], bool]) -> None:
        self.layout, self.first, self.last, self.is_caption = layout, first, last, is_caption
        self._rules: dict[int, Rules] = {}

    @cached_property
    def _by_page(self) -> dict[int, list[int]]:
        pages: dict[int, list[int]] = {}
        for i in range(self.first, self.last):
            pages.setdefault(self.layout.lines[i].page, []).append(i)
        return pages

    def beside(self, start: int, end: int, headings: set[int], taken: set[int]) -> tuple[list[int], list[int], Cells]:
        """Lines of the table whose caption is `lines[start:end]`, those on the next page, and its cells.

        A frame of rules takes what looked like `headings` in it; lines that are `taken` belong to no table.
        """
        lines = self.layout.lines
        page = lines[start].page
        free = self._free(page, taken)
        x0, y0, x1, y1 = _extent([line for line in lines[start:end] if line.page == page])
        left, right = self.layout.extents[page, lines[start].block]
        place = (min(x0, left), y0, max(x1, right), y1)
        region = framed_region(self._page_rules(page), place, [lines[i] for i in free])
        inside = self._inside(free, region) if region else []
        if region and inside:
            inside += self._below_frame(inside, free, region)
            cells = self._cells(page, inside, region)
            more: list[int] = []
            last: list[int] = inside
            frame: Region | None = region
            while frame is not None:
                page += 1
                last, frame = self._continued(page, last, frame, cells, taken)
                more += last
            return inside, more, cells
        rows = sorted(self._unruled(start, end, headings | taken))
        cells = self._cells(page, rows, Region(_extent([lines[i] for i in rows]))) if rows else Cells([], [], False)
        return rows, [], cells if cells.clear else Cells([], [], False)

    def _free(self, page: int, taken: set[int]) -> list[int]:
        return [i for i in self._by_page.get(page, ()) if i not in taken and not self.is_caption(i)]

    def _inside(self, free: list[int], region: Region) -> list[int]:
        """Lines of a region, without headings in large type."""
        most = 1.15 * self.layout.body_size
        return [i for i in free if region.holds(self.layout.lines[i]) and self.layout.lines[i].size < most]

    def _continued(
        self, page: int, above: list[int], frame: Region, cells: Cells, taken: set[int]
    ) -> tuple[list[int], Region | None]:
        """Rows of a table that reaches the end of the page before, put to `cells`: a frame as wide opens this page."""
        lines = self.layout.lines
        bottom = max(lines[i].base for i in above)
        x0, _, x1, _ = frame.box
        rest = self._free(page - 1, taken)
        below = any(lines[i].base > bottom + 1 and x0 < lines[i].x1 and lines[i].x0 < x1 for i in rest)
        free = self._free(page, taken)
        wide = [rule for rule in self._page_rules(page).level if rule[2] - rule[0] > 0.9 * (x1 - x0)] if free else []
        top = min((rule[1] for rule in wide), default=0.0)
        if below or not wide or any(lines[i].base < top for i in free):
            return [], None
        found = framed_region(self._page_rules(page), (x0, top - 5, x1, top - 4), [lines[i] for i in free])
        own = self._inside(free, found) if found else []
        if not found or not own:
            return [], None
        read = self._cells(page, own, found)
        cells.rows += read.rows if read.headers == cells.headers else [read.headers, *read.rows]
        return own, found

    def grids(self, taken: set[int]) -> list[tuple[list[int], Cells]]:
        """Full grids that belong to no caption and have text in most fields."""
        found: list[tuple[list[int], Cells]] = []
        for page, numbers in self._by_page.items():
            if not self.layout.pages[page - 1].drawn.rules:
                continue
            for region in grid_regions(self._page_rules(page)):
                inside = [i for i in numbers if region.holds(self.layout.lines[i])]
                if not inside or taken & set(inside):
                    continue
                cells = self._cells(page, inside, region)
                fields = [field for row in [cells.headers, *cells.rows] for field in row]
                if len(cells.rows) >= 1 and sum(map(bool, fields)) >= 0.5 * len(fields):
                    taken = taken | set(inside)
                    found.append((inside, cells))
        return found

    def _page_rules(self, page: int) -> Rules:
        if page > len(self.layout.pages):
            return Rules([], [])
        if page not in self._rules:
            self._rules[page] = page_rules(self.layout.pages[page - 1].drawn.rules)
        return self._rules[page]

    def _cells(self, page: int, numbers: list[int], region: Region) -> Cells:
        own = [self.layout.lines[i] for i in numbers]
        if region.levels:  # a column of a wide table may look like a column beside the text
            own += [line for line in self.layout.asides if line.page == page and region.holds(line)]
        return read_cells(self.layout.pages[page - 1], self.layout.fonts, own, region)

    def _below_frame(self, inside: list[int], free: list[int], region: Region) -> list[int]:
        """Rows under a frame that closes only the head of its table, until running text or a wide gap."""
        lines = self.layout.lines
        if len(region.levels) > 2 or len({round(lines[i].base) for i in inside}) > 3:
            return []
        x0, _, x1, bottom = region.box
        below = sorted((i for i in free if lines[i].base > bottom and x0 < lines[i].x1 and lines[i].x0 < x1),
                       key=lambda i: lines[i].base)  # fmt: skip
        rows: list[int] = []
        last = bottom
        for i in below:
            line = lines[i]
            if line.base - last > 2.2 * self.layout.leading or is_prose(line, (x0, bottom, x1)):
                break
            if line.size > 1.15 * self.layout.body_size or not x0 - 6 < line.x0 or not line.x1 < x1 + 6:
                break
            rows.append(i)
            last = line.base
        several = len({lines[i].column for i in rows}) > 1 or any(len(lines[i].pieces) > 1 for i in rows)
        return rows if several else []

    def _unruled(self, start: int, end: int, taken: set[int]) -> list[int]:
        lines = self.layout.lines
        below = self._rows(range(end, min(self.last, end + BLOCK)), lines[end - 1], taken)
        if below:
            return below
        return self._rows(range(start - 1, max(self.first, start - BLOCK) - 1, -1), lines[start], taken, strict=True)

    def _rows(self, order: range, start: Line, taken: set[int], strict: bool = False) -> list[int]:
        """Lines in several pieces, in small type (not if `strict`) or short, until running text."""
        rows: list[int] = []
        pending: list[int] = []
        previous = start
        for i in order:
            line = self.layout.lines[i]
            far = abs(line.base - previous.base) > 4 * self.layout.leading
            if line.page != start.page or i in taken or far or self.is_caption(i):
                break
            cells = len(line.pieces) > 1 or (line.size < 0.93 * self.layout.body_size and not strict)
            if cells:
                rows += [*pending, i]
                pending = []
            elif self._is_short(line) and len(pending) < 3:
                pending.append(i)
            else:
                break
            previous = line
        return rows

    def _is_short(self, line: Line) -> bool:
        left, right = self.layout.extents[line.page, line.block]
        return line.width < 0.5 * (right - left)


def _extent(lines: list[Line]) -> Area:
    return (
        min(line.x0 for line in lines),
        min(line.y0 for line in lines),
        max(line.x1 for line in lines),
        max(line.y1 for line in lines),
    )
