"""Reads pdfium's data on each character of a page into NumPy arrays.

A page has thousands of characters and pdfium has no call for all of them, so the cost of each call dominates. The calls
use bare prototypes (without declared arguments ctypes converts next to nothing, and keeps the interpreter's lock), are
driven by `map`, and boxes are written by pdfium directly into one reused array.
"""

import ctypes
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import repeat
from typing import Any

import numpy as np

from monjyu_assets.parsing.formats.pdf.read.bitmap_fonts import LETTERS, spelled
from monjyu_assets.parsing.formats.pdf.read.geometry import Area, Bools, Floats, Ints

_BLOCK = 4096
"""How many characters' boxes, or text objects' matrices, are read before they are copied."""


@dataclass
class RawCharacters:
    """One row per character: code unit, loose box (x0, y0, x1, y1; y up), text object (-1 if pdfium made it up).

    `matrices` (a, b, c, d, e, f, font size), `fonts` and `faces` have one row per text object, in the order of first
    appearance. Fonts with the same properties are one font, but several faces.
    """

    codes: Ints
    boxes: Floats
    matrices: Floats
    objects: Ints
    fonts: Ints
    faces: Ints
    count: int


def raw_characters(text_page: Any, font_id: Callable[[int], int]) -> RawCharacters:
    """All characters of a loaded text page; `font_id` returns the number of a font for its pointer (0 without a
    font)."""
    calls = _calls()
    page = ctypes.cast(text_page, ctypes.c_void_p)
    count = max(0, calls.count(page))
    codes = np.fromiter(map(calls.code, repeat(page), range(count)), np.int64, count)
    boxes = calls.filled(calls.box, page, range(count), (0.0, 0.0, 0.0, 0.0))[:, [0, 3, 2, 1]]
    pointers: list[int | None] = list(map(calls.text_object, repeat(page), range(count)))
    first = dict(zip(reversed(pointers), range(count - 1, -1, -1), strict=True))
    first.pop(None, None)
    order = sorted(first, key=first.__getitem__)
    numbers = dict(zip([None, *order], range(-1, len(order)), strict=True))
    places = [first[pointer] for pointer in order]
    matrices = calls.filled(calls.matrix, page, places, (1.0, 0.0, 0.0, 1.0, 0.0, 0.0))
    sizes = np.fromiter(map(calls.font_size, repeat(page), places), float, len(places))
    faces: dict[int | None, int] = {}
    own: list[int] = []
    for pointer in map(calls.font, map(ctypes.c_void_p, order)):
        own.append(faces.setdefault(pointer, len(faces)))
    ids = np.array([font_id(pointer or 0) for pointer in faces], np.int64)
    objects = np.fromiter(map(numbers.__getitem__, pointers), np.int64, count)
    face = np.array(own, np.int64)
    fonts = ids[face] if len(face) else face
    return RawCharacters(codes, boxes, np.column_stack([matrices, sizes]), objects, fonts, face, count)


def tight_boxes(text_page: Any, places: Ints) -> Floats:
    """The boxes (x0, y0, x1, y1; y up) of the drawn shapes of the characters, because the loose boxes of some fonts are
    wrong."""
    import pypdfium2.raw as pdfium

    sides = [ctypes.c_double() for _ in range(4)]  # left, right, bottom, top
    pointers = [ctypes.byref(side) for side in sides]
    result = np.zeros((len(places), 4))
    for row, place in enumerate(places.tolist()):
        if pdfium.FPDFText_GetCharBox(text_page, place, *pointers):
            left, right, bottom, top = (side.value for side in sides)
            result[row] = left, bottom, right, top
    return result


class _Calls:
    """pdfium's functions of a text page as bare prototypes, and memory into which they write."""

    def __init__(self) -> None:
        self.count = _bare("FPDFText_CountChars", ctypes.c_int)
        self.code = _bare("FPDFText_GetUnicode", ctypes.c_uint)
        self.box = _bare("FPDFText_GetLooseCharBox", ctypes.c_int)
        self.text_object = _bare("FPDFText_GetTextObject", ctypes.c_void_p)
        self.matrix = _bare("FPDFText_GetMatrix", ctypes.c_int)
        self.font_size = _bare("FPDFText_GetFontSize", ctypes.c_double)
        self.font = _bare("FPDFTextObj_GetFont", ctypes.c_void_p)
        self._memory: dict[int, tuple[Any, list[ctypes.c_void_p]]] = {}

    def filled(self, call: Any, page: ctypes.c_void_p, places: Any, default: tuple[float, ...]) -> Floats:
        """The floats that `call(page, place, out)` writes for each place; `default` if it fails."""
        result = np.zeros((len(places), len(default)))
        memory, addresses = self._rows(len(default))
        for start in range(0, len(places), _BLOCK):
            part = places[start : start + _BLOCK]
            memory[: len(part)] = default
            _run(map(call, repeat(page), part, addresses))
            result[start : start + len(part)] = memory[: len(part)]
        return result

    def _rows(self, width: int) -> tuple[Any, list[ctypes.c_void_p]]:
        """A block of rows of `width` C floats, and the address of each row."""
        if width not in self._memory:
            memory = np.zeros((_BLOCK, width), np.float32)
            stop = memory.ctypes.data + memory.nbytes
            self._memory[width] = memory, list(map(ctypes.c_void_p, range(memory.ctypes.data, stop, 4 * width)))
        return self._memory[width]


@lru_cache(maxsize=1)
def _calls() -> _Calls:
    return _Calls()


def _bare(name: str, result: Any) -> Any:
    """A function of pdfium without declared arguments: pass C ints as int, pointers as `c_void_p`."""
    import pypdfium2.raw as pdfium

    address = ctypes.cast(getattr(pdfium, name), ctypes.c_void_p).value
    assert address
    return ctypes.PYFUNCTYPE(result)(address)


def _run(calls: Iterable[Any]) -> None:
    for _ in calls:
        pass


# Codes and directions of characters, made uniform.
_LIGATURES = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_REPLACED = {"\u0002": "-", "\u00ad": "-", "\u2010": "-", "\u2011": "-", **_LIGATURES}


def joined_codes(codes: Ints) -> tuple[Ints, Bools]:
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


def expert_codes(codes: Ints) -> Ints:
    """Replace old-style figures and small capitals (U+F721 to U+F7FE of Adobe's glyph list, whose low byte is the
    character) by plain figures and capitals."""
    low = codes & 0xFF
    expert = (codes >> 8 == 0xF7) & (low > 0x20) & ((low < 0x7F) | (low > 0xA0))
    small = ((low > 0x60) & (low < 0x7B)) | ((low > 0xDF) & (low < 0xFF))
    return np.where(expert, low - 0x20 * small, codes)


def dominant_turn(turns: Ints) -> int:
    """The quarter turn of most text: upright unless three quarters of a page's characters are turned another way (a
    landscape table)."""
    if not len(turns):
        return 0
    counts = np.bincount(turns[turns >= 0], minlength=4)
    best = int(np.argmax(counts))
    return best if counts[best] > 0.75 * len(turns) else 0


@cache
def readable(code: int) -> str:
    """A character as it is read: ligatures and letters of formulas as plain letters, all hyphens alike."""
    if code >= LETTERS:
        return spelled(code)
    character = chr(code)
    if 0x1D400 <= code <= 0x1D7FF:
        return unicodedata.normalize("NFKC", character)  # letters of formulas
    return _REPLACED.get(character, character)


@dataclass(frozen=True)
class Aside:
    """Text that runs in another direction than that of its page (a stamp in the margin, the label of an axis), and its
    box."""

    text: str
    box: Area


def asides(codes: Ints, rows: Ints, turns: Ints, boxes: Floats) -> list[Aside]:
    """The characters that run in another direction than the text of the page, with a space wherever invisible
    characters were left out.

    `rows` are their indices in `codes`; `turns` and `boxes` (x0, y0, x1, y1) belong to `rows`.
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
