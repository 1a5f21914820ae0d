"""Lines in front of a paper's first section that say who wrote it, when, and about what."""

from __future__ import annotations

import re

from monjyu_assets.parsing.bibliography.references import find_doi
from monjyu_assets.parsing.text.common import author_line, parse_date, split_keywords, split_names
from monjyu_core.paper import Author, ParsedPaper

_FIELD = re.compile(
    r"(?P<name>authors?|by|date|published|doi|keywords?|key words|index terms|journal|venue|著者|キーワード|日付)"
    r"\s*(?:[:：]|(?<=by)\s)\s*(?P<value>\S.*)",
    re.IGNORECASE,
)


def take_field(paper: ParsedPaper, line: str) -> bool:
    """A line that says what it is: "Keywords: …", "Authors: …"; its value goes into the paper."""
    match = _FIELD.fullmatch(line)
    if not match or len(line) > 1000:
        return False
    name, value = match["name"].casefold(), match["value"].strip()
    if name in ("author", "authors", "by", "著者"):
        if name == "by" and not author_line(value):
            return False
        paper.authors = paper.authors or [Author(name=part) for part in split_names(value)]
    elif name in ("date", "published", "日付"):
        paper.publication_date = parse_date(value)
        return paper.publication_date is not None
    elif name == "doi":
        paper.doi = find_doi(value)
        return paper.doi is not None
    elif name in ("journal", "venue"):
        paper.venue = value
    else:
        paper.keywords = split_keywords(value)
    return True


def take_line(paper: ParsedPaper, line: str, names_fit: bool) -> bool:
    """A line of names, a date or a DOI without a label."""
    if not paper.authors and (authors := japanese_authors(line) or (author_line(line) if names_fit else [])):
        paper.authors = authors
        return True
    if paper.publication_date is None and len(line) <= 30 and (date := parse_date(line)):
        paper.publication_date = date
        return True
    if paper.doi is None and re.fullmatch(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)10\.\S+", line, re.IGNORECASE):
        paper.doi = find_doi(line)
        return True
    return False


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
