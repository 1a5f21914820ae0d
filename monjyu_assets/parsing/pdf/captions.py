"""Captions of figures and tables, and the cells of tables, taken out of the running text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from monjyu_assets.parsing.pdf.layout import Layout
from monjyu_assets.parsing.pdf.lines import Line
from monjyu_core.paper import Box, Figure, Table

_CAPTION = re.compile(
    r"(?P<kind>(?:supplementary |extended data |appendix )?"
    r"(?:fig(?:ure|\.|s\.)?|table|scheme|plate|図|表|写真))\s*\.?\s*"
    r"(?P<number>S?\d{1,3}[a-z]?|[IVX]{1,5}\b|[A-Z]\.?\d{1,2})\s*(?P<mark>[.:|\u2013\u2014)-])?", re.I,
)  # fmt: skip


@dataclass
class Floats:
    """What was taken out: indices into `layout.lines`, and the figures and tables they belong to."""

    taken: set[int] = field(default_factory=set)
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)


def find_floats(layout: Layout, first: int, last: int, headings: set[int]) -> Floats:
    """Captions among `layout.lines[first:last]`; `headings` are lines that are none."""
    result = Floats()
    i = first
    while i < last:
        match = _CAPTION.match(layout.lines[i].text)
        if match is None or i in headings or i in result.taken or not _is_caption(layout, i, match):
            i += 1
            continue
        end = _caption_end(layout, i, last, headings)
        caption = " ".join(line.text for line in layout.lines[i:end])
        rows: list[int] = []
        is_table = match.group("kind").casefold().split()[-1][:3] in ("tab", "表")
        if is_table:
            rows = _table_rows(layout, i, end, first, last, headings)
        used = [*range(i, end), *rows]
        result.taken.update(used)
        page, box = _box(layout, [layout.lines[k] for k in used])
        if is_table:
            cells = [_cells(layout.lines[k]) for k in sorted(rows)]
            header = cells[0] if cells else []
            result.tables.append(Table(page=page, box=box, caption=caption, headers=header, rows=cells[1:]))
        else:
            result.figures.append(Figure(page=page, box=box, caption=caption))
        i = end
    return result


def _is_caption(layout: Layout, i: int, match: re.Match[str]) -> bool:
    """Set apart from the text above, or in another face; "Figure 3 shows" within a paragraph is none."""
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
        if line.x0 > above.x1 or line.x1 < above.x0 or _CAPTION.match(line.text) or len(line.pieces) > 2:
            break
        end += 1
    return end


def _table_rows(layout: Layout, start: int, end: int, first: int, last: int, headings: set[int]) -> list[int]:
    below = _rows(layout, range(end, min(last, end + 90)), layout.lines[end - 1], headings)
    if below:
        return below
    return _rows(layout, range(start - 1, max(first, start - 90) - 1, -1), layout.lines[start], headings, strict=True)


def _rows(layout: Layout, order: range, start: Line, headings: set[int], strict: bool = False) -> list[int]:
    rows: list[int] = []
    previous = start
    pending: list[int] = []
    for i in order:
        line = layout.lines[i]
        far = abs(line.base - previous.base) > 4 * layout.leading
        if line.page != start.page or i in headings or far or _CAPTION.match(line.text):
            break
        cells = len(line.pieces) > 1 or (line.size < 0.93 * layout.body_size and not strict)
        short = line.width < 0.5 * _column_width(layout, line)
        if cells:
            rows += [*pending, i]
            pending = []
        elif short and len(pending) < 3:
            pending.append(i)
        else:
            break
        previous = line
    return rows


def _column_width(layout: Layout, line: Line) -> float:
    left, right = layout.extents[line.page, line.block]
    return right - left


def _cells(line: Line) -> list[str]:
    return line.cells or [line.text]


def _box(layout: Layout, lines: list[Line]) -> tuple[int, Box]:
    page = lines[0].page
    own = [line for line in lines if line.page == page]
    box = (min(x.x0 for x in own), min(x.y0 for x in own), max(x.x1 for x in own), max(x.y1 for x in own))
    shown = layout.pages[page - 1].to_page(box)
    return page, (round(shown[0], 2), round(shown[1], 2), round(shown[2], 2), round(shown[3], 2))
