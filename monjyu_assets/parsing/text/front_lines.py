"""Lines in front of a paper's first section that say who wrote it, when, and about what."""

from __future__ import annotations

import re

from monjyu_assets.parsing.bibliography.dates import parse_date
from monjyu_assets.parsing.bibliography.identifiers import find_doi
from monjyu_assets.parsing.bibliography.names import author_line, japanese_authors, split_names
from monjyu_assets.parsing.text.common import split_keywords
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
