"""The cells of a table from the places of its characters."""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from monjyu_assets.parsing.formats.pdf.page.lines import Line, make_line
from monjyu_assets.parsing.formats.pdf.page.ruled import Region
from monjyu_assets.parsing.formats.pdf.read.characters import Font, PageChars
from monjyu_assets.parsing.formats.pdf.read.geometry import Floats, Ints

CELL_GAP = 0.55
"""Gap between two characters of a row, in font sizes, at which a cell may end."""
MAX_COLUMNS = 60


@dataclass
class _Chunk:
    """Neighbouring characters of a row."""

    x0: float
    x1: float
    rows: Ints


@dataclass
class _Row:
    """Chunks on one baseline."""

    base: float
    size: float
    chunks: list[_Chunk]


@dataclass
class Cells:
    """Texts by row and column; `clear` where most rows fill several columns."""

    headers: list[str]
    rows: list[list[str]]
    clear: bool


def read_cells(page: PageChars, fonts: list[Font], lines: list[Line], region: Region) -> Cells:
    """Rows and columns of the lines of a table; wrapped cells are joined.

    Columns are separated by white that only headings over several columns cross, or are the fields of a full grid.
    """
    rows = _rows(page, lines, region.uprights)
    if not rows:
        return Cells([], [], False)
    head = _header_count(rows, region)
    columns = _grid_columns(region) or _with_sparse(_columns(rows[head:] or rows), rows)
    if not columns or len(columns) > MAX_COLUMNS:
        return Cells([], [], False)
    texts = [_fields(page, fonts, row, columns, spread=k < head) for k, row in enumerate(rows)]
    groups = _merged(rows, texts, head, region)
    headers = _together(texts[:head], len(columns))
    body = [_together([texts[k] for k in group], len(columns)) for group in groups]
    several = sum(sum(map(bool, row)) > 1 for row in body)
    return Cells(headers, body, len(columns) > 1 and len(rows) > 1 and several >= 0.6 * len(body))


def _rows(page: PageChars, lines: list[Line], uprights: list[float]) -> list[_Row]:
    grouped: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.base):
        if grouped and line.base - grouped[-1][0].base < 0.4 * max(line.size, grouped[-1][0].size):
            grouped[-1].append(line)
        else:
            grouped.append([line])
    result: list[_Row] = []
    for group in grouped:
        index = np.unique(np.concatenate([line.index[line.index >= 0] for line in group]))
        size = max(line.size for line in group)
        if len(index):
            result.append(_Row(group[0].base, size, _chunks(page, index, size, uprights)))
    return result


def _chunks(page: PageChars, index: Ints, size: float, uprights: list[float]) -> list[_Chunk]:
    index = index[np.argsort(page.x0[index], kind="stable")]
    ends: Floats = np.maximum.accumulate(page.x1[index])
    starts: Floats = page.x0[index]
    middle = (starts + page.x1[index]) / 2
    field = np.searchsorted(np.array(uprights), middle) if uprights else np.zeros(len(index), np.int64)
    breaks = np.flatnonzero((starts[1:] - ends[:-1] > CELL_GAP * size) | (field[1:] != field[:-1])) + 1
    return [
        _Chunk(float(page.x0[part].min()), float(page.x1[part].max()), part)
        for part in np.split(index, breaks.tolist())
    ]


def _header_count(rows: list[_Row], region: Region) -> int:
    """Rows above the first rule that divides the rows; the first row where no rule does."""
    for level in region.levels:
        above = sum(row.base - 0.3 * row.size < level for row in rows)
        if 0 < above < len(rows):
            return above if above <= 4 else 1
    return 1 if len(rows) > 1 else 0


def _grid_columns(region: Region) -> list[tuple[float, float]]:
    x0, _, x1, _ = region.box
    uprights = region.uprights
    closed = len(uprights) >= 3 and uprights[0] - x0 < 6 and x1 - uprights[-1] < 6
    return list(pairwise(uprights)) if closed else []


def _columns(rows: list[_Row]) -> list[tuple[float, float]]:
    """Stretches of x that several rows fill, separated by stretches that (nearly) no row fills."""
    divided = [row for row in rows if len(row.chunks) > 1]
    rows = divided if len(divided) >= 0.4 * len(rows) else rows
    spans = np.array([(chunk.x0, chunk.x1) for row in rows for chunk in row.chunks])
    low, high = float(spans[:, 0].min()), float(spans[:, 1].max())
    if high - low > 5000:
        return []
    ink = np.zeros(int(high - low) + 3)
    for x0, x1 in spans.tolist():
        ink[int(x0 - low) : int(np.ceil(x1 - low)) + 1] += 1
    filled = np.concatenate([[False], ink > 0.15 * len(rows), [False]])
    edges = np.flatnonzero(filled[1:] != filled[:-1])
    least = 0.25 * float(np.median([row.size for row in rows]))
    columns: list[tuple[float, float]] = []
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if columns and low + a - columns[-1][1] < least:
            columns[-1] = columns[-1][0], low + b
        else:
            columns.append((low + a, low + b))
    return columns


def _with_sparse(columns: list[tuple[float, float]], rows: list[_Row]) -> list[tuple[float, float]]:
    """The columns, and those with text in only a few rows: ink that lies beside all others."""
    sparse: list[tuple[float, float]] = []
    for chunk in sorted((chunk for row in rows for chunk in row.chunks), key=lambda chunk: chunk.x0):
        if any(chunk.x0 < b and chunk.x1 > a for a, b in columns):
            continue
        if sparse and chunk.x0 < sparse[-1][1]:
            sparse[-1] = sparse[-1][0], max(sparse[-1][1], chunk.x1)
        else:
            sparse.append((chunk.x0, chunk.x1))
    return sorted([*columns, *sparse])


def _fields(
    page: PageChars, fonts: list[Font], row: _Row, columns: list[tuple[float, float]], spread: bool
) -> list[str]:
    """The text of each column; a heading over several columns goes to each of them."""
    parts: list[list[str]] = [[] for _ in columns]
    for chunk in row.chunks:
        line = make_line(page, chunk.rows, fonts)
        if line is None:
            continue
        shared = [min(chunk.x1, b) - max(chunk.x0, a) for a, b in columns]
        best = int(np.argmax(shared))
        over = [k for k, (a, b) in enumerate(columns) if shared[k] > 0.5 * min(b - a, chunk.x1 - chunk.x0)]
        for k in over if spread and len(over) > 1 else [best]:
            parts[k].append(line.text)
    return [" ".join(part) for part in parts]


def _merged(rows: list[_Row], texts: list[list[str]], head: int, region: Region) -> list[list[int]]:
    """Which lines form one row: all lines of a grid's field, lines set closer than rows are, lines without a start."""
    bands = [bisect(region.levels, row.base) for row in rows]
    grid = bool(_grid_columns(region)) or _ruled_rows(bands[head:], texts[head:])
    steps = [(k, rows[k].base - rows[k - 1].base) for k in range(head + 1, len(rows))]
    ruled = {k for k, _ in steps if any(rows[k - 1].base < y < rows[k].base for y in [*region.levels, *region.partial])}
    cut = _wrap_pitch([step for k, step in steps if k not in ruled])
    groups = [[head]] if head < len(rows) else []
    for k, step in steps:
        filled = sum(map(bool, texts[k]))
        # A label centred on its rows lies on a baseline of its own.
        between = step < 0.85 * rows[k].size and not any(a and b for a, b in zip(texts[k], texts[k - 1], strict=True))
        tail = not texts[k][0] and filled <= 0.5 * len(texts[k]) and step < 1.35 * rows[k].size
        if between or (k not in ruled and (grid or tail or step < cut)):
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups


def _ruled_rows(bands: list[int], texts: list[list[str]]) -> bool:
    """Whether each stretch between two rules is one row: lines wrap in one column while another has a single line."""
    own: dict[int, list[list[str]]] = {}
    for band, row in zip(bands, texts, strict=True):
        own.setdefault(band, []).append(row)
    several = [rows for rows in own.values() if len(rows) > 1]
    wrapped = sum(
        min(filled for column in zip(*rows, strict=True) if (filled := sum(map(bool, column)))) == 1 for rows in several
    )
    return len(own) >= 4 and bool(several) and wrapped >= 0.6 * len(several)


def _wrap_pitch(pitches: list[float]) -> float:
    """The distance of baselines below which a line belongs to the row above; 0 if all rows are set alike."""
    if len(pitches) < 4:
        return 0.0
    ordered = sorted(pitches)
    low, high = ordered[len(ordered) // 5], ordered[-1 - len(ordered) // 5]
    return (low + high) / 2 if high > 1.3 * low else 0.0


def _together(rows: list[list[str]], count: int) -> list[str]:
    return [" ".join(row[k] for row in rows if row[k]) for k in range(count)] if rows else []
