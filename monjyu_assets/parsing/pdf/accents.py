"""Accents that a PDF draws as glyphs of their own, put back on their letters."""

from __future__ import annotations

import unicodedata
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

_COMBINING = {
    "\u00b4": "\u0301", "\u0060": "\u0300", "\u02cb": "\u0300", "\u02ca": "\u0301", "\u00a8": "\u0308",
    "\u02c6": "\u0302", "\u005e": "\u0302", "\u02dc": "\u0303", "\u02c7": "\u030c", "\u00b8": "\u0327",
    "\u02da": "\u030a", "\u00af": "\u0304", "\u02d9": "\u0307", "\u02d8": "\u0306", "\u02dd": "\u030b",
    "\u02db": "\u0328",
}  # fmt: skip
_DOTLESS = {"\u0131": "i", "\u0237": "j"}


class _Chars(Protocol):
    text: list[str]
    x0: NDArray[np.float64]
    x1: NDArray[np.float64]
    y0: NDArray[np.float64]
    y1: NDArray[np.float64]
    base: NDArray[np.float64]
    size: NDArray[np.float64]
    font: NDArray[np.int64]
    gap_before: NDArray[np.bool_]


def compose_accents(page: _Chars) -> None:
    """Merge each free-standing accent that lies over a neighbouring letter into that letter (NFC), in place."""
    drop: list[int] = []
    for i, character in enumerate(page.text):
        mark = _COMBINING.get(character)
        if mark is None and unicodedata.combining(character[:1] or " "):
            mark = character
        if mark is None:
            continue
        # TeX draws the accent first, other producers the letter first.
        for neighbour in (i + 1, i - 1):
            if 0 <= neighbour < len(page.text) and neighbour not in drop and _over(page, i, neighbour):
                letter = _DOTLESS.get(page.text[neighbour], page.text[neighbour])
                composed = unicodedata.normalize("NFC", letter + mark)
                if letter.isalpha() and len(composed) == 1:
                    page.text[neighbour] = composed
                    page.gap_before[neighbour] = page.gap_before[min(i, neighbour)]
                    drop.append(i)
                    break
    if not drop:
        return
    kept = np.ones(len(page.text), bool)
    kept[drop] = False
    page.text[:] = [c for c, keep in zip(page.text, kept, strict=True) if keep]
    for name in ("x0", "x1", "y0", "y1", "base", "size", "font", "gap_before"):
        setattr(page, name, getattr(page, name)[kept])


def _over(page: _Chars, accent: int, letter: int) -> bool:
    """The accent's middle lies within the letter, on nearly the same line."""
    middle = (page.x0[accent] + page.x1[accent]) / 2
    slack = 0.1 * page.size[letter]
    level = abs(page.base[accent] - page.base[letter]) < 0.5 * page.size[letter]
    return bool(level and page.x0[letter] - slack <= middle <= page.x1[letter] + slack)
