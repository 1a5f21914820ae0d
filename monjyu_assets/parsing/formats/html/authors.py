"""Reads the authors of a page without metadata from elements named for authors and from the lines under the title."""

import re
from collections.abc import Iterator

from monjyu_assets.parsing.bibliography.dates import parse_date
from monjyu_assets.parsing.bibliography.identifiers import clean_orcid
from monjyu_assets.parsing.bibliography.names import AND_WORD, is_name, person_name, split_names
from monjyu_assets.parsing.formats.html.tree import UNSEEN, hide, names
from monjyu_assets.parsing.text.author_block import LINE, MAIL, raised, read_authors, unraised, without_marks
from monjyu_assets.parsing.text.common import comparable
from monjyu_assets.parsing.text.front_lines import is_prose, settle_front, take_front_line
from monjyu_assets.parsing.xml.tree import Element, XmlText, plain
from monjyu_core.language.vocabulary import alternatives
from monjyu_core.paper import Author, ParsedPaper

_PLACE = re.compile(r"(?i)^\s*(?:affiliation|institutetext|address|institute):?\s*")
_NOTE = re.compile(r"(?i)\b(?:equal|contribut|correspond|supported|funded|thank)")
_WITH_ADDRESS = re.compile(
    r"(?:,\s*(?:and\s+)?|\s+and\s+)(?=(?:(?!\sand\s)[^()@,]){3,60}\s\([^()\s]{1,60}@[^()\s]{1,120}\))"
)
_NOTE_MARK = re.compile(
    r"^\s*(?:(?:\d{1,2}|[*†‡§¶])\s*){0,2}(?:thanks|footnotetext|footnotemark)?:?\s*(?:(?:\d{1,2}|[*†‡§¶])\s)?\s*"
)
_MOST_LINES = 20
_MOST_AUTHORS = 5000
_REST = re.compile(rf"(?i)[\W\d_]*(?:{alternatives('labels.authors')}|{AND_WORD})?[\W\d_]*")
"""The rest of a line from which the names were removed."""
_LINES = XmlText(
    frozenset({"br", "p", "div", "li"}),
    frozenset({UNSEEN, "script", "style", "img"}),
    {"sup": lambda element: raised(plain(element))},
)
"""Reads text with line breaks as paragraphs and marks of footnotes as raised."""


def authors_in_dialog(root: Element) -> list[Author]:
    """The authors in the dialog that a button under the title of SciELO's pages opens: a block for each, with the name
    in bold, affiliations, and addresses of the person."""
    dialog = next((element for element in root.iter("div") if element.get("id") == "ModalTutors"), None)
    found = []
    for block in dialog.iter("div") if dialog is not None else ():
        name = next((text for bold in block.iter("strong", "b") if (text := person_name(plain(bold)))), "")
        if "tutors" not in names(block) or not name:
            continue
        places = [MAIL.sub("", plain(e)).strip(" ,;.") for e in block.iter("span") if e.get("data-aff-display")]
        links = " ".join(link.get("href") or "" for link in block.iter("a"))
        mail = next(iter(MAIL.findall(" ".join(block.itertext()))), None)
        found.append(Author(name=name, affiliation="; ".join(places) or None, email=mail, orcid=clean_orcid(links)))
    return found[:_MOST_AUTHORS]


def read_authors_of(paper: ParsedPaper, root: Element) -> list[str]:
    """Set the authors from LaTeXML's elements or elements named for authors. The elements are emptied; their other
    content is returned as notes."""
    notes: list[str] = []
    creators = [e for e in root.iter("span", "div") if {"ltx_creator", "ltx_role_author"} <= set(names(e))]
    for creator in creators:
        paper.authors += _creator(creator, notes)
    if creators and not any(author.affiliation for author in paper.authors[:-1]):
        _share_out(paper.authors)
    found = [next((e for e in c.iterancestors() if "ltx_authors" in names(e)), c) for c in creators]
    if not paper.authors:
        for element, authors in _bylines(root):
            paper.authors += authors
            found.append(element)
    for address in root.iter("address"):
        if not paper.authors and (authors := list(_with_addresses(plain(address)))):
            paper.authors = authors
            found.append(address)
    for dates in [e for e in root.iter("div") if "ltx_dates" in names(e)][:1]:
        said = plain(dates).strip("() ")
        if date := parse_date(said):
            paper.publication_date = paper.publication_date or date
            found.append(dates)
    for element in found:
        hide(element)
    paper.authors = paper.authors[:_MOST_AUTHORS]
    return notes


def _share_out(authors: list[Author]) -> None:
    """Assign the affiliations after the last author to the authors in order, if their numbers are equal."""
    places = (authors[-1].affiliation or "").split("; ") if authors else []
    if len(places) == len(authors) > 1:
        for author, place in zip(authors, places, strict=True):
            author.affiliation = place


def _creator(creator: Element, notes: list[str]) -> list[Author]:
    """Read one author with separate contacts, or several in lines: names, then affiliations and addresses."""
    people: list[Author] = []
    places: list[str] = []
    mails: list[str] = []
    orcid = None
    for note in [element for element in creator.iter("span") if "ltx_note" in names(element)]:
        said = next((part for part in note.iter("span") if "ltx_note_content" in names(part)), note)
        notes.append(_NOTE_MARK.sub("", unraised(_LINES.line(said))))
        hide(note)
    for element in creator.iter("span", "a", "div"):
        called = names(element)
        if "ltx_personname" in called:
            lines = [line for line in _LINES.paragraphs(element).split("\n\n") if unraised(line).strip(" ,&")]
            found, used = read_authors(lines)
            if not found and lines:
                found, used = [Author(name=name) for name in split_names(unraised(without_marks(lines[0])))], [0]
            people += found
            for line in (unraised(line) for number, line in enumerate(lines) if number not in used):
                mails += MAIL.findall(line)
                if _NOTE.search(line):
                    notes.append(line)
                elif not MAIL.search(line):
                    places.append(line.strip(" ,"))
        elif "ltx_role_affiliation" in called or "ltx_role_address" in called or "ltx_role_institutetext" in called:
            text = _PLACE.sub("", ", ".join(unraised(_LINES.paragraphs(element)).split("\n\n")))
            mails += MAIL.findall(text)
            places.append(MAIL.sub("", text).strip(" ,;"))
        elif "ltx_role_email" in called:
            mails += MAIL.findall(plain(element))
        elif "ltx_role_orcid" in called:
            orcid = clean_orcid(f"{plain(element)} {' '.join(link.get('href') or '' for link in element.iter('a'))}")
        elif "ltx_contact" in called:
            notes.append(_NOTE_MARK.sub("", unraised(_LINES.line(element))))
    for number, author in enumerate(people):
        author.affiliation = author.affiliation or "; ".join(dict.fromkeys(filter(None, places))) or None
        author.email = author.email or (mails[number] if number < len(mails) else None)
        author.orcid = orcid if len(people) == 1 else None
    return people


def _bylines(root: Element) -> Iterator[tuple[Element, list[Author]]]:
    """Yield elements that are named for an author and contain only short names, with the authors."""
    seen = set()
    for element in root.iter("span", "a", "p", "div", "li", "address"):
        said = (element.get("itemprop") or "") == "author" or "author" in (element.get("rel") or "").split()
        if not said and not any(name in ("author", "author-name", "byline-author") for name in names(element)):
            continue
        people = [
            person_name(name) for name in split_names(re.sub(r"(?i)^\s*by\s+", "", without_marks(_LINES.line(element))))
        ]
        if people and all(2 <= len(name.split()) <= 5 and len(name) < 60 for name in people):
            yield element, [Author(name=name) for name in people if name not in seen]
            seen.update(people)


def _with_addresses(text: str) -> Iterator[Author]:
    """Yield names, each followed by its e-mail address in brackets and its affiliation, as the stylesheets of the TEI
    print them."""
    for part in _WITH_ADDRESS.split(text):
        match = re.fullmatch(r"([^()]+?)\s*\(([^()]+)\)[,;\s]*(.*)", part)
        if match and is_name(match[1]):
            yield Author(name=person_name(match[1]), email=match[2], affiliation=match[3].strip(" ,;.") or None)


def settle_lead(paper: ParsedPaper, *, told: bool) -> None:
    """Move names, affiliations and dates from the text above the first heading into their fields, and the abstract and
    keywords to their places. If the page's metadata has `told` the authors, other text there that is not prose is
    dropped: it repeats the metadata or belongs to buttons.
    """
    lead = next(iter(paper.sections), None)
    if lead is None or lead.heading or lead.section_type != "other":
        settle_front(paper)
        return
    paragraphs = lead.text.split("\n\n")
    if not told:
        paragraphs = _without_names(paper, paragraphs)
    lead.text = "\n\n".join(text for part in paragraphs if (text := " ".join(unraised(part).split())))
    settle_front(paper)
    if told and lead in paper.sections and len(paper.sections) > 1:
        lead.text = "\n\n".join(text for text in lead.text.split("\n\n") if is_prose(text))
        paper.sections = [section for section in paper.sections if section is not lead or lead.text]


def _without_names(paper: ParsedPaper, paragraphs: list[str]) -> list[str]:
    """Take authors and date from the paragraphs; return the others."""
    title = comparable(unraised(paper.title))
    plain_texts = [(text, unraised(text)) for text in paragraphs]
    paragraphs = [text for text, said in plain_texts if not _REST.fullmatch(said) and comparable(said) != title]
    lines = [(number, line) for number, text in enumerate(paragraphs) for line in text.split(LINE)]
    lines = [(number, line) for number, line in lines if line.strip()]
    taken: set[int] = set()
    if not paper.authors:
        authors, used = read_authors([line for _, line in lines])
        if (
            len(used) > 1
            or len(authors) > 1
            or any(s.section_type in ("abstract", "references") for s in paper.sections)
        ):
            paper.authors = authors
            left = {lines[i][0] for i in range(len(lines)) if i not in used}
            taken = {lines[i][0] for i in used} - left
    for number, text in enumerate(paragraphs[:_MOST_LINES]):
        said = unraised(text)
        if number not in taken and len(said) < 300 and take_front_line(paper, said, names_fit=False):
            taken.add(number)
    return [text for number, text in enumerate(paragraphs) if number not in taken]
