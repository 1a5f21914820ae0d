"""Plots in the metadata of assets, as Markdown with the image inside."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

import numpy as np

_WIDTH, _HEIGHT, _NARROW = 450, 234, 350
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 10, 10, 44
"""Margins around the bars, for the axes and their labels."""
_MOST_BARS = 40
_BLUE = "#4f6d9a"


def histogram(values: Sequence[float], x_label: str, y_label: str) -> str:
    """A histogram of the values as an SVG of some kB; a word where there is nothing to draw.

    Written by hand: it is bars and two axes, while a plotting library takes 80 MB and half a second of each process.
    """
    if not values:
        return "Nothing to draw yet."
    counts, edges = np.histogram(values, bins=min(_MOST_BARS, max(1, int(max(values) - min(values)) + 1)))
    most, bar = int(counts.max()), (_WIDTH - _LEFT - _RIGHT) / len(counts)
    full, floor = _HEIGHT - _TOP - _BOTTOM, _HEIGHT - _BOTTOM
    columns = "".join(
        f'<rect x="{_LEFT + place * bar:.1f}" y="{floor - full * count / most:.1f}" width="{max(bar - 0.5, 0.5):.1f}" '
        f'height="{full * count / most:.1f}"/>'
        for place, count in enumerate(counts.tolist())
        if count
    )
    right = _WIDTH - _RIGHT
    words = _text(_LEFT, floor + 15, f"{edges[0]:g}", "start") + _text(right, floor + 15, f"{edges[-1]:g}", "end")
    return _drawn(f'<g fill="{_BLUE}">{columns}</g>', words, f"{most}", x_label, y_label)


def bars(values: Mapping[str, float], x_label: str) -> str:
    """One lying bar for each name, with its value behind it, in the order given."""
    if not any(values.values()):
        return "Nothing to draw yet."
    most, step, left = max(values.values()), 22, 140
    height = _TOP + step * len(values) + 26
    room = _NARROW - left - 60
    drawn = []
    for place, (name, value) in enumerate(values.items()):
        y, width = _TOP + step * place, room * value / most
        drawn += [
            _text(left - 6, y + 14, name, "end"),
            f'<rect x="{left}" y="{y + 3}" width="{width:.1f}" height="15" fill="{_BLUE}"/>',
            _text(left + width + 5, y + 14, f"{value:g}", "start"),
        ]
    axis = f'<path d="M{left} {_TOP}V{height - 22}" stroke="#333"/>'
    return _image("".join(drawn) + axis + _text(left + room / 2, height - 6, x_label, "middle"), height, _NARROW)


def line(values: Sequence[float], x_label: str, y_label: str) -> str:
    """Values from 0 to 1 in their order, as points joined by a line."""
    if len(values) < 2:
        return "Nothing to draw yet: one value makes no line."
    floor, width = _HEIGHT - _BOTTOM, _WIDTH - _LEFT - _RIGHT
    points = [
        (_LEFT + width * place / (len(values) - 1), floor - (floor - _TOP) * min(max(value, 0), 1))
        for place, value in enumerate(values)
    ]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{_BLUE}"/>' for x, y in points)
    words = _text(_LEFT, floor + 15, "1", "start") + _text(_WIDTH - _RIGHT, floor + 15, f"{len(values)}", "end")
    return _drawn(f'<path d="M{path}" fill="none" stroke="{_BLUE}"/>{dots}', words, "1", x_label, y_label)


def _drawn(shapes: str, words: str, top: str, x_label: str, y_label: str) -> str:
    """Shapes over two axes, of which the upright one goes from 0 to `top`."""
    floor, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    middle = (_TOP + floor) / 2
    labels = (
        _text(_LEFT - 4, floor, "0", "end") + _text(_LEFT - 4, _TOP + 9, top, "end"),
        _text((_LEFT + right) / 2, _HEIGHT - 8, x_label, "middle"),
        f'<g transform="rotate(-90 14 {middle})">{_text(14, middle, y_label, "middle")}</g>',
    )
    axes = f'<path d="M{_LEFT} {_TOP}V{floor}H{right}" fill="none" stroke="#333"/>'
    return _image(f"{shapes}{axes}{words}{''.join(labels)}", _HEIGHT)


def _image(inside: str, height: int, width: int = _WIDTH) -> str:
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<g font-family="sans-serif" font-size="11" fill="#333">{inside}</g></svg>'
    )
    return f"![plot](data:image/svg+xml;base64,{base64.b64encode(drawn.encode()).decode()})"


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'
