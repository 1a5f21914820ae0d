"""Japanese in Latin letters, as far as keys need it: kana by table, the rest as it is read (extra `ja`)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import product
from typing import Any

_ROWS = {
    "": "アイウエオ", "k": "カキクケコ", "g": "ガギグゲゴ", "s": "サシスセソ", "z": "ザジズゼゾ",
    "t": "タチツテト", "d": "ダヂヅデド", "n": "ナニヌネノ", "h": "ハヒフヘホ", "b": "バビブベボ",
    "p": "パピプペポ", "m": "マミムメモ", "r": "ラリルレロ",
}  # fmt: skip
_IRREGULAR = {
    "シ": "shi", "ジ": "ji", "チ": "chi", "ヂ": "ji", "ツ": "tsu", "ヅ": "zu", "フ": "fu", "ヤ": "ya", "ユ": "yu",
    "ヨ": "yo", "ワ": "wa", "ヲ": "o", "ン": "n", "ヴ": "vu", "ー": "", "ヱ": "e", "ヰ": "i",
}  # fmt: skip
_SMALL = dict(zip("ァィゥェォャュョ", ("a", "i", "u", "e", "o", "ya", "yu", "yo"), strict=True))
_KANA = {kana: head + vowel for head, row in _ROWS.items() for kana, vowel in zip(row, "aiueo", strict=True)}
_KANA |= _IRREGULAR
_PAIRS = {
    large + small: head[:-1] + (sound[1:] if head[:-1] in ("sh", "ch", "j") and len(sound) > 1 else sound)
    for (large, head), (small, sound) in product(_KANA.items(), _SMALL.items())
    if head and (head[-1] == "i" or sound in "aiueo")
}
_VARIANTS = str.maketrans("髙﨑", "高崎")
"""Forms of ideographs in names that dictionaries do not have."""
_HIRAGANA = {code: code + 0x60 for code in range(0x3041, 0x3097)}
_JAPANESE = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]")


def is_japanese(text: str) -> bool:
    """Whether it holds kana or ideographs."""
    return _JAPANESE.search(text) is not None


def romaji(text: str) -> str:
    """Kana in Hepburn's letters without macrons (ガクシュウ: gakushuu); what is no kana stays."""
    kana = unicodedata.normalize("NFKC", text).translate(_HIRAGANA)
    kana = re.sub("|".join(sorted(_PAIRS, key=len, reverse=True)), lambda match: _PAIRS[match.group()], kana)
    sound = "".join(_KANA.get(character, _SMALL.get(character, character)) for character in kana)
    return re.sub(r"ッ([a-z])", r"\1\1", sound).replace("ッ", "")


def family_name(name: str) -> str:
    """Of a Japanese name, which begins with it, as it is read; empty where that cannot be known."""
    first = name.split()[0]
    words = readings(first) or [("", romaji(first))]
    sound = next((sound for kind, sound in words if kind == "姓"), words[0][1])
    return "" if is_japanese(sound) else sound


def readings(text: str) -> list[tuple[str, str]]:
    """(kind, reading in Latin letters) of each noun and name; none without the extra `ja`."""
    tokenizer = _tokenizer()
    if tokenizer is None:
        return []
    return [
        (word.part_of_speech()[3], romaji(word.reading_form()))
        for word in tokenizer.tokenize(text.translate(_VARIANTS))
        if word.part_of_speech()[0] == "名詞"
    ]


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    try:
        from sudachipy import Dictionary

        return Dictionary(dict="small").tokenizer()
    except (ImportError, OSError, ValueError):  # without the extra, or without its dictionary
        return None
