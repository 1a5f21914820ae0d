"""Finds captions of figures and tables, and the cells of tables, and removes them from the running text."""

import re
from collections import defaultdict
from dataclasses import dataclass, field

from monjyu_assets.parsing.formats.pdf.page.figures import FigureFinder
from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.formats.pdf.page.tables import TableFinder
from monjyu_assets.parsing.formats.pdf.page.text import join_lines
from monjyu_assets.parsing.formats.pdf.read.geometry import Area
from monjyu_assets.parsing.text.author_block import CAPTION
from monjyu_assets.parsing.text.line_ends import Words
from monjyu_core.paper import Box, Figure, Table


@dataclass
class Floats:
    """The removed lines (indices of `layout.lines`), and the figures and tables to which they belong."""

    taken: set[int] = field(default_factory=set)
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def find_floats(layout: Layout, first: int, last: int, headings: set[int], words: Words, doubtful: set[int]) -> Floats:
    """Captions among `layout.lines[first:last]` with their tables and figures, and grids without a caption.

    `headings` are lines that belong to no float, except cells of a ruled table that look like headings, and those of
    them that are `doubtful`: they may be labels in a figure. `words` decides whether hyphens at line ends of captions
    are kept.
    """
    result = Floats()
    captions = _captions(layout, first, last, headings)
    at = {i for start, end, _ in captions for i in range(start, end)}
    tables = TableFinder(layout, first, last, lambda i: i in at)
    drawings = FigureFinder(layout)
    fixed = (headings - doubtful) | at
    by_page: dict[int, list[int]] = defaultdict(list)
    for i, line in enumerate(layout.lines):
        by_page[line.page].append(i)
    result.taken |= at
    for start, end, is_table in captions:
        caption = join_lines([(line, 0, len(line.text), False) for line in layout.lines[start:end]], words).text
        used = list(range(start, end))
        if is_table:
            rows, more, cells = tables.beside(start, end, headings, result.taken)
            result.taken.update(rows, more)
            page, box = _box(layout, [layout.lines[i] for i in [*used, *rows]])
            result.tables.append(Table(page=page, box=box, caption=caption, headers=cells.headers, rows=cells.rows))
        else:
            result.figures.append(
                _figure(layout, used, caption, drawings, by_page[layout.lines[start].page], result, fixed)
            )
    for rows, cells in tables.grids(headings | result.taken):
        result.taken.update(rows)
        page, box = _box(layout, [layout.lines[i] for i in rows])
        result.tables.append(Table(page=page, box=box, headers=cells.headers, rows=cells.rows))
    result.tables.sort(key=lambda table: table.page or 0)
    return result


def _captions(layout: Layout, first: int, last: int, headings: set[int]) -> list[tuple[int, int, bool]]:
    """(start, end, whether of a table) of each caption."""
    found: list[tuple[int, int, bool]] = []
    i = first
    while i < last:
        match = CAPTION.match(layout.lines[i].text)
        if match is None or i in headings or not _is_caption(layout, i, match):
            i += 1
            continue
        end = _caption_end(layout, i, last, headings)
        found.append((i, end, match["table"] is not None))
        i = end
    return found


def _figure(
    layout: Layout,
    used: list[int],
    caption: str,
    drawings: FigureFinder,
    on_page: list[int],
    result: Floats,
    fixed: set[int],
) -> Figure:
    """The figure of a caption, together with short lines drawn over it, or between them (labels of axes)."""
    lines = layout.lines
    page, box = _box(layout, [lines[i] for i in used])
    own = [lines[i] for i in used if lines[i].page == page]
    area = (min(x.x0 for x in own), min(x.y0 for x in own), max(x.x1 for x in own), max(x.y1 for x in own))
    near = [i for i in on_page if i not in used]
    bounds = [lines[i] for i in near if i in fixed or i in result.taken or _is_prose(layout, lines[i])]
    bounds += [line for line in layout.furniture if line.page == page]
    region = drawings.region(area, page, bounds)
    if region is None:
        return Figure(page=page, box=box, caption=caption)
    union = tuple(f(a, b) for f, a, b in zip((min, min, max, max), area, region, strict=True))
    region = (region[0], min(region[1], area[3]), region[2], max(region[3], area[1]))
    for i in near:
        line = lines[i]
        x, y = (line.x0 + line.x1) / 2, line.base - 0.3 * line.size
        if region[0] <= x <= region[2] and region[1] <= y <= region[3] and i not in fixed and i not in result.taken:
            result.taken.add(i)
    return Figure(page=page, box=_shown(layout, page, (union[0], union[1], union[2], union[3])), caption=caption)


def _is_prose(layout: Layout, line: Line) -> bool:
    """Whether the line is running text, by its size and words."""
    return abs(line.size - layout.body_size) < 0.6 and line.text.count(" ") >= 4 and len(line.pieces) < 2


def _is_caption(layout: Layout, i: int, match: re.Match[str]) -> bool:
    """Whether the line is set apart from the text above, or in another face; "Figure 3 shows" within a paragraph is not
    a caption."""
    line = layout.lines[i]
    label_bold = line.bold[0] and not all(line.bold)
    other_size = abs(line.size - layout.body_size) > 0.4
    marked = match.group("mark") is not None
    if label_bold or (other_size and line.size < layout.body_size):
        return True
    if i == 0:
        return marked
    above = layout.lines[i - 1]
    near = above.page == line.page and above.block == line.block and 0 <= line.base - above.base < 1.2 * layout.leading
    runs_on = near and above.width > 0.8 * line.width and not re.search(r"[.:?!]$", above.text)
    if marked:
        return not runs_on
    return not near and len(line.text) < len(match.group()) + 4


def _caption_end(layout: Layout, start: int, last: int, headings: set[int]) -> int:
    first = layout.lines[start]
    end = start + 1
    limit = 1.35 * max(first.size * 1.25, layout.leading if abs(first.size - layout.body_size) < 0.4 else 0)
    while end < last and end not in headings:
        above, line = layout.lines[end - 1], layout.lines[end]
        step = line.base - above.base
        if line.page != first.page or step <= 0 or step > limit or abs(line.size - first.size) > 0.35:
            break
        right = layout.extents[line.page, line.block][1]
        if above.text.rstrip().endswith(".") and (
            above.x1 < right - 2 * above.size or line.x0 > above.x0 + 0.7 * line.size
        ):
            break
        if line.x0 > above.x1 or line.x1 < above.x0 or CAPTION.match(line.text) or len(line.pieces) > 2:
            break
        end += 1
    return end


def _box(layout: Layout, lines: list[Line]) -> tuple[int, Box]:
    page = lines[0].page
    own = [line for line in lines if line.page == page]
    box = (min(x.x0 for x in own), min(x.y0 for x in own), max(x.x1 for x in own), max(x.y1 for x in own))
    return page, _shown(layout, page, box)


def _shown(layout: Layout, page: int, box: Area) -> Box:
    """Convert a box from the reading frame to the displayed page."""
    x0, y0, x1, y1 = layout.pages[page - 1].to_page(box)
    return (round(x0, 2), round(y0, 2), round(x1, 2), round(y1, 2))
