"""Entries of reference lists in Chinese, Japanese and Korean: names without spaces, titles in corner brackets."""

from __future__ import annotations

import re

from monjyu_assets.parsing.bibliography.dates import YEAR
from monjyu_core.language.vocabulary import alternatives

_LETTER = r"[\u3005\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]"
_COMMA = r"\s*[,\uff0c\u3001\u30fb\u00b7;\uff1b]\s*"
_STOP = r"[.\uff0e\u3002:\uff1a]"
_NAME = rf"(?:{_LETTER}{{2,6}}|{_LETTER}{{1,4}}\s{_LETTER}{{1,4}})"
_BODY = re.compile(
    r"\s*(?P<names>[^\u300c\u300e\u201c\u201d\",\uff0c]{2,40}?)[,\uff0c]\s*(?=[\u300c\u300e\u201c\u201d\"])"
)
"""Any one name in front of a title in quotation marks."""
_AUTHORS = re.compile(
    rf"\s*(?P<names>{_NAME}(?:{_COMMA}{_NAME}){{0,40}})(?:(?:{_COMMA})?\s*{alternatives('names.and_others')})?"
    rf"(?:\s*[(\uff08]?{alternatives('names.editors')}[)\uff09]?|著)?"
    rf"(?:\s*{_STOP}\s*|(?=\s*[(\uff08\u300c\u300e\u201c\"])|{_COMMA}(?=[\u300c\u300e\u201c\u201d\"]|[^,\uff0c.\uff0e:\uff1a]{{7,}}))"
)
_YEAR = re.compile(rf"[\s,\uff0c]*[(\uff08]?\s*{YEAR}[a-z]?\s*年?\s*(?:[)\uff09][.,:\uff1a\uff0e\s]*|[.\uff0e]\s+)")
_QUOTED = re.compile(
    r"[\s,\uff0c]*(?:\u300c(?P<title>.{2,300}?)\u300d|[\u201c\u201d\"]\s?(?P<other>.{2,300}?)\u300d?[\u201d\"])[\s,.\uff0c\uff0e]*"
)
_BOOK = re.compile(r"[\s,\uff0c]*\u300e(?P<title>.{2,300}?)\u300f[\s,.\uff0c\uff0e]*")
_KIND = r"\[[A-Z]{1,2}(?:/[A-Z]{2})?\]"
"""What kind of work it is: [J], [EB/OL]."""
_TITLE = re.compile(
    rf"\s*(?P<title>.{{2,300}}?)\s*(?:{_KIND}\s*[.\uff0e,]?\s*|[.\uff0e\u3002,\uff0c]\s*(?![^\[]{{0,80}}{_KIND})|$)"
)
_VENUE = re.compile(
    r"(?:(?i:in|见)\s*[:\uff1a]\s*)?(?P<venue>[^,\uff0c\d(\uff08\u300c\u300e]{2,80}?)\s*(?:[,\uff0c.\uff0e(\uff08\d]|$)"
)


def is_east_asian(text: str) -> bool:
    """Most letters of an entry's beginning are Chinese, Japanese or Korean."""
    start = text[:60]
    return len(re.findall(_LETTER, start)) > 0.5 * sum(map(str.isalpha, start))


def east_asian_fields(text: str) -> tuple[list[str], str, str]:
    """The names as printed, the title and the venue ("" where it is not found) of an entry without label and links."""
    found = _BODY.match(text) or _AUTHORS.match(text)
    names = [name.strip() for name in re.split(_COMMA, found["names"])] if found else []
    rest = text[found.end() :] if found else text
    if year := _YEAR.match(rest):
        rest = rest[year.end() :]
    title = _QUOTED.match(rest) or _BOOK.match(rest) or _TITLE.match(rest)
    if title is None:
        return names, "", ""
    name, rest = next(filter(None, title.groups())).strip(), rest[title.end() :]
    venue = _BOOK.match(rest)
    if venue is None:
        plain = _VENUE.match(rest)
        return names, name, plain["venue"].strip() if plain else ""
    return names, name, venue["title"].strip()
