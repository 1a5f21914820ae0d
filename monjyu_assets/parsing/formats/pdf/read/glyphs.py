"""Codes and directions of characters, made uniform."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np

from monjyu_assets.parsing.formats.pdf.read.bitmap_fonts import LETTERS, spelled
from monjyu_assets.parsing.formats.pdf.read.geometry import Area, Bools, Floats, Ints

_LIGATURES = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_REPLACED = {"\u0002": "-", "\u00ad": "-", "\u2010": "-", "\u2011": "-", **_LIGATURES}


def whole_codes(codes: Ints) -> tuple[Ints, Bools]:
    """Code points, with the two halves of those beyond U+FFFF joined, and which rows are second halves."""
    second = np.zeros(len(codes), bool)
    if len(codes) > 1:
        second[1:] = (codes[1:] >> 10 == 0x37) & (codes[:-1] >> 10 == 0x36)
    if not second.any():
        return codes, second
    places = np.flatnonzero(second)
    whole = codes.copy()
    whole[places - 1] = 0x10000 + ((codes[places - 1] & 0x3FF) << 10) + (codes[places] & 0x3FF)
    return whole, second


def quarter_turns(matrix: Floats, rotation: int) -> Ints:
    """Quarter turns (counter-clockwise, 0-3) of each character as displayed; -1 for slanted text."""
    angle = np.degrees(np.arctan2(matrix[:, 1], matrix[:, 0])) - 90.0 * rotation
    turns = np.round(angle / 90.0)
    slanted = np.abs(angle - 90.0 * turns) > 5
    result: Ints = (turns.astype(np.int64)) % 4
    result[slanted] = -1
    return result


def dominant_turn(turns: Ints) -> int:
    """Upright unless three quarters of a page's characters are turned another way (a landscape table)."""
    if not len(turns):
        return 0
    counts = np.bincount(turns[turns >= 0], minlength=4)
    best = int(np.argmax(counts))
    return best if counts[best] > 0.75 * len(turns) else 0


@cache
def readable(code: int) -> str:
    """A character as it is read: ligatures and letters of formulas in plain letters, all hyphens alike."""
    if code >= LETTERS:
        return spelled(code)
    character = chr(code)
    if 0x1D400 <= code <= 0x1D7FF:
        return unicodedata.normalize("NFKC", character)  # letters of formulas
    return _REPLACED.get(character, character)


@dataclass(frozen=True)
class Aside:
    """Text that runs another way than that of its page (a stamp in the margin, the label of an axis), and its box."""

    text: str
    box: Area


def asides(codes: Ints, rows: Ints, turns: Ints, boxes: Floats) -> list[Aside]:
    """Characters that do not run with the text of the page, a space wherever the stream leaves one out.

    `rows` are their places in `codes`; `turns` and `boxes` (x0, y0, x1, y1) are theirs.
    """
    if not len(rows):
        return []
    apart = np.maximum(boxes[1:, :2] - boxes[:-1, 2:], boxes[:-1, :2] - boxes[1:, 2:]).max(axis=1)
    side = np.maximum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1])
    breaks = np.flatnonzero((apart > 2 * np.maximum(side[1:], side[:-1])) | (turns[1:] != turns[:-1])) + 1
    found: list[Aside] = []
    for own in np.split(np.arange(len(rows)), breaks):
        spaced = np.diff(rows[own], prepend=rows[own[0]] - 1) > 1
        text = "".join(
            " " * gap + readable(code) for gap, code in zip(spaced.tolist(), codes[rows[own]].tolist(), strict=True)
        )
        low, high = boxes[own].min(axis=0), boxes[own].max(axis=0)
        found.append(Aside(text, (float(low[0]), float(low[1]), float(high[2]), float(high[3]))))
    return found
