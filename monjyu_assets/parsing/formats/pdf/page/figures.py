"""Finds the region of a figure: the images and drawings between its caption and the surrounding text."""

import numpy as np

from monjyu_assets.parsing.formats.pdf.page.layout import Layout
from monjyu_assets.parsing.formats.pdf.page.lines import Line
from monjyu_assets.parsing.formats.pdf.read.geometry import Area, Floats

_REACH = 45.0
"""The maximum distance in points between a caption and its figure."""


class FigureFinder:
    """Finds regions of figures; the drawings of each page are read once."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._pages: dict[int, Floats] = {}

    def region(self, caption: Area, page: int, prose: list[Line]) -> Area | None:
        """The drawing above a caption, otherwise the one below it; `prose` are lines of the page that no figure
        covers."""
        drawings = self._drawings(page)
        if not len(drawings):
            return None
        for above in (True, False):
            bound = _between(prose, caption, above)
            found = _nearest(drawings, caption, bound, above)
            if found is not None and any(_inside(line, found) for line in prose):
                found = _nearest(_without_rules(drawings, caption), caption, bound, above)
            if found is not None:
                return found
        return None

    def _drawings(self, page: int) -> Floats:
        """Boxes of images and drawings that are not the background of the page, (n, 4)."""
        if page not in self._pages:
            own = self._layout.pages[page - 1]
            boxes = np.array([*own.drawn.images, *own.drawn.graphics, *own.drawn.rules]).reshape(-1, 4)
            area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
            inside = (boxes[:, :2] > -5).all(axis=1) & (boxes[:, 2] < own.width + 5) & (boxes[:, 3] < own.height + 5)
            self._pages[page] = boxes[inside & (area < 0.7 * own.width * own.height)]
        return self._pages[page]


def _inside(line: Line, area: Area) -> bool:
    x, y = (line.x0 + line.x1) / 2, line.base - 0.3 * line.size
    return area[0] <= x <= area[2] and area[1] <= y <= area[3]


def _without_rules(drawings: Floats, caption: Area) -> Floats:
    """The drawings without flat ones that reach far beyond the caption, as the rule below a running head does."""
    beyond = (drawings[:, 0] < caption[0] - _REACH) | (drawings[:, 2] > caption[2] + _REACH)
    kept: Floats = drawings[~((drawings[:, 3] - drawings[:, 1] < 4) & beyond)]
    return kept


def _between(prose: list[Line], caption: Area, above: bool) -> float:
    """The y of the running text that bounds the figure above or below a caption."""
    beside = [line for line in prose if line.x0 < caption[2] and line.x1 > caption[0]]
    if above:
        return max((line.y1 for line in beside if line.y1 <= caption[1] + 2), default=0.0)
    return min((line.y0 for line in beside if line.y0 >= caption[3] - 2), default=1e9)


def _nearest(drawings: Floats, caption: Area, bound: float, above: bool) -> Area | None:
    """The union of the drawings between caption and bound that overlap the caption horizontally, with those that touch
    them."""
    if above:
        level = (drawings[:, 3] <= caption[1] + 6) & (drawings[:, 1] >= bound - 6)
    else:
        level = (drawings[:, 1] >= caption[3] - 6) & (drawings[:, 3] <= bound + 6)
    seeds = level & (drawings[:, 0] < caption[2]) & (drawings[:, 2] > caption[0])
    if not seeds.any():
        return None
    box = _union(drawings[seeds])
    touching = level & (drawings[:, 0] < box[2] + 3) & (drawings[:, 2] > box[0] - 3)
    box = _union(_adjoining(drawings[touching], above))
    gap = caption[1] - box[3] if above else box[1] - caption[3]
    tall = box[3] - box[1] > 12 and box[2] - box[0] > 12
    return box if tall and gap < _REACH else None


def _adjoining(boxes: Floats, above: bool) -> Floats:
    """Boxes from the caption to the first empty stretch higher than `_REACH`."""
    near, far = (-boxes[:, 3], -boxes[:, 1]) if above else (boxes[:, 1], boxes[:, 3])
    order = np.argsort(near, kind="stable")
    reach = np.maximum.accumulate(far[order])
    breaks = np.flatnonzero(near[order][1:] - reach[:-1] > _REACH)
    return boxes[order[: int(breaks[0]) + 1]] if len(breaks) else boxes


def _union(boxes: Floats) -> Area:
    low, high = boxes.min(axis=0), boxes.max(axis=0)
    return (float(low[0]), float(low[1]), float(high[2]), float(high[3]))
