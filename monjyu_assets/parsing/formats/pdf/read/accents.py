"""Puts accents that a PDF draws as separate glyphs back on their letters."""

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
    marks = {character: mark for character in set(page.text) if (mark := _mark(character))}
    if not marks:
        return
    for i in [i for i, character in enumerate(page.text) if character in marks]:
        mark = marks.get(page.text[i])  # the letter of an accent before it is another by now
        if mark is None:
            continue
        # TeX draws the accent first; other producers draw the letter first, some with letters in between.
        near = [k for k in (i + 1, i - 1, i - 2, i + 2) if 0 <= k < len(page.text) and k not in drop]
        letter = next((k for k in near if _over(page, i, k) and _composed(page.text[k], mark)), None)
        if letter is None and i - 1 in near and _within_word(page, i):
            letter = i - 1
            page.x1[letter] = page.x1[i]
        if letter is None:
            letter = _under(page, i, mark)
        composed = _composed(page.text[letter], mark) if letter is not None else None
        if letter is not None and composed:
            page.text[letter] = composed
            if abs(i - letter) <= 2:
                page.gap_before[letter] = page.gap_before[min(i, letter)]
            drop.append(i)
            # pdfium makes up spaces around the accent: where letters touch they are dropped.
            for k in {letter, i + 1}:
                before = k - 1 if k - 1 != i else i - 1
                if before >= 0 and k < len(page.text) and _touch(page, before, k):
                    page.gap_before[k] = False
    if not drop:
        return
    kept = np.ones(len(page.text), bool)
    kept[drop] = False
    page.text[:] = [c for c, keep in zip(page.text, kept, strict=True) if keep]
    for name in ("x0", "x1", "y0", "y1", "base", "size", "font", "gap_before"):
        setattr(page, name, getattr(page, name)[kept])


def _mark(character: str) -> str | None:
    """The combining character of an accent; None for what is none."""
    return _COMBINING.get(character) or (character if unicodedata.combining(character[:1] or " ") else None)


def _composed(letter: str, mark: str) -> str | None:
    """Letter and mark as one character, None if there is no such character."""
    letter = _DOTLESS.get(letter, letter)
    composed = unicodedata.normalize("NFC", letter + mark)
    return composed if letter.isalpha() and len(composed) == 1 else None


def _under(page: _Chars, accent: int, mark: str) -> int | None:
    """The letter that the accent is drawn over, wherever it comes in the file: some producers draw a line's accents
    last."""
    size = page.size[accent]
    off = np.abs((page.x0 + page.x1 - page.x0[accent] - page.x1[accent]) / 2)
    rise = page.base - page.base[accent]  # over a capital the accent itself is raised
    close = np.flatnonzero((off < 0.2 * size) & (rise > -0.15 * size) & (rise < 0.4 * size))
    ordered = sorted(close.tolist(), key=lambda k: float(off[k]))
    ordered = [k for k in ordered if rise[k] < 0.15 * size or page.text[k].isupper()]
    return next((k for k in ordered if k != accent and _composed(page.text[k], mark)), None)


def _touch(page: _Chars, before: int, after: int) -> bool:
    level = abs(page.base[before] - page.base[after]) < 0.1 * page.size[after]
    return bool(level and abs(page.x0[after] - page.x1[before]) < 0.06 * page.size[after])


def _within_word(page: _Chars, accent: int) -> bool:
    """A free accent directly between two letters: some fonts give its width as if it stood beside its letter."""
    if accent + 1 >= len(page.text) or page.text[accent] in "`^":
        return False
    before, after = accent - 1, accent + 1
    level = abs(page.base[before] - page.base[after]) < 0.1 * page.size[after]
    tight = abs(page.x0[after] - page.x1[accent]) < 0.12 * page.size[after]
    touching = abs(page.x0[accent] - page.x1[before]) < 0.12 * page.size[before]
    return bool(page.text[after].isalpha() and level and tight and touching)


def _over(page: _Chars, accent: int, letter: int) -> bool:
    """The accent's middle lies within the letter, on nearly the same line."""
    middle = (page.x0[accent] + page.x1[accent]) / 2
    slack = 0.1 * page.size[letter]
    level = abs(page.base[accent] - page.base[letter]) < 0.5 * page.size[letter]
    return bool(level and page.x0[letter] - slack <= middle <= page.x1[letter] + slack)
