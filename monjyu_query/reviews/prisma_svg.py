"""The flow diagram as an SVG picture: boxes in the middle from top to bottom, what left the review beside them."""

from __future__ import annotations

import unicodedata
from xml.sax.saxutils import escape

from monjyu_query.citations.xml_safe import xml_text
from monjyu_query.reviews.prisma import Box, Prisma, boxes

_WIDTH, _GAP, _MARGIN, _LINE, _PAD = 360, 60, 20, 18, 12
"""Pixels: of a box, between boxes, around all, of a line, inside a box."""
_COLUMNS = 52
"""Of a line of text; a wide character takes two."""
_ROWS = (("identified", "removed"), ("screened", "excluded"), ("unsure", None), ("included", None))
_STYLE = (
    "text{font:13px sans-serif;fill:#1b1b1b}.h{font-weight:600}rect{fill:#fff;stroke:#444}"
    "path{stroke:#444;fill:none;marker-end:url(#a)}"
)
_HEAD = ' class="h"'


def prisma_svg(counts: Prisma) -> str:
    """A picture that stands alone; its title says the main figures for those who cannot see it."""
    shown = boxes(counts)
    rows = [(left, right) for left, right in _ROWS if left in shown]
    parts: list[str] = []
    top = _MARGIN
    for number, (left, right) in enumerate(rows):
        texts = [_lines(shown[left])] + ([_lines(shown[right])] if right else [])
        height = max(len(lines) for lines in texts) * _LINE + 2 * _PAD
        for column, lines in enumerate(texts):
            parts.append(_box(_MARGIN + column * (_WIDTH + _GAP), top, height, lines))
        if right:
            parts.append(_arrow(_MARGIN + _WIDTH, top + height / 2, _MARGIN + _WIDTH + _GAP, top + height / 2))
        if number + 1 < len(rows):
            middle = _MARGIN + _WIDTH / 2
            parts.append(_arrow(middle, top + height, middle, top + height + _GAP / 2))
        top += height + _GAP // 2
    wide, high = 2 * _WIDTH + _GAP + 2 * _MARGIN, top - _GAP // 2 + _MARGIN
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


def _arrow(x0: float, y0: float, x1: float, y1: float) -> str:
    return f'<path d="M{x0} {y0} L{x1} {y1}"/>'


def _lines(box: Box) -> list[tuple[str, bool]]:
    """The lines of a box, each with whether it is of the heading."""
    head, rest = box
    return [(line, True) for line in wrapped(head)] + [(line, False) for text in rest for line in wrapped(text)]


def wrapped(text: str) -> list[str]:
    """Lines of at most `_COLUMNS`, broken at spaces, or anywhere in scripts that have none."""
    lines = [""]
    for word in " ".join(text.split()).split(" "):
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
