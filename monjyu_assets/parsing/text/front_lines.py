"""Lines in front of a paper's first section that say who wrote it, when, and about what."""

from __future__ import annotations

import re

from monjyu_assets.parsing.bibliography.dates import YEAR_ALONE, parse_date
from monjyu_assets.parsing.bibliography.identifiers import find_doi
from monjyu_assets.parsing.bibliography.names import author_line, cjk_authors, split_names
from monjyu_assets.parsing.text.author_block import is_place
from monjyu_assets.parsing.text.common import split_keywords
from monjyu_core.language.vocabulary import alternatives
from monjyu_core.paper import Author, ParsedPaper

_LABELS = {name: alternatives(f"labels.{name}") for name in ("authors", "keywords", "published")}
_FIELD = re.compile(
    rf"(?:(?P<authors>{_LABELS['authors']})|(?P<date>date|日付|{_LABELS['published']})|(?P<doi>doi)|"
    rf"(?P<keywords>{_LABELS['keywords']})|(?P<venue>journal|venue))\s*(?:[:：]|(?<=by)\s)\s*(?P<value>\S.*)",
    re.IGNORECASE,
)


def take_field(paper: ParsedPaper, line: str) -> bool:
    """A line that says what it is: "Keywords: …", "Authors: …"; its value goes into the paper."""
    match = _FIELD.fullmatch(line)
    if not match or len(line) > 1000:
        return False
    value = match["value"].strip()
    if match["authors"]:
        if match["authors"].casefold() == "by" and not author_line(value):
            return False
        paper.authors = paper.authors or [Author(name=part) for part in split_names(value)]
    elif match["date"]:
        paper.publication_date = parse_date(value)
        return paper.publication_date is not None
    elif match["doi"]:
        paper.doi = find_doi(value)
        return paper.doi is not None
    elif match["venue"]:
        paper.venue = value
    else:
        paper.keywords = split_keywords(value)
    return True


_SERIAL = (
    r"(?:proceedings|proc\.|journal|transactions|annals|letters|advances in|conference|symposium|workshop|bulletin"
    r"|magazine|quarterly|論文誌|紀要|学会誌)"
)
_VENUE = re.compile(
    r"(?:in:? |to appear in |published in )?"
    rf"(?P<venue>(?:the )?(?:[\w&'’-]+ ){{0,5}}?{_SERIAL}(?!\w)[^,;.(（]{{0,120}})(?:[,;.(（].{{0,80}})?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"\b(?:was|were|is|are|has|have|had|we|our|us|this|these|you)\b", re.IGNORECASE)


def take_front_line(paper: ParsedPaper, line: str, names_fit: bool) -> bool:
    """A line below a title: a field, names, a date, a DOI, or a venue with its volume or year."""
    if take_field(paper, line) or take_line(paper, line.removeprefix("by ").removeprefix("By "), names_fit):
        return True
    match = _VENUE.fullmatch(line) if paper.venue is None and len(line) <= 200 else None
    if match is None or not re.search(r"\d", line) or _SENTENCE.search(line):
        return False
    years = YEAR_ALONE.findall(line)
    paper.venue = YEAR_ALONE.sub("", match["venue"]).strip(" ,")
    if paper.publication_date is None and len(set(years)) == 1:
        paper.publication_date = years[0][:4]
    return True


def take_place(paper: ParsedPaper, line: str) -> bool:
    """A line below the names that says where all of them work."""
    known = not paper.authors or any(author.affiliation for author in paper.authors)
    if known or len(line) > 200 or line.endswith((".", ":", "。")) or _SENTENCE.search(line) or not is_place(line):
        return False
    for author in paper.authors:
        author.affiliation = line.strip(" ,;*_")
    return True


def take_line(paper: ParsedPaper, line: str, names_fit: bool) -> bool:
    """A line of names, a date or a DOI without a label."""
    if not paper.authors and (authors := cjk_authors(line) or (author_line(line) if names_fit else [])):
        paper.authors = authors
        return True
    if paper.publication_date is None and len(line) <= 30 and (date := parse_date(line)):
        paper.publication_date = date
        return True
    if paper.doi is None and re.fullmatch(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)10\.\S+", line, re.IGNORECASE):
        paper.doi = find_doi(line)
        return True
    return False
