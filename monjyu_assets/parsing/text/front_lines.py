"""Reads the lines before a paper's first section: authors, date, venue, keywords and abstract."""

import re
from itertools import takewhile

from monjyu_assets.parsing.bibliography.dates import YEAR_ALONE, days_in, iso_day, parse_date
from monjyu_assets.parsing.bibliography.identifiers import find_doi
from monjyu_assets.parsing.bibliography.names import (
    CITED_PARTICLE,
    GAP,
    UPPER,
    author_line,
    cjk_authors,
    is_name,
    split_names,
)
from monjyu_assets.parsing.text.author_block import ABSTRACT, ACCEPTED, KEYWORDS, PUBLISHED, RECEIVED, is_place
from monjyu_assets.parsing.text.common import add_notes, comparable, is_notice, split_keywords
from monjyu_assets.parsing.text.heading_types import strip_numbering
from monjyu_core.language.packs import also, cues
from monjyu_core.language.vocabulary import alternatives
from monjyu_core.paper import Author, ParsedPaper, Section

_LABELS = {name: alternatives(f"labels.{name}") for name in ("authors", "keywords", "published")}
_FIELD = re.compile(
    rf"(?:(?P<authors>{_LABELS['authors']})|(?P<date>date|{_LABELS['published']}{also('front_lines.date')})|(?P<doi>doi)|"
    rf"(?P<keywords>{_LABELS['keywords']})|(?P<venue>journal|venue))\s*(?:[:：]|(?<=by)\s)\s*(?P<value>\S.*)",
    re.IGNORECASE,
)


def take_field(paper: ParsedPaper, line: str) -> bool:
    """Store the value of a labelled line ("Keywords: …", "Authors: …") in the paper; return False for other lines."""
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
    r"|magazine|quarterly" + also("front_lines.serial") + ")"
)
_VENUE = re.compile(
    r"(?:in:? |to appear in |published in )?"
    rf"(?P<venue>(?:the )?(?:[\w&'’-]+ ){{0,5}}?{_SERIAL}(?!\w)[^,;.(（]{{0,120}})(?:[,;.(（].{{0,80}})?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"\b(?:was|were|is|are|has|have|had|we|our|us|this|these|you)\b", re.IGNORECASE)


def take_front_line(paper: ParsedPaper, line: str, names_fit: bool) -> bool:
    """Store a line below a title (a field, names, a date, a DOI, or a venue with its volume or year); return False for
    other lines."""
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
    """Store a line below the names as the affiliation of all authors; return False for other lines."""
    known = not paper.authors or any(author.affiliation for author in paper.authors)
    if known or len(line) > 200 or line.endswith((".", ":", "。")) or _SENTENCE.search(line) or not is_place(line):
        return False
    for author in paper.authors:
        author.affiliation = line.strip(" ,;*_")
    return True


def take_line(paper: ParsedPaper, line: str, names_fit: bool) -> bool:
    """Store a line of names, a date or a DOI without a label; return False for other lines. Names in Latin letters are
    recognised only if `names_fit`, or with wide gaps between them."""
    names_fit = names_fit or GAP.search(line) is not None
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


# The abstract and the keywords of sources that set them as ordinary paragraphs in front of the first heading.
# Nothing is dropped: other text stays in its place.
_BREAK = "\n\n"
_LONGEST_KEYWORDS = 1000
_LONGEST_ABSTRACT = 4000
_SHORTEST, _SHORTEST_EAST_ASIAN = 150, 40
"""The minimum number of characters of an abstract without a label, and of one in Chinese or Japanese."""
_EAST_ASIAN = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]")
_BRACKETED = re.compile(r"[【\[]\s*([^】\]]{1,12}?)\s*[】\]]\s*[:：]?\s*")
_SENTENCE_END = re.compile(r"[.!?。！？…][\"'”’»)\]]*$")


_EDITORS = re.compile(rf"(?i:{alternatives('names.editors')})\s*[:：]")


def settle_front(paper: ParsedPaper) -> None:
    """Move the abstract to its own section and the keywords to their field; drop a title that is printed again; move
    what publishers print below a text to the notes."""
    _drop_second_title(paper)
    _take_imprint(paper)
    headed = next((i for i, s in enumerate(paper.sections) if s.heading and s.section_type != "abstract"), None)
    front = paper.sections[: len(paper.sections) if headed is None else headed]
    lead = next((section for section in front if not section.heading and section.section_type == "other"), None)
    if lead is not None:
        begins = headed is not None and _begins_body(paper.sections[headed])
        known = any(section.section_type == "abstract" for section in paper.sections)
        found = _labelled(lead, to_the_end=begins) or ([] if known or not begins else _unlabelled(lead))
        place = paper.sections.index(lead)
        paper.sections[place + 1 : place + 1] = found
        if not lead.text:
            del paper.sections[place]
    for section in list(paper.sections):
        if section.section_type == "abstract" or section is lead:
            rest = _take_keywords(paper, section)
            if rest and section is not lead:
                after = Section(heading="", level=section.level, section_type="other", text=rest)
                paper.sections.insert(paper.sections.index(section) + 1, after)


def _take_imprint(paper: ParsedPaper) -> None:
    """Move sections that consist of dates of the paper, the names of its editors, or a notice on rights to the notes.
    The date of publication is taken from them."""
    for section in [section for section in paper.sections[1:] if section.heading and section.section_type == "other"]:
        parts = section.text.split(_BREAK) if section.text else []
        said = " ".join([section.heading, *parts])
        short = all(len(part) < 200 and (is_notice(part) or not _SENTENCE_END.search(part)) for part in parts)
        dated = 2 * sum(YEAR_ALONE.search(part) is not None for part in parts) >= len(parts)
        last = all(YEAR_ALONE.search(part[-6:]) for part in parts) and any(days_in(said))
        history = short and dated and (last or any(label.search(said) for label in (RECEIVED, ACCEPTED, PUBLISHED)))
        edited = _EDITORS.fullmatch(section.heading) and all(map(is_name, parts))
        if parts and (history or edited or all(map(is_notice, parts))):
            dates = [
                iso_day(day) for day in days_in(said) if PUBLISHED.search(said[max(0, day.start() - 25) : day.start()])
            ]
            paper.publication_date = paper.publication_date or next(iter(dates), None)
            paper.sections.remove(section)
            add_notes(paper, [section.heading, *parts])


def _drop_second_title(paper: ParsedPaper) -> None:
    """Remove a heading that repeats the title above the body, and raise the headings below it. The name of a section
    stays: a text without a title of its own has that of its first section."""
    title = comparable(paper.title)
    same = (i for i, s in enumerate(paper.sections) if comparable(s.heading) == title and s.section_type == "other")
    second = next(same, None) if title else None
    if second is None:
        return
    level = paper.sections[second].level
    paper.sections[second].heading = ""
    below = list(
        takewhile(lambda s: s.level > level or not s.heading or s.section_type != "other", paper.sections[second:])
    )
    deeper = [section for section in below if section.level > level]
    raised = min((section.level for section in deeper), default=level) - level
    for section in deeper:
        section.level -= raised
    if not paper.sections[second].text:
        del paper.sections[second]


def _plain_label(text: str) -> str:
    """Write a known label in brackets (【摘要】) at the start of a paragraph as a label with a colon."""
    match = _BRACKETED.match(text)
    known = match and (ABSTRACT.fullmatch(match[1]) or KEYWORDS.fullmatch(match[1]))
    return f"{match[1]}: {text[match.end() :]}" if match and known else text


def _begins_body(section: Section) -> bool:
    """Whether a section is the first of a paper's body, by its heading."""
    number, _ = strip_numbering(section.heading)
    return section.section_type == "introduction" or number in ("1", "I", "A", cues("heading_types.one"))


def _labelled(lead: Section, *, to_the_end: bool) -> list[Section]:
    """Move abstracts after their labels ("Abstract: We …", a line "Résumé") to sections; a second one is in another
    language. Each ends at the next label; the last one ends with its paragraph if the first heading does not begin the
    body, and the text after it becomes a section."""
    kept: list[str] = []
    found: list[Section] = []
    after: list[str] = []
    for text in map(_plain_label, lead.text.split(_BREAK)):
        match = ABSTRACT.match(text)
        alone = match is not None and match.end() == len(text)
        if match and (alone or match["mark"].strip()):
            found.append(Section(heading=match["word"], section_type="abstract", text=text[match.end() :].strip()))
        elif found and not KEYWORDS.match(text) and (to_the_end or not found[-1].text):
            found[-1].text = f"{found[-1].text}{_BREAK}{text}".strip()
        else:
            (after if found and not KEYWORDS.match(text) else kept).append(text)
    lead.text = _BREAK.join(kept)
    return [*found, *([Section(heading="", section_type="other", text=_BREAK.join(after))] if after else [])]


def _unlabelled(lead: Section) -> list[Section]:
    """Move the prose between the names and the first section to a section, as the abstract."""
    paragraphs = lead.text.split(_BREAK)
    following = [*paragraphs[1:], ""]
    prose = [
        text for text, below in zip(paragraphs, following, strict=True) if is_prose(text) and not is_motto(text, below)
    ]
    if not prose or sum(map(len, prose)) > _LONGEST_ABSTRACT:
        return []
    lead.text = _BREAK.join(text for text in paragraphs if text not in prose)
    return [Section(heading="Abstract", section_type="abstract", text=_BREAK.join(prose))]


QUOTED = re.compile(
    r"[\"\u201c-\u201f\u00ab\u300c][^\"\u201c-\u201f\u00ab\u00bb]*[\"\u201c-\u201f\u00bb\u300d][.,]?(?:\s.{1,80})?"
)
"""A quotation and its source."""
SOURCE = re.compile(rf"(?:[\u2013-\u2015~]|--?-?)\s?(?:{CITED_PARTICLE}\s)?{UPPER}")
"""The beginning of a line with the author of a quotation."""
_SOURCE_AT_END = re.compile(rf"[.!?…\"”»]\s*{SOURCE.pattern}[^!?]{{0,80}}$")


def is_motto(text: str, below: str) -> bool:
    """Whether the text is a quotation above the paper: in quotation marks, or with its author at the end or `below`."""
    return bool(QUOTED.fullmatch(text) or SOURCE.match(below) or _SOURCE_AT_END.search(text)) and len(text) < 600


def is_prose(text: str) -> bool:
    """Whether the text has sentences, rather than names, affiliations, a list of words or a notice on rights."""
    if not _SENTENCE_END.search(text.strip()) or "@" in text or ABSTRACT.match(text) or KEYWORDS.match(text):
        return False
    if is_notice(text):
        return False
    if len(_EAST_ASIAN.findall(text)) > 0.3 * len(text):
        return len(text) >= _SHORTEST_EAST_ASIAN
    words = [word for word in text.split() if word[0].isalpha()]
    small = sum(word[0].islower() or not (word[0].isupper() or word[0].islower()) for word in words)
    return len(text) >= _SHORTEST and small >= 0.6 * len(words)


def _take_keywords(paper: ParsedPaper, section: Section) -> str:
    """Move paragraphs of keywords into their field, unless the field has other keywords. Of an abstract, remove and
    return the text after its keywords."""
    kept: list[str] = []
    rest: list[str] = []
    ended = False
    for text in map(_plain_label, section.text.split(_BREAK)):
        match = KEYWORDS.match(text)
        said = split_keywords(text[match.end() :]) if match and len(text) < _LONGEST_KEYWORDS else []
        labelled = said and match and re.search(r"[^\w\s\]】>)]\s*$", match[0])
        if labelled and (not paper.keywords or paper.keywords == said):
            paper.keywords = said
        else:
            (rest if ended else kept).append(text)
        ended = ended or bool(labelled and kept and section.section_type == "abstract")
    section.text = _BREAK.join(kept)
    return _BREAK.join(rest)


def without_label(text: str) -> str:
    """An abstract without the word "Abstract" before it. Without a mark after it, the word is a label if a sentence
    follows, and none if the text has the two words together again ("Abstract Interpretation is …")."""
    match = ABSTRACT.match(text)
    if not match:
        return text
    rest = text[match.end() :]
    if match["mark"].strip():
        return rest
    again = f"{match['word']} {rest.split(maxsplit=1)[0]}" if rest else ""
    return rest if rest[:1].isupper() and again.casefold() not in " ".join(rest.split()).casefold() else text
