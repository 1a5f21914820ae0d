"""The flow diagram as an SVG picture: boxes in the middle from top to bottom, what left the review beside them."""

from __future__ import annotations

import re
import unicodedata
from xml.sax.saxutils import escape

from monjyu_query.citations.xml_safe import xml_text
from monjyu_query.reviews.handing_on.prisma import Box, Prisma, boxes

_WIDTH, _GAP, _MARGIN, _LINE, _PAD = 360, 60, 20, 18, 12
"""Pixels: of a box, between boxes, around all, of a line, inside a box."""
_RIGHT = _MARGIN + _WIDTH + _GAP
_BETWEEN = 12
_COLUMNS = 52
"""Of a line of text; a wide character takes two."""
_BESIDE: dict[str, tuple[str, ...]] = {"identified": ("removed",), "screened": ("excluded", "unsure"), "included": ()}
"""From top to bottom, each with what leaves there."""
_STYLE = (
    "text{font:13px sans-serif;fill:#1b1b1b}.h{font-weight:600}rect{fill:#fff;stroke:#444}"
    "path{stroke:#444;fill:none;marker-end:url(#a)}"
)
_WORD = re.compile(r"\(n = \d+\)\S*|\S+")
"""A number of the diagram is not broken."""
_HEAD = ' class="h"'


def prisma_svg(counts: Prisma) -> str:
    """A picture that stands alone; its title says the main figures for those who cannot see it."""
    shown = boxes(counts)
    parts: list[str] = []
    top: float = _MARGIN
    for name, beside in _BESIDE.items():
        bottom = top
        for other in beside:
            if other in shown:
                lines = _lines(shown[other])
                parts += [_box(_RIGHT, bottom, _height(lines), lines), _aside(bottom + _height(lines) / 2)]
                bottom += _height(lines) + _BETWEEN
        lines = _lines(shown[name])
        height = max(_height(lines), bottom - _BETWEEN - top)
        parts.append(_box(_MARGIN, top, height, lines))
        top += height
        if name != "included":
            parts.append(_arrow(_MARGIN + _WIDTH / 2, top, _MARGIN + _WIDTH / 2, top + _GAP / 2))
            top += _GAP / 2
    wide, high = 2 * _WIDTH + _GAP + 2 * _MARGIN, int(top) + _MARGIN
    title = f"PRISMA 2020 flow: {counts.identified} identified, {counts.screened} screened, {counts.included} included"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}"'
            ' role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            '<defs><marker id="a" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
            '<path d="M0 0 8 4 0 8z" style="fill:#444;stroke:none;marker-end:none"/></marker></defs>',
            *parts,
            "</svg>",
            "",
        ]
    )


def _box(left: float, top: float, height: float, lines: list[tuple[str, bool]]) -> str:
    texts = [
        f'<text x="{left + _PAD}" y="{top + _PAD + _LINE * (number + 0.75)}"{_HEAD if head else ""}>'
        f"{escape(xml_text(line))}</text>"
        for number, (line, head) in enumerate(lines)
    ]
    return "\n".join([f'<rect x="{left}" y="{top}" width="{_WIDTH}" height="{height}" rx="4"/>', *texts])


def _height(lines: list[tuple[str, bool]]) -> float:
    return len(lines) * _LINE + 2 * _PAD


def _aside(height: float) -> str:
    """From the middle to what leaves."""
    return _arrow(_MARGIN + _WIDTH, height, _RIGHT, height)


def _arrow(x0: float, y0: float, x1: float, y1: float) -> str:
    return f'<path d="M{x0} {y0} L{x1} {y1}"/>'


def _lines(box: Box) -> list[tuple[str, bool]]:
    """The lines of a box, each with whether it is of the heading."""
    head, rest = box
    return [(line, True) for line in wrapped(head)] + [(line, False) for text in rest for line in wrapped(text)]


def wrapped(text: str) -> list[str]:
    """Lines of at most `_COLUMNS`, broken at spaces, or anywhere in scripts that have none."""
    lines = [""]
    for word in _WORD.findall(text):
        if _columns(lines[-1]) + 1 + _columns(word) <= _COLUMNS:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
            continue
        lines.append("")
        for sign in word:
            if _columns(lines[-1]) + _columns(sign) > _COLUMNS:
                lines.append("")
            lines[-1] += sign
    return [line for line in lines if line]


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)
