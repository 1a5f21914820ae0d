"""Plots in the metadata of assets, as Markdown with the image inside."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from xml.sax.saxutils import escape

import numpy as np

_WIDTH, _HEIGHT = 450, 234
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 10, 10, 44
"""Margins around the bars, for the axes and their labels."""
_MOST_BARS = 40


def histogram(values: Sequence[float], x_label: str, y_label: str) -> str:
    """A histogram of the values as an SVG of some kB; a word where there is nothing to draw.

    Written by hand: it is bars and two axes, while a plotting library takes 80 MB and half a second of each process.
    """
    if not values:
        return "Nothing to draw yet."
    counts, edges = np.histogram(values, bins=min(_MOST_BARS, max(1, int(max(values) - min(values)) + 1)))
    most, bar = int(counts.max()), (_WIDTH - _LEFT - _RIGHT) / len(counts)
    full, floor = _HEIGHT - _TOP - _BOTTOM, _HEIGHT - _BOTTOM
    bars = "".join(
        f'<rect x="{_LEFT + place * bar:.1f}" y="{floor - full * count / most:.1f}" width="{max(bar - 0.5, 0.5):.1f}" '
        f'height="{full * count / most:.1f}"/>'
        for place, count in enumerate(counts.tolist())
        if count
    )
    right, middle = _WIDTH - _RIGHT, (_TOP + floor) / 2
    words = (
        _text(_LEFT - 4, floor, "0", "end") + _text(_LEFT - 4, _TOP + 9, f"{most}", "end"),
        _text(_LEFT, floor + 15, f"{edges[0]:g}", "start") + _text(right, floor + 15, f"{edges[-1]:g}", "end"),
        _text((_LEFT + right) / 2, _HEIGHT - 8, x_label, "middle"),
        f'<g transform="rotate(-90 14 {middle})">{_text(14, middle, y_label, "middle")}</g>',
    )
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}">'
        f'<rect width="100%" height="100%" fill="#fff"/><g fill="#4f6d9a">{bars}</g>'
        f'<path d="M{_LEFT} {_TOP}V{floor}H{right}" fill="none" stroke="#333"/>'
        f'<g font-family="sans-serif" font-size="11" fill="#333">{"".join(words)}</g></svg>'
    )
    return f"![plot](data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()})"


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'
