"""Names of people as papers write them: particles, and lists of authors taken apart. The only home of these patterns.

What a list of names may look like depends on where it stands, so particles and separators differ; each is named for
its place. Authors at the head of a reference are read in `reference_authors`.
"""

from __future__ import annotations

import re

from monjyu_assets.parsing.bibliography.dates import LONG_MONTHS
from monjyu_core.paper import Author

UPPER = "[^\\W\\d_a-z\u00df-\u00f6\u00f8-\u00ff]"
"""A capital letter of any script that has them."""
CITED_PARTICLE = (
    r"(?:van|von|de|der|den|del|della|di|da|dos|du|la|le|ter|ten|zu|al|el|Van|Von|De|Der|Den|Du|La|Le|Di|Da)"
)
"""In a citation ("de la Cruz, 2019")."""
LISTED_PARTICLE = (
    r"(?:(?:[vV]an|[vV]on|[dD]er?|[dD]en|[dD]el|[dD]ella|[dD]i|[dD]a|[dD]os|[dD]u|"
    r"[lL]a|[lL]e|[tT]er|[tT]en|[zZ]u|[aA]l|[eE]l|[bB]in|'t)[\s-]+)"
)
"""In front of a surname in a reference list, with the space or hyphen behind it."""
NO_PARTICLE = r"(?!and\b|van\b|von\b|der\b|den\b)"
"""In front of a word that would be the sign of a sentence if it were not one of these."""
ENTRY_NAME = re.compile(
    r"(?:(?:[vV]an|[vV]on|[dD]e|[dD]er|[dD]en|[dD]el|[dD]i|[dD]u|[lL]a|[lL]e)\s){0,2}[^\W\d_a-z][\w'\u2019-]+,?\s+(?:[^\W\d_a-z]|and\b|&|\()|"
    r"(?:[^\W\d_a-z]\.[\s-]?){1,3}[^\W\d_a-z]"
)
"""A name that an entry of a reference list may begin with."""

_NAME_MARKS = re.compile(r"\^[^^]*\^|<[^>]*>|\[[^\]]*\]|[*†‡§¶#∗⁎\d¹²³⁰-⁹_`]+")  # marks that point at footnotes


def split_names(text: str) -> list[str]:
    """Author names of one line: "A. Ames, B. Birk and C. Cole", "Ames, A.; Birk, B.", 山田太郎・鈴木花子."""
    text = _NAME_MARKS.sub("", text)
    separator = r"\s*;\s*" if ";" in text else r"\s*(?:,\s*and\s|,|&|\band\b|・|、|，)\s*"
    return [name for part in re.split(separator, text) if (name := " ".join(part.split()).strip(" ,"))]


_NAME_WORD = re.compile(r"[A-Z\u00c0-\u024f][\w'’.-]*|d[aeiou]|de[lnr]|della|dos|v[ao]n|ter|bin|al|l[ae]|du|y")
_NO_NAME = re.compile(
    r"(?i)\b(?:university|institute|department|journal|proceedings|laboratory|school|college|inc|press|research"
    r"|center|centre|introduction|abstract|the|of|for|with|on|in)\b"
)


def author_line(line: str) -> list[Author]:
    """The authors where the whole line is a list of personal names in Latin letters, else nothing."""
    if len(line) > 600 or _NO_NAME.search(line) or re.search(r"[.!?:]$|[:!?]", line.strip(" *")):
        return []
    names = split_names(line)
    return [Author(name=name) for name in names] if names and all(map(_is_name, names)) else []


def _is_name(text: str) -> bool:
    words = text.split()
    return 2 <= len(words) <= 6 and all(_NAME_WORD.fullmatch(word) for word in words)


_KANJI = r"[\u3005\u4e00-\u9fff]"
_FAMILY = rf"{_KANJI}{{1,4}}"
_GIVEN = r"[\u3005\u4e00-\u9fff\u3041-\u30ff]{1,4}"
_APART = re.compile(rf"{_FAMILY}[ \u3000]{_GIVEN}")
_CLOSED = re.compile(rf"{_FAMILY}{_GIVEN}")


def japanese_authors(line: str) -> list[Author]:
    """Authors where the whole line is names in Japanese letters: several with marks between, or 山田 太郎."""
    names = [" ".join(name.split()) for name in re.split(r"\s*[・、，,;；/／]\s*", _FOOTNOTES.sub("", line).strip())]
    if not 1 <= len(names) <= 60 or not all(2 <= len(name) <= 9 for name in names):
        return []
    apart = [_APART.fullmatch(name) is not None for name in names]
    if all(apart) or (len(names) > 1 and all(a or _CLOSED.fullmatch(n) for a, n in zip(apart, names, strict=True))):
        return [Author(name=name) for name in names] if not any(map(_no_person, names)) else []
    return []


_FOOTNOTES = re.compile(r"[*†‡§¶#∗\d¹²³⁰-⁹()（）]+")


def _no_person(name: str) -> bool:
    """A word of a front page or a heading that is written like a name."""
    return (
        re.search(r"大学|学部|学科|研究|株式|会社|論文|概要|要旨|年|月|手法|実験|結果|方法|検索|解析|問題", name)
        is not None
    )


DEGREE = re.compile(
    r"(?:[,\s]+(?:Ph\.?\s?D|M\.?\s?D|M\.?\s?Sc|B\.?\s?Sc|M\.?S|MPH|DVM|MBBS|FRCP|RN|MBA|Jr|Sr)\.?)+"
    r"(?=\s*(?:[,;&*\u2020]|\d|$|and\b))|\b(?:Dr|Prof)\.\s"
)
PRINTED_MARKS = re.compile(
    r"[*\u2217\u2020\u2021\u00a7\u00b6\u2016#\u2709\ue000-\uf8ff\u25a0\u2606\u2605|\u00a9\u00ae]|\b\d{1,2}\b|(?<=\D)\d{1,2}$"
)
PRINTED_SEPARATOR = re.compile(r"\s*(?:,|;|\u00b7|\u2022|\u2013|\u2014|\band\b|\bAnd\b|\bAND\b|&|\bet\b|\bund\b)\s*")
_PARTICLES = {
    "van", "von", "der", "den", "de", "del", "della", "di", "da", "dos", "du", "la", "le", "ter", "ten", "bin", "ibn",
    "al", "el", "y", "e", "st", "zu", "af", "do", "das", "mac", "ben", "op", "vom", "zur", "st.",
}  # fmt: skip
_NOT_NAMES = re.compile(
    r"\b(?:universit|institut|depart[e]?ment|facult|laborator|hospital|academ|correspond|introduc|keyword|licen[sc]e|"
    r"copyright|corporation|foundation|contribut|manuscript|engineer|technolog|software|repositor|environmental)|"
    r"\b(?:dept|school|college|center|centre|centro|division|research|national|science|sciences|medicine|street|road|"
    r"avenue|box|email|e-mail|author|authors|editor|editors|edited|reviewed|review|received|accepted|published|abstract|"
    r"journal|article|open|access|press|inc|ltd|gmbh|group|project|team|usa|uk|china|india|japan|germany|france|italy|"
    r"spain|brazil|canada|australia|netherlands|switzerland|"
    rf"{LONG_MONTHS}|the|of|for|with|from|in|on|to|by|an|is|are|using|based|analysis|study|effect|effects|"
    r"learning|system|systems|model|models|data|method|methods|approach|toward|towards|summary|background|volume|"
    r"biology|physics|chemistry|mathematics|computer|archive|submitted|state|city|united|kingdom|states|equal|version|"
    r"general|information|notice|notices|contents|chapter|section|table|figure|appendix|report|we|our|this|that|these|new|how|what|why|can|not|results|discussion|conclusion|conclusions)\b",
    re.I,
)  # fmt: skip
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|[-'\u2019\u02bc.](?=[^\W\d_]))*\.?$")
_JAPANESE_NAME = re.compile(r"[\u4e00-\u9fff\u3040-\u30ff]{1,4}[ \u3000]?[\u4e00-\u9fff\u3040-\u30ff]{1,5}$")


def is_name(text: str) -> bool:
    """Two to six capitalised words or initials, particles allowed, none of the words of addresses and headings."""
    text = text.strip()
    if _JAPANESE_NAME.fullmatch(text) and 3 <= len(text) <= 8:
        return True
    tokens = text.split()
    if not 2 <= len(tokens) <= 6 or len(text) > 50 or _NOT_NAMES.search(text):
        return False
    proper = 0
    for token in tokens:
        if token.casefold() in _PARTICLES:
            continue
        if not _WORD.match(token) or not token[0].isupper():
            return False
        proper += len(token.strip(".")) > 1
    return proper >= 1


def printed_names(text: str) -> list[str]:
    """Names in a text such as "A. Smith1, B. Jones and C. de Vries, Ph.D."; parts that are not names are left out."""
    text = DEGREE.sub("", " ".join(text[:5000].split()))
    parts = [PRINTED_MARKS.sub("", part).strip(" .:") if part else "" for part in PRINTED_SEPARATOR.split(text)]
    return [" ".join(part.split()) for part in parts if is_name(part)]


def given_and_family(name: str) -> tuple[str, str]:
    """Given names and family name of "A. B. van der Berg"."""
    words = name.split()
    first = next((i for i, word in enumerate(words[1:-1], 1) if word[:1].islower()), len(words) - 1)
    return " ".join(words[:first]), " ".join(words[first:])


_FAMILY_FIRST = re.compile(r"[\u3005-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def full_name(given: str, family: str) -> str:
    """Given and family name as they are written: the family first in Chinese, Japanese and Korean letters."""
    family_first = given and _FAMILY_FIRST.search(given) and _FAMILY_FIRST.search(family)
    return f"{family} {given}" if family_first else f"{given} {family}".strip()


def person_name(text: str) -> str:
    """ "Given Surname" of a name that may be turned ("Surname, Given")."""
    family, comma, given = (part.strip() for part in text.partition(","))
    return full_name(given, family) if comma and given and "," not in given else text.strip(" ,")
