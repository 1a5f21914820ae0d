"""Codes and directions of characters, made uniform."""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np

from monjyu_assets.parsing.formats.pdf.read.bitmap_fonts import LETTERS, spelled
from monjyu_assets.parsing.formats.pdf.read.geometry import Bools, Floats, Ints

_LIGATURES = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
LONGEST_ASIDE = 2000
"""The most characters of a page in another direction (stamps in the margin) that are read."""
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


def aside_text(codes: Ints, rows: Ints) -> str:
    """Characters that do not run with the text of the page, a space wherever the stream leaves one out."""
    text: list[str] = []
    last = -1
    for row in rows[:LONGEST_ASIDE].tolist():
        text.append((" " if last >= 0 and row > last + 1 else "") + readable(int(codes[row])))
        last = row
    return "".join(text)
