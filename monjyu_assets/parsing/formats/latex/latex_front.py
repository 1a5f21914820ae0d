"""The front matter of a LaTeX paper: title, date, identifiers, venue, keywords, abstract."""

from __future__ import annotations

import re

from monjyu_assets.parsing.bibliography.dates import MONTH_AND_YEAR, YEAR_ALONE, days_in, iso_day, iso_month, parse_date
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_IN_SOURCE, find_doi
from monjyu_assets.parsing.formats.latex.latex_authors import (
    MAILS,
    ORCIDS,
    PLACES,
    WRITERS,
    Plain,
    read_authors,
    without_mail,
)
from monjyu_assets.parsing.formats.latex.latex_calls import find_calls, without_calls
from monjyu_assets.parsing.formats.latex.latex_names import CLASSES, FRONT_NOTES
from monjyu_assets.parsing.formats.latex.latex_text import LatexText
from monjyu_assets.parsing.formats.latex.latex_title_page import FIRST_HEADING
from monjyu_assets.parsing.text.common import split_keywords
from monjyu_core.paper import ParsedPaper, Section

_TITLES = ("title", "icmltitle", "Title")
_NOT_TITLE = ("thanks", "footnote", "tnoteref", "titlenote", "vspace", "label", "footnotemark")
_KEYWORD_CALLS = ("keywords", "Keywords", "icmlkeywords", "keyword")
_ABSTRACT_CALLS = ("abstract", "Abstract")
_HEADERS = ("shorttitle", "shortauthors", "runninghead", "runningheads", "titlehead", "righthead", "lefthead")
_DATES = ("date", "acmYear", "pubyear")
_FRONT = (
    *_TITLES,
    *WRITERS,
    *PLACES,
    *MAILS,
    *ORCIDS,
    *_KEYWORD_CALLS,
    *_ABSTRACT_CALLS,
    *_HEADERS,
    *FRONT_NOTES,
    *CLASSES,
    "date",
)
"""Commands that print at the head of the paper wherever they are, and so not in its text."""
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
        for call in reversed(find_calls(source, (*_DATES, "doi", "acmDOI", "volume", "acmVolume"), 1))
    }
    dates = (date_in(one[name], plain) for name in _DATES if name in one)
    paper.publication_date = next(filter(None, dates), None)
    paper.doi = find_doi(one.get("doi") or one.get("acmDOI") or "")
    paper.volume = plain(one.get("volume") or one.get("acmVolume") or "") or None
    for call in find_calls(source, _VENUES, 1):
        if name := plain(call.first):
            paper.venue, paper.venue_type = name, _VENUES[call.name]
            break
    stamp = ARXIV_IN_SOURCE.search(source[:5000])
    paper.arxiv_id = stamp[1] if stamp else None


def date_in(source: str, plain: Plain) -> str | None:
    """The date that a source prints, the last of several; never the day on which LaTeX runs."""
    if re.search(r"\\(?:today|the\s*\\(?:year|month|day)|DTMnow|currenttime)(?![A-Za-z])", source):
        return None
    text = plain(source)
    days, months, years = list(days_in(text)), list(MONTH_AND_YEAR.finditer(text)), YEAR_ALONE.findall(text)
    return (
        parse_date(text)
        or (parse_date(iso_day(days[-1])) if days else None)
        or (iso_month(months[-1]) if months else years[-1][:4] if years else None)
    )


def without_front(body: str) -> str:
    """A body without the commands that print title, authors, abstract and notes, as far as its first heading."""
    heading = FIRST_HEADING.search(body)
    end = heading.start() if heading else len(body)
    return without_calls(body[:end], _FRONT, 5) + body[end:]


def front_notes(paper: ParsedPaper, source: str, plain: Plain) -> list[str]:
    """Notes of the title page, and how the paper is classed; without those that name an author's place."""
    places = "; ".join(author.affiliation or "" for author in paper.authors)
    heads = " ".join(call.first for call in find_calls(source, (*_TITLES, *WRITERS), 1))
    calls = [*find_calls(source, FRONT_NOTES, 1), *find_calls(heads, ("footnote",), 1)]
    notes = [plain(call.first) for call in calls]
    classes = [(call.name, plain(call.first)) for call in find_calls(source, CLASSES, 1)]
    notes = [note for note in notes if len(note.split()) > 2 and without_mail(note) not in places]
    return list(dict.fromkeys([*notes, *(f"{CLASSES[name]}: {said}" for name, said in classes if said)]))


def abstract_of_command(paper: ParsedPaper, source: str, reader: LatexText) -> None:
    """Some classes take the abstract as an argument or in the preamble."""
    if any(section.section_type == "abstract" for section in paper.sections):
        return
    inside = re.search(r"\\begin\s*\{abstract\}(.{1,20000}?)\\end\s*\{abstract\}", source, re.DOTALL)
    texts = [inside[1]] if inside else [call.first for call in find_calls(source, _ABSTRACT_CALLS, 1)]
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
    texts = [call.first for call in find_calls(source, _KEYWORD_CALLS, 1)]
    texts += [match[2] for match in _KEYWORDS.finditer(source)]
    text = next((text for text in texts if text.strip()), "")
    text = re.sub(
        r"\\(?:sep|and|PACS|MSC|KWD|kwd|quad|qquad|cdot|textbullet)(?![A-Za-z])|\$\s*\\cdot\s*\$|\s---?\s", ";", text
    )
    return split_keywords(_RUN_IN_KEYWORDS.sub("", plain(text)))
