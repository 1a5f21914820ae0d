"""Which font of a PDF has a letter.

The fonts are those that every reader of PDF knows: Helvetica for Latin letters, and for other scripts the Asian ones
that readers bring or replace (they are not embedded). What none has is printed without its accent, or as a box.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import groupby

LATIN, BOLD, ITALIC = "Helvetica", "Helvetica-Bold", "Helvetica-Oblique"
_ASIAN = (("cp932", "HeiseiKakuGo-W5"), ("gb18030", "STSong-Light"), ("cp949", "HYGothic-Medium"))
"""Code pages with the font that has their letters, in the order in which they are asked."""
_CHINESE_LIMIT = 0xFFFF
_BOX = "□"


@cache
def register() -> None:
    """Make the Asian fonts known to the library, once."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont

    for _, name in _ASIAN:
        pdfmetrics.registerFont(UnicodeCIDFont(name))


def in_fonts(text: str, latin: str = LATIN) -> Iterator[tuple[str, str]]:
    """The text in pieces of one font each: the font's name and the piece."""
    letters = [printed for letter in text for printed in _printed(letter)]
    for font, run in groupby(letters, key=lambda letter: font_of(letter) or latin):
        yield font, "".join(run)


def is_asian(text: str) -> bool:
    """Whether lines may end between any two letters, as in Japanese."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return wide > len(text) / 4


@cache
def font_of(letter: str) -> str | None:
    """The Asian font of a letter; None where a Latin one has it. A space belongs to Latin."""
    if _encodes(letter, "cp1252"):
        return None
    return next((font for code, font in _ASIAN if ord(letter) <= _CHINESE_LIMIT and _encodes(letter, code)), None)


@cache
def _printed(letter: str) -> str:
    if _encodes(letter, "cp1252") or font_of(letter) is not None:
        return letter
    simpler = "".join(c for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c))
    known = all(_encodes(c, "cp1252") or font_of(c) is not None for c in simpler)
    return simpler if simpler != letter and known else _BOX


def _encodes(letter: str, code: str) -> bool:
    try:
        encoded = letter.encode(code)
    except UnicodeEncodeError:
        return False
    return code != "gb18030" or len(encoded) <= 2
