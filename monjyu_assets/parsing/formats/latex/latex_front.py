"""The front matter of a LaTeX paper: title, date, identifiers, venue, keywords, abstract."""

from __future__ import annotations

import re

from monjyu_assets.parsing.bibliography.dates import parse_date
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_IN_SOURCE, find_doi
from monjyu_assets.parsing.formats.latex.latex_authors import Plain, read_authors
from monjyu_assets.parsing.formats.latex.latex_calls import find_calls, without_calls
from monjyu_assets.parsing.formats.latex.latex_text import LatexText
from monjyu_assets.parsing.text.common import split_keywords
from monjyu_core.paper import ParsedPaper, Section

_TITLES = ("title", "icmltitle", "Title")
_NOT_TITLE = ("thanks", "footnote", "tnoteref", "titlenote", "vspace", "label")
_KEYWORDS = re.compile(r"\\begin\s*\{(keywords?|IEEEkeywords)\}(.{0,3000}?)\\end\s*\{\1\}", re.DOTALL)
_RUN_IN_KEYWORDS = re.compile(r"(?i)^\s*(?:keywords?|index terms|key words)\b\s*[:.—–-]*\s*")
_VENUES = {
    "journal": "journal",
    "acmJournal": "journal",
    "journalname": "journal",
    "acmConference": "conference",
    "conference": "conference",
}


def read_front(paper: ParsedPaper, source: str, plain: Plain) -> None:
    """Fill in what the source says about the paper, in its preamble or its body."""
    titles = [call.first for call in find_calls(source, _TITLES, 1) if call.first.strip()]
    below = next((call.first for call in find_calls(source, ("subtitle",), 1)), "")
    title = plain(without_calls(titles[0], _NOT_TITLE)) if titles else ""
    subtitle = plain(without_calls(below, _NOT_TITLE))
    paper.title = f"{title.rstrip(':')}: {subtitle}" if title and subtitle else title
    paper.authors = read_authors(source, plain)
    paper.keywords = _keywords(source, plain)
    one = {
        call.name: call.first
        for call in reversed(find_calls(source, ("date", "doi", "acmDOI", "volume", "acmVolume"), 1))
    }
    paper.publication_date = parse_date(plain(one.get("date", "")))
    paper.doi = find_doi(one.get("doi") or one.get("acmDOI") or "")
    paper.volume = plain(one.get("volume") or one.get("acmVolume") or "") or None
    for call in find_calls(source, _VENUES, 1):
        if name := plain(call.first):
            paper.venue, paper.venue_type = name, _VENUES[call.name]
            break
    stamp = ARXIV_IN_SOURCE.search(source[:5000])
    paper.arxiv_id = stamp[1] if stamp else None


def abstract_of_command(paper: ParsedPaper, source: str, reader: LatexText) -> None:
    """Some classes take the abstract as an argument or in the preamble."""
    if any(section.section_type == "abstract" for section in paper.sections):
        return
    inside = re.search(r"\\begin\s*\{abstract\}(.{1,20000}?)\\end\s*\{abstract\}", source, re.DOTALL)
    texts = [inside[1]] if inside else [call.first for call in find_calls(source, ("abstract", "Abstract"), 1)]
    if texts and (text := reader.paragraphs(texts[0])):
        paper.sections.insert(0, Section(heading="Abstract", level=2, section_type="abstract", text=text))


def run_in_keywords(paper: ParsedPaper) -> None:
    """A line of keywords in front of the first heading, set by hand."""
    first = next((section for section in paper.sections if section.section_type != "abstract"), None)
    if first is None or first.heading or paper.keywords:
        return
    paragraphs = first.text.split("\n\n")
    found = next((text for text in paragraphs if _RUN_IN_KEYWORDS.match(text) and len(text) < 500), None)
    if found:
        paper.keywords = split_keywords(_RUN_IN_KEYWORDS.sub("", found))
        first.text = "\n\n".join(text for text in paragraphs if text is not found)


def _keywords(source: str, plain: Plain) -> list[str]:
    """Keywords of a command or an environment; elsarticle and revtex separate them by \\sep, llncs by \\and."""
    texts = [call.first for call in find_calls(source, ("keywords", "Keywords", "icmlkeywords", "keyword"), 1)]
    texts += [match[2] for match in _KEYWORDS.finditer(source)]
    text = next((text for text in texts if text.strip()), "")
    text = re.sub(r"\\(?:sep|and|PACS|MSC|KWD|quad|qquad|cdot)(?![A-Za-z])|\$\s*\\cdot\s*\$", ";", text)
    return split_keywords(_RUN_IN_KEYWORDS.sub("", plain(text)))
