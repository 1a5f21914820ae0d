"""Reads the characters of a PDF page once from pypdfium2 into NumPy arrays."""

import ctypes
import re
import unicodedata
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from monjyu_assets.parsing.formats.pdf.read.bitmap_fonts import LETTERS, measured_faces, tex_codes
from monjyu_assets.parsing.formats.pdf.read.geometry import (
    Area,
    Bools,
    Drawn,
    Floats,
    Ints,
    displayed,
    drawn_objects,
    turned,
)
from monjyu_assets.parsing.formats.pdf.read.raw_characters import (
    Aside,
    RawCharacters,
    asides,
    dominant_turn,
    expert_codes,
    joined_codes,
    quarter_turns,
    raw_characters,
    readable,
    tight_boxes,
)

# Puts accents that a PDF draws as separate glyphs back on their letters.
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
    """Merge each free-standing accent over a neighbouring letter into that letter (NFC), in place."""
    drop: list[int] = []
    marks = {character: mark for character in set(page.text) if (mark := _mark(character))}
    if not marks:
        return
    for i in [i for i, character in enumerate(page.text) if character in marks]:
        mark = marks.get(page.text[i])  # the letter of the previous accent has been replaced
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
    """The combining character of an accent; None for any other text."""
    return _COMBINING.get(character) or (character if unicodedata.combining(character[:1] or " ") else None)


def _composed(letter: str, mark: str) -> str | None:
    """Letter and mark as one character; None if there is no such character."""
    letter = _DOTLESS.get(letter, letter)
    composed = unicodedata.normalize("NFC", letter + mark)
    if mark == "\u0306" and len(composed) > 1:  # some encodings name a caron a breve
        composed = unicodedata.normalize("NFC", letter + "\u030c")
    return composed if letter.isalpha() and len(composed) == 1 else None


def _under(page: _Chars, accent: int, mark: str) -> int | None:
    """The letter over which the accent is drawn, anywhere in the file, because some programs draw a line's accents
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
    """Whether a free accent is directly between two letters, because some fonts state its width as if it were next to
    its letter."""
    if accent + 1 >= len(page.text) or page.text[accent] in "`^":
        return False
    before, after = accent - 1, accent + 1
    level = abs(page.base[before] - page.base[after]) < 0.1 * page.size[after]
    tight = abs(page.x0[after] - page.x1[accent]) < 0.12 * page.size[after]
    touching = abs(page.x0[accent] - page.x1[before]) < 0.12 * page.size[before]
    return bool(page.text[after].isalpha() and level and tight and touching)


def _over(page: _Chars, accent: int, letter: int) -> bool:
    """Whether the accent's middle lies within the letter, on nearly the same line."""
    middle = (page.x0[accent] + page.x1[accent]) / 2
    slack = 0.1 * page.size[letter]
    level = abs(page.base[accent] - page.base[letter]) < 0.5 * page.size[letter]
    return bool(level and page.x0[letter] - slack <= middle <= page.x1[letter] + slack)


_BOLD = re.compile(r"bold|black|heavy|demi|cmbx|cmssbx|[-,]bd|[-.]b(i|$)|medi(um)?(ital)?$", re.I)
_ITALIC = re.compile(r"ital|obliq|slant|cmti|cmmi|cmsl|[-,]it?$|[-.]bi$", re.I)
_FORCE_BOLD, _ITALIC_FLAG = 1 << 18, 1 << 6


LINE_BREAKS = (ord("\r"), ord("\n"))


@dataclass(frozen=True)
class Font:
    """The properties of a font that matter for the layout."""

    name: str
    bold: bool
    italic: bool


@dataclass
class PageChars:
    """One page. Arrays have one row per visible character, in the order of the content stream.

    Coordinates are PDF points in the displayed page (rotation and crop box applied), origin top-left, y down. `base` is
    the y of the baseline; `size` the height of the font in points; `gap_before` is True if the content stream has a
    space in front of the character. `turn` is the quarter turn of the dominant text direction (0 for upright pages);
    arrays, `drawn` and `asides` are in the frame that makes that text upright, see `to_page`.
    """

    number: int
    width: float
    height: float
    text: list[str]
    x0: Floats
    y0: Floats
    x1: Floats
    y1: Floats
    base: Floats
    size: Floats
    font: Ints
    gap_before: Bools
    drawn: Drawn = field(default_factory=Drawn)
    raw_count: int = 0
    garbled: int = 0
    turn: int = 0
    asides: list[Aside] = field(default_factory=list)

    @property
    def turned(self) -> str:
        """The text that runs in another direction than the page's, one line per piece."""
        return "\n".join(aside.text for aside in self.asides)

    @property
    def shown(self) -> int:
        """The number of characters on the page in any direction, without spaces."""
        return len("".join("".join(self.text).split())) + sum(len("".join(aside.text.split())) for aside in self.asides)

    @cached_property
    def glyphs(self) -> NDArray[Any]:
        """`text` as an array of strings; use it and `cjk` only after the accents have been merged."""
        return np.array(self.text, object)

    @cached_property
    def cjk(self) -> Bools:
        """Which characters are Chinese, Japanese or Korean."""
        return np.fromiter(map(_is_cjk, self.text), np.bool_, len(self.text))

    def to_page(self, box: Area) -> Area:
        """Convert a box from the reading frame to the frame of the displayed page."""
        x0, y0, x1, y1 = box
        if self.turn == 1:
            return (y0, self.width - x1, y1, self.width - x0)
        if self.turn == 2:
            return (self.width - x1, self.height - y1, self.width - x0, self.height - y0)
        if self.turn == 3:
            return (self.height - y1, x0, self.height - y0, x1)
        return box


@cache
def _is_cjk(character: str) -> bool:
    return "\u2e80" <= character[:1] <= "\u9fff" or "\uf900" <= character[:1] <= "\uffef"


def empty_page(number: int) -> PageChars:
    """A page without characters, in place of one that cannot be read."""
    none, whole = np.zeros(0), np.zeros(0, np.int64)
    return PageChars(number, 612.0, 792.0, [], none, none, none, none, none, none, whole, np.zeros(0, bool))


class FontTable:
    """Fonts of a document by id; pointers are trusted only within a page, names across pages."""

    def __init__(self) -> None:
        self.fonts: list[Font] = []
        self._ids: dict[Font, int] = {}

    def add(self, font: Font) -> int:
        if font not in self._ids:
            self._ids[font] = len(self.fonts)
            self.fonts.append(font)
        return self._ids[font]


def read_page(document: Any, index: int, fonts: FontTable) -> PageChars:
    """Return the characters of page `index` (0-based) of a `pypdfium2.PdfDocument`.

    Raises `pypdfium2.PdfiumError` when the page cannot be loaded.
    """
    import pypdfium2.raw as pdfium

    page = document[index]
    try:
        box = page.get_bbox()
        rotation = int(page.get_rotation()) // 90 % 4
        width, height = page.get_size()
        text_page = pdfium.FPDFText_LoadPage(page.raw)
        try:
            raw = raw_characters(text_page, lambda pointer: _font_id(pdfium, pointer, fonts))
            nameless = _nameless(raw, fonts)
            drawings = _of_other_size(raw, nameless)
            if len(drawings):
                raw.boxes[drawings] = tight_boxes(text_page, drawings)
        finally:
            pdfium.FPDFText_ClosePage(text_page)
        drawn = drawn_objects(pdfium, page, box, rotation)
    finally:
        page.close()
    return _page(index + 1, width, height, box, rotation, raw, drawn, nameless, fonts)


def _turned_boxes(boxes: Floats, page: Area, rotation: int, width: float, height: float, turn: int) -> Floats:
    """Boxes (x0, y0, x1, y1) of user space in the frame in which text with the quarter turn `turn` is upright."""
    corners = [turned(*displayed(boxes[:, x], boxes[:, x + 1], page, rotation), width, height, turn) for x in (0, 2)]
    (xa, ya), (xb, yb) = corners
    return np.column_stack([np.minimum(xa, xb), np.minimum(ya, yb), np.maximum(xa, xb), np.maximum(ya, yb)])


def _nameless(raw: RawCharacters, fonts: FontTable) -> Bools:
    """Which faces have no name, like those of Type 3 fonts."""
    if not len(raw.faces):
        return np.zeros(0, bool)
    result = np.zeros(int(raw.faces.max()) + 1, bool)
    result[raw.faces] = [not fonts.fonts[font].name for font in raw.fonts.tolist()]
    return result


def _of_other_size(raw: RawCharacters, nameless: Bools) -> Ints:
    """Characters of nameless fonts whose boxes show that the size given in the file is not theirs."""
    if not nameless.any():
        return np.zeros(0, np.int64)
    rows = np.flatnonzero(raw.objects >= 0)
    own = raw.objects[rows]
    said = raw.matrices[own, 6] * np.hypot(raw.matrices[own, 2], raw.matrices[own, 3])
    boxes = raw.boxes[rows]
    sides = np.sort(np.column_stack([boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]]), axis=1)
    other = (said < 2) | (sides[:, 0] > 1.6 * said) | (sides[:, 1] < 0.45 * said)
    odd: Ints = rows[nameless[raw.faces[own]] & other]
    return odd


def _font_id(pdfium: Any, pointer: int, fonts: FontTable) -> int:
    return fonts.add(_font(pdfium, ctypes.cast(pointer, pdfium.FPDF_FONT)) if pointer else Font("", False, False))


def _font(pdfium: Any, pointer: Any) -> Font:
    length = int(pdfium.FPDFFont_GetBaseFontName(pointer, None, 0))
    buffer = ctypes.create_string_buffer(max(1, min(length, 512)))
    pdfium.FPDFFont_GetBaseFontName(pointer, buffer, len(buffer))
    name = buffer.value.decode("utf-8", "replace")
    name = re.sub(r"^[A-Z]{6}\+", "", name)
    flags = max(0, int(pdfium.FPDFFont_GetFlags(pointer)))
    bold = bool(_BOLD.search(name)) or bool(flags & _FORCE_BOLD)
    italic = bool(_ITALIC.search(name)) or bool(flags & _ITALIC_FLAG)
    return Font(name, bold, italic)


def _as_cyrillic(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Replace codes by those of Cyrillic letters where a Russian font uses the codes of Windows (cp1251) but its PDF
    declares Latin-1: on pages where more than 30 % of the letters have accents, as in no language in Latin letters."""
    accented = (codes >= 0xC0) & (codes <= 0xFF)
    plain = ((codes | 0x20) >= 0x61) & ((codes | 0x20) <= 0x7A)
    if np.count_nonzero(accented) <= 0.3 * np.count_nonzero(accented | plain):
        return codes
    codes = np.where(accented, codes + 0x350, codes)
    return np.where(codes == 0xA8, 0x401, np.where(codes == 0xB8, 0x451, codes))


def _page(
    number: int,
    width: float,
    height: float,
    box: Area,
    rotation: int,
    raw: RawCharacters,
    drawn: Drawn,
    nameless: Bools,
    fonts: FontTable,
) -> PageChars:
    codes, halves = joined_codes(raw.codes)
    codes[codes >= LETTERS] = 0  # no character at all
    if nameless.any():
        codes = tex_codes(codes, np.where(raw.objects >= 0, raw.faces[np.maximum(raw.objects, 0)], -1), nameless)
    codes = _as_cyrillic(expert_codes(codes))
    printable = (codes > 0x20) & (codes != 0xA0) & (codes != 0xFFFE) & ((codes < 0x7F) | (codes > 0x9F))
    printable &= (codes < 0xD800) | (codes > 0xDFFF)
    visible = (raw.objects >= 0) & (printable | (codes == 2))
    garbled = int(np.count_nonzero(visible & ((codes == 0xFFFD) | ((codes >= 0xE000) & (codes <= 0xF8FF)))))
    garbled += int(np.count_nonzero((raw.objects >= 0) & (codes < 9) & (codes != 2)))
    kept = np.flatnonzero(visible)
    matrix = raw.matrices[raw.objects[kept]] if len(kept) else np.zeros((0, 7))
    turns = quarter_turns(matrix, rotation)
    turn = dominant_turn(turns)
    boxes = _turned_boxes(raw.boxes[kept], box, rotation, width, height, turn)
    other = turns != turn
    aside = asides(codes, kept[other], turns[other], boxes[other])
    kept, matrix, boxes = kept[~other], matrix[~other], boxes[~other]
    origin_x, origin_y = displayed(matrix[:, 4], matrix[:, 5], box, rotation)
    _, base = turned(origin_x, origin_y, width, height, turn)
    if turn % 2:
        page_width, page_height = height, width
    else:
        page_width, page_height = width, height
    size = matrix[:, 6] * np.hypot(matrix[:, 2], matrix[:, 3])
    font = raw.fonts[raw.objects[kept]] if len(kept) else np.zeros(0, np.int64)
    x0, y0, x1, y1 = boxes.T
    if nameless.any() and len(kept):
        face = raw.faces[raw.objects[kept]]
        measured = measured_faces(codes[kept], face, nameless, np.column_stack([x0, x1, base - y0, y1 - base]), size)
        size = np.where(np.isfinite(measured.sizes[face]), measured.sizes[face], size)
        if measured.bold.any():
            font = np.where(measured.bold[face], fonts.add(Font("", True, False)), font)
    middle_x, middle_y = (x0 + x1) / 2, (y0 + y1) / 2
    inside = (middle_x > -2) & (middle_x < page_width + 2) & (middle_y > -2) & (middle_y < page_height + 2) & (size > 1)
    spaced = np.zeros(raw.count + 1, np.int64)
    # pdfium inserts a line break at every unusual glyph, so a break does not indicate a space.
    spaced[1:] = np.cumsum(~visible & ~halves & ~np.isin(codes, LINE_BREAKS))
    before = spaced[kept] - spaced[np.concatenate([[0], kept[:-1] + 1])] if len(kept) else np.zeros(0, np.int64)
    page = PageChars(
        number=number, width=page_width, height=page_height,
        text=list(map(readable, codes[kept[inside]].tolist())),
        x0=x0[inside], y0=y0[inside], x1=x1[inside], y1=y1[inside], base=base[inside], size=size[inside],
        font=font[inside],
        gap_before=before[inside] > 0, drawn=drawn.moved(width, height, turn),
        raw_count=int(visible.sum()), garbled=garbled, turn=turn, asides=aside,
    )  # fmt: skip
    compose_accents(page)
    return page
