"""Whether a sentence is quotable prose: no code, heading, list item or table row."""

from __future__ import annotations

import re

from monjyu_assets.levels.phrases.cleaning import clean

_WORD = re.compile(r"[^\W\d_]{2,}")
_CODE = re.compile(
    r"[={}\\<>|]{1,3}|^\s{0,4}(?:#|import |from \w{1,40} import |>>>|\$ )|\w\(\w{0,40}\)|[_/]\w{1,40}[_/]"
)
_ENDS = frozenset(".!?。！？”\"')）")
_GAPS = ((" .", "."), (" ,", ","), (" ;", ";"), (" )", ")"), ("( ", "("), (" :", ":"), (" 。", "。"), (",.", "."))
FEWEST_WORDS, MOST_WORDS = 6, 80


def is_prose(text: str, *, japanese: bool = False) -> bool:
    """Whether a text is prose. English needs enough words, a final mark, mostly letters and no code; Japanese a
    sentence."""
    text = text.strip()
    if japanese:
        return 12 <= len(text) <= 300 and text[-1:] in _ENDS and not _CODE.search(text)
    if not text or text[-1] not in _ENDS or not (text[0].isalnum() or text[0] in '“"(') or text[0].islower():
        return False
    if not FEWEST_WORDS <= len(_WORD.findall(text)) <= MOST_WORDS or len(_CODE.findall(text)) > 1:
        return False
    letters = sum(letter.isalpha() for letter in text)
    return letters >= 0.65 * len(text.replace(" ", "")) and not text.isupper()


def statement_of(text: str) -> str:
    """The sentence without citation markers and the gaps that they leave."""
    cleaned = clean(text, narrative=False)
    for gap, mark in _GAPS:
        cleaned = cleaned.replace(gap, mark)
    return cleaned
