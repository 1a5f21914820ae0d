"""Which font of a PDF has a letter.

The fonts are those that every reader of PDF knows: Helvetica for Latin letters, Symbol for Greek ones and mathematics,
and for other scripts the Asian ones that readers bring or replace (they are not embedded). What none has is printed
without its accent, or as a box.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import groupby

LATIN, BOLD, ITALIC = "Helvetica", "Helvetica-Bold", "Helvetica-Oblique"
_ASIAN = (("cp932", "HeiseiKakuGo-W5"), ("gb18030", "STSong-Light"), ("cp949", "HYGothic-Medium"))
_FONTS = (("symbolencoding", "Symbol"), *_ASIAN)
"""Code pages with the font that has their letters, in the order in which they are asked."""
_FIRST_ASIAN = 0x1100
"""Below it, Asian code pages have Latin letters that readers' fonts often lack."""
_CHINESE_LIMIT = 0xFFFF
_BOX = "□"
_PLAIN = {"Ł": "L", "ł": "l", "đ": "d", "Đ": "D", "ı": "i", "ħ": "h", "−": "–", "‐": "-", "‑": "-", "‒": "–"}
"""Letters that do not come apart into one that is known and an accent."""


@cache
def register() -> None:
    """Make the Asian fonts known to the library, once."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.rl_codecs import RL_Codecs

    RL_Codecs.register()

    for _, name in _ASIAN:
        pdfmetrics.registerFont(UnicodeCIDFont(name))


def in_fonts(text: str, latin: str = LATIN) -> Iterator[tuple[str, str]]:
    """The text in pieces of one font each: the font's name and the piece."""
    register()
    letters = [printed for letter in text for printed in _printed(letter)]
    for font, run in groupby(letters, key=lambda letter: font_of(letter) or latin):
        yield font, "".join(run)


def is_asian(text: str) -> bool:
    """Whether lines may end between any two letters, as in Japanese."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return wide > len(text) / 4


@cache
def font_of(letter: str) -> str | None:
    """The font of a letter that is not Latin; None where a Latin one has it, or none."""
    if _encodes(letter, "cp1252") or ord(letter) > _CHINESE_LIMIT:
        return None
    fonts = _FONTS if ord(letter) >= _FIRST_ASIAN else _FONTS[:1]
    return next((font for code, font in fonts if _encodes(letter, code)), None)


@cache
def _printed(letter: str) -> str:
    if _encodes(letter, "cp1252") or font_of(letter) is not None:
        return letter
    simpler = _PLAIN.get(letter) or "".join(
        c for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c)
    )
    known = all(_encodes(c, "cp1252") or font_of(c) is not None for c in simpler)
    return simpler if simpler and simpler != letter and known else _BOX


def _encodes(letter: str, code: str) -> bool:
    try:
        encoded = letter.encode(code)
    except UnicodeEncodeError:
        return False
    return code != "gb18030" or len(encoded) <= 2
