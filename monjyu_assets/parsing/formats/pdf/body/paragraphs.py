"""Lines of a section joined into paragraphs."""

from __future__ import annotations

import re
from collections import defaultdict

from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line

_BULLET = re.compile(
    r"(?:[\u2022\u25cf\u25cb\u25aa\u25e6\u2023\u25a0\uf0b7]|[-\u2013*](?=\s)|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)](?=\s))"
)
_TERMINAL = re.compile(r"[.?!:\u3002][)\]\"\u201d\u2019]*(?:\s*\[[\d,\s\u2013-]+\])?\d{0,3}$")

Edges = dict[tuple[int, int], tuple[float, float]]


def column_edges(layout: Layout) -> Edges:
    """Left and right edge of each block: (page, block) -> x where most lines start, x where the longest end."""
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
