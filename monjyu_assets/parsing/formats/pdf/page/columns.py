"""Finds columns and the reading order from the positions of lines."""

import re
from collections import Counter, defaultdict

import numpy as np

from monjyu_assets.parsing.formats.pdf.page.lines import Line, join_pieces, make_line
from monjyu_assets.parsing.formats.pdf.read.characters import Font, PageChars

MIN_PAIRS = 6
"""The minimum number of pairs of lines side by side for a credible gutter on a page."""


def gutters(pages: list[list[Line]]) -> list[list[float]]:
    """Return the x coordinates of each page's gutters. A page with few lines side by side uses those of the other
    pages."""
    own = [_best_gutter(lines) for lines in pages]
    votes: Counter[int] = Counter()
    for lines, (x, pairs) in zip(pages, own, strict=True):
        if pairs >= MIN_PAIRS and pairs >= 0.2 * len(lines):
            votes[round(x / 6)] += pairs
    common = [key * 6.0 for key, count in votes.most_common(3) if count >= 12]
    left, right = body_edges(pages)
    result: list[list[float]] = []
    for lines, (x, pairs) in zip(pages, own, strict=True):
        aside = x < left + 5 or x > right - 5
        outside = sum(1 for line in lines if line.x1 < left + 5 or line.x0 > right - 5)
        credible = (pairs >= MIN_PAIRS and pairs >= 0.25 * len(lines)) or (aside and pairs >= 3 and outside >= 4)
        best, best_pairs = (x, pairs) if credible else (0.0, 0)
        for candidate in common:
            for shift in (0, -3, 3, -6, 6):
                count = _pairs(lines, candidate + shift)
                if count >= 2 and count > 1.5 * best_pairs:
                    best, best_pairs = candidate + shift, count
        found = [best] if best_pairs else []
        if best_pairs:
            found += _side_gutters(lines, best)
        result.append(sorted(found))
    return result


def body_edges(pages: list[list[Line]]) -> tuple[float, float]:
    """Return the left and right edge of the document's text: the outermost x at which many of its longer lines start or
    end; (0, 1e9) without longer lines."""
    left: Counter[int] = Counter()
    right: Counter[int] = Counter()
    for lines in pages:
        for line in lines:
            if len(line.text) > 20:
                left[round(line.x0)] += 1
                right[round(line.x1)] += 1
    total = sum(left.values())
    if not total:
        return 0.0, 1e9
    edges_left = [x for x, count in left.items() if count >= 0.1 * total] or [min(left)]
    edges_right = [x for x, count in right.items() if count >= 0.05 * total] or [max(right)]
    return float(min(edges_left)), float(max(edges_right))


def _side_gutters(lines: list[Line], x: float) -> list[float]:
    """Gutters of a third column left or right of the first gutter."""
    found = []
    for side in ([line for line in lines if line.x1 <= x + 1], [line for line in lines if line.x0 >= x - 1]):
        other, pairs = _best_gutter(side)
        if pairs >= max(8, 0.6 * len(side) / 2):
            found.append(other)
    return found


def _best_gutter(lines: list[Line]) -> tuple[float, int]:
    """The x with the most lines side by side around it, and their number (0 if there are none)."""
    if len(lines) < 4:
        return 0.0, 0
    left = min(line.x0 for line in lines)
    right = max(line.x1 for line in lines)
    starts = Counter(round(line.x0) for line in lines)
    candidates = sorted({x - 3.0 for x, count in starts.items() if count >= 3})
    low, high = left + 0.12 * (right - left), right - 0.12 * (right - left)
    best = (0.0, 0)
    for x in candidates:
        if low < x < high:
            pairs = _pairs(lines, x)
            if pairs > best[1]:
                best = (x, pairs)
    return best


def _pairs(lines: list[Line], x: float) -> int:
    """The number of lines to the right of x with a line next to them on the left, minus three for each line between
    them that crosses x."""
    left = [line for line in lines if line.x1 <= x + 1 and line.width > 25 and not _LABEL_ALONE.fullmatch(line.text)]
    right = [line for line in lines if line.x0 >= x - 1 and line.width > 25]
    if not left or not right:
        return 0
    tops = np.array([line.y0 for line in left]) - 2
    bottoms = np.array([line.y1 for line in left]) + 2
    middles = np.array([(line.y0 + line.y1) / 2 for line in right])
    paired = np.sort(middles[((tops <= middles[:, None]) & (middles[:, None] <= bottoms)).any(axis=1)])
    crossing = np.array([(line.y0 + line.y1) / 2 for line in lines if line.x0 < x - 1 and line.x1 > x + 1])
    if not len(paired) or not len(crossing):
        return len(paired)
    # Words of a justified line and cells of a table are side by side too, but lines right above and below cross there.
    place = np.searchsorted(paired, crossing)
    above = crossing - np.where(place > 0, paired[np.maximum(place - 1, 0)], -1e9)
    below = np.where(place < len(paired), paired[np.minimum(place, len(paired) - 1)], 1e9) - crossing
    return len(paired) - 3 * int(np.count_nonzero((above < 20) & (below < 20)))


def reading_order(page: PageChars, lines: list[Line], page_gutters: list[float], fonts: list[Font]) -> list[Line]:
    """Lines of a page in reading order, pieces on one baseline of one column joined.

    Lines that run over a gutter divide the page into bands; in a band each column is read to its end.
    """
    lines = [part for line in lines for part in _at_label(page, line, page_gutters, fonts)]
    bases = _row_bases(lines)
    ordered = sorted(lines, key=lambda line: (bases[id(line)], line.x0))
    rows: dict[float, list[Line]] = defaultdict(list)
    for line in lines:
        rows[bases[id(line)]].append(line)
    for line in lines:
        covered = (line.x0 < other.x0 < line.x1 for other in rows[bases[id(line)]] if other is not line)
        link = _UNBROKEN.fullmatch(line.text) and all(covered)
        middle = line.x0 if link else (line.x0 + line.x1) / 2
        line.full_width = any(not link and line.x0 < x - _hangs(line, x) and line.x1 > x + 1 for x in page_gutters)
        line.column = sum(1 for x in page_gutters if middle > x)
    if page_gutters:
        _widen(ordered, bases, page_gutters)
    result: list[Line] = []
    band: list[Line] = []
    block = 0
    for line in ordered:
        if line.full_width:
            if band:
                block = _flush(band, result, block)
                band = []
            line.block = block
            result.append(line)
        else:
            band.append(line)
    _flush(band, result, block)
    return _join_level(page, result, bases, fonts)


_UNBROKEN = re.compile(r"(?=.*[/.=_?%-])\S{12,}")
"""A link that runs past the edge of its column."""
_LABEL = re.compile(r"\[\s?\d{1,3}\s?\]\s")
_LABEL_ALONE = re.compile(r"\[[^\]\s]{1,12}\]")
"""The label of an entry that hangs so far out that the entry's text looks like another column."""
_LABEL_WITHIN = re.compile(rf"\s(?={_LABEL.pattern})")


def _at_label(page: PageChars, line: Line, page_gutters: list[float], fonts: list[Font]) -> list[Line]:
    """The line, split in front of the label of an entry that fills the space between the columns."""
    label = _LABEL_WITHIN.search(line.text) if page_gutters else None
    if label is None or all(abs(page.x0[line.index[label.end()]] - x) > 10 for x in page_gutters):
        return [line]
    parts = [line.index[: label.start()], line.index[label.end() :]]
    made = [make_line(page, np.unique(part[part >= 0]), fonts) for part in parts]
    return [part for part in made if part is not None]


def _hangs(line: Line, x: float) -> float:
    """How far a line may begin before a gutter, because labels with more digits hang further out to the left."""
    return 10.0 if line.x1 > x + 60 and _LABEL.match(line.text) else 1.0


def _row_bases(lines: list[Line]) -> dict[int, float]:
    """The baseline of the row of each piece, by `id`; a raised piece has that of the larger piece next to it."""
    bases: dict[int, float] = {}
    by_base: dict[int, list[Line]] = defaultdict(list)
    for line in sorted(lines, key=lambda line: (-line.size, line.base, line.x0)):
        near = [row for key in range(int(line.base // 8) - 1, int(line.base // 8) + 3) for row in by_base[key]]
        row = next((row for row in near if _in_row(row, line)), None)
        bases[id(line)] = bases[id(row)] if row is not None else line.base
        by_base[int(line.base // 8)].append(line)
    return bases


def _in_row(row: Line, line: Line) -> bool:
    drop = row.base - line.base
    if abs(drop) < 0.12 * line.size + 0.2:
        return True
    gap = max(line.x0 - row.x1, row.x0 - line.x1)
    raised = line.size < 0.87 * row.size and -0.25 * row.size < drop < 0.6 * row.size
    return raised and gap < 1.8 * row.size and len(line.text) < 12


def _widen(ordered: list[Line], bases: dict[int, float], page_gutters: list[float]) -> None:
    """Make pieces in the row of a full-width piece full-width, and the short last line of a full-width paragraph."""
    wide_rows = {
        bases[id(line)]
        for line in ordered
        if line.full_width and any(line.x0 < x - 10 and line.x1 > x + 10 for x in page_gutters)
    }
    for line in ordered:
        line.full_width = line.full_width or bases[id(line)] in wide_rows
    above: Line | None = None
    for k, line in enumerate(ordered):
        beside = any(
            abs(other.base - line.base) < 0.5 * line.size
            for other in ordered[max(0, k - 3) : k + 4]
            if other is not line
        )
        if not line.full_width and above is not None and not beside:
            step = line.base - above.base
            same = abs(line.x0 - above.x0) < 3 and abs(line.size - above.size) < 0.2
            line.full_width = same and 0 < step < 1.6 * line.size
        above = line if line.full_width else None


def _flush(band: list[Line], result: list[Line], block: int) -> int:
    """Append the lines of a band column by column; each column becomes a block. Returns the number of the next
    block."""
    cut = _change_of_size(band)
    if cut is not None:
        block = _flush([line for line in band if line.base <= cut], result, block)
        return _flush([line for line in band if line.base > cut], result, block)
    columns: dict[int, list[Line]] = defaultdict(list)
    for line in band:
        columns[line.column].append(line)
    for column in sorted(columns):
        block += 1
        for line in columns[column]:
            line.block = block
        result.extend(columns[column])
    return block + 1


def _change_of_size(band: list[Line]) -> float | None:
    """The y of a gap through all columns below which the type has another size (text above, references below)."""
    if len({line.column for line in band}) < 2 or len(band) < 12:
        return None
    ordered = sorted(band, key=lambda line: line.base)
    best: tuple[int, float] | None = None
    for k in range(3, len(ordered) - 3):
        gap = ordered[k].base - ordered[k - 1].base
        if gap < 1.7 * ordered[k - 1].size:
            continue
        above, below = ordered[:k], ordered[k:]
        columns = {line.column for line in above}
        if len(columns) < 2 or {line.column for line in below} != columns:
            continue
        if any(sum(line.column == column for line in part) < 3 for column in columns for part in (above, below)):
            continue  # headings at the top of both columns
        upper = [_main_size(above, column) for column in sorted(columns)]
        lower = [_main_size(below, column) for column in sorted(columns)]
        if all(abs(a - b) > 0.6 for a in upper for b in lower):
            pure = sum(round(x.size, 1) in upper for x in above) + sum(round(x.size, 1) in lower for x in below)
            if best is None or pure > best[0]:
                best = pure, (ordered[k - 1].base + ordered[k].base) / 2
    return best[1] if best else None


def _main_size(lines: list[Line], column: int) -> float:
    sizes: Counter[float] = Counter()
    for line in lines:
        if line.column == column:
            sizes[round(line.size, 1)] += len(line.text)
    return sizes.most_common(1)[0][0]


def _join_level(page: PageChars, lines: list[Line], bases: dict[int, float], fonts: list[Font]) -> list[Line]:
    """Join neighbours in reading order that are in one row of one block."""
    result: list[Line] = []
    group: list[Line] = []
    for line in lines:
        level = group and group[-1].block == line.block and bases[id(group[-1])] == bases[id(line)]
        if level and not _of_margin(group[-1], line):
            group.append(line)
            continue
        result.extend(_joined(page, group, fonts))
        group = [line]
    result.extend(_joined(page, group, fonts))
    return result


def _of_margin(left: Line, line: Line) -> bool:
    """Whether much smaller type far to the right of a line is beside it, as an imprint is beside a title."""
    return line.size < 0.6 * left.size and line.x0 - left.x1 > 2 * left.size


def _joined(page: PageChars, group: list[Line], fonts: list[Font]) -> list[Line]:
    if len(group) < 2:
        return group
    return [join_pieces(page, group, fonts)]
