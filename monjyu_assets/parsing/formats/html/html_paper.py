"""HTML pages of papers (arXiv, ar5iv, PubMed Central, publishers), and any other page, to a parsed paper."""

from __future__ import annotations

import re
from collections.abc import Iterator

from monjyu_assets.parsing.bibliography.dates import parse_date
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_WATERMARK, clean_orcid, find_doi
from monjyu_assets.parsing.bibliography.names import person_name, split_names
from monjyu_assets.parsing.formats.html.html_body import Body, BodyReader, find_article
from monjyu_assets.parsing.formats.html.html_front import Tags, citation_references, read_metadata
from monjyu_assets.parsing.formats.html.html_references import of_tags
from monjyu_assets.parsing.formats.html.html_tree import UNSEEN, names, prune, read_html
from monjyu_assets.parsing.text.common import add_references
from monjyu_assets.parsing.text.decoding import clean
from monjyu_assets.parsing.text.text_marks import unmarked
from monjyu_assets.parsing.xml.xml_paper import finish
from monjyu_assets.parsing.xml.xml_tree import Element, XmlText, plain
from monjyu_core.errors import MalformedDocument
from monjyu_core.paper import Author, ParsedPaper, Section
from monjyu_core.settings.papers_settings import ParseSettings

_SITE = re.compile(r"\s+[|\u2013\u2014·:-]\s+[^|\u2013\u2014·]{1,60}$")
_MAIL = re.compile(r"[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,5}")
_LINES = XmlText(frozenset({"br", "p", "div", "li"}), frozenset({UNSEEN, "script", "sup", "style", "img"}), {})
"""Text with its line breaks as paragraphs, without the marks of footnotes."""


def parse_html(data: bytes, settings: ParseSettings) -> ParsedPaper:
    """Parse a saved page; its sections hold plain text, their levels start at 1.

    Raises EmptyDocument, MalformedDocument (nested too deeply, binary) or DocumentTooLarge.
    """
    root, warnings = read_html(data, settings)
    paper = ParsedPaper(document_type="html", processor="lxml", warnings=warnings)
    try:
        return _read(paper, root)
    except RecursionError:
        raise MalformedDocument("The HTML is nested too deeply.") from None


def _read(paper: ParsedPaper, root: Element) -> ParsedPaper:
    tags = read_metadata(paper, root)
    named = _page_title(root, tags)
    _stamp(paper, root)
    prune(root)
    article = find_article(root)
    _front(paper, root)
    body = BodyReader(paper, article).read()
    paper.title = paper.title or body.title or named
    _without_front(paper)
    _add_abstract(paper)
    language = _language(paper, root)
    if not body.references.references:
        body.references.references = of_tags(citation_references(tags))
    return _finished(paper, body, language)


def _finished(paper: ParsedPaper, body: Body, language: str | None) -> ParsedPaper:
    references = body.references.references
    if references:
        paper.sections = [s for s in paper.sections if s.section_type != "references"]
        add_references(paper, references, body.heading)
    return finish(paper, references, language)


def _page_title(root: Element, tags: Tags) -> str:
    """The page's own title, without the name of the site."""
    shared = next((content for name, content in tags if name == "og:title"), "")
    return _SITE.sub("", shared or plain(root.find("head/title")))


def _stamp(paper: ParsedPaper, root: Element) -> None:
    """What arXiv prints in the margin: its number and the day."""
    for element in root.iter("div", "span", "p"):
        if (element.get("id") or "").startswith("watermark") and (match := ARXIV_WATERMARK.search(plain(element))):
            paper.arxiv_id = paper.arxiv_id or match[1]
            paper.publication_date = paper.publication_date or parse_date(match[2] or "")
            return


def _front(paper: ParsedPaper, root: Element) -> None:
    """Authors as LaTeXML writes them, else those that elements are named for; a DOI that stands near the title."""
    if not paper.authors:
        paper.authors = list(_creators(root))[:5000] or list(_bylines(root))[:200]
    paper.doi = paper.doi or _doi_near_title(root)


def _doi_near_title(root: Element) -> str | None:
    """Between the title and the next heading; those further down belong to other works."""
    headings = 0
    for element in root.iter("h1", "h2", "h3", "h4", "h5", "h6", "a"):
        headings += element.tag != "a"
        if headings > 1:
            break
        if element.tag == "a" and "doi.org/" in (link := element.get("href") or ""):
            return find_doi(link)
    return None


def _creators(root: Element) -> Iterator[Author]:
    for creator in root.iter("span", "div"):
        called = names(creator)
        if "ltx_creator" in called and "ltx_role_author" in called:
            yield from _creator(creator)


def _creator(creator: Element) -> Iterator[Author]:
    """One author with separate contacts, or several in lines: names, then places and addresses."""
    people: list[str] = []
    places: list[str] = []
    mails: list[str] = []
    orcid = None
    for element in creator.iter("span", "a", "div"):
        called = names(element)
        if "ltx_personname" in called:
            lines = [line for line in _LINES.paragraphs(element).split("\n\n") if line.strip(" ,&")]
            people += lines[:1]
            for line in lines[1:]:
                found = _MAIL.findall(line)
                mails += found
                if not found:
                    places.append(line.strip(" ,"))
        elif "ltx_role_affiliation" in called or "ltx_role_address" in called:
            text = re.sub(
                r"(?i)^\s*(?:affiliation|institutetext):?\s*", "", ", ".join(_LINES.paragraphs(element).split("\n\n"))
            )
            mails += _MAIL.findall(text)
            places.append(_MAIL.sub("", text).strip(" ,;"))
        elif "ltx_role_email" in called:
            mails += _MAIL.findall(plain(element))
        elif "ltx_role_orcid" in called:
            orcid = clean_orcid(f"{plain(element)} {' '.join(link.get('href') or '' for link in element.iter('a'))}")
    found = [name for text in people for name in split_names(text)]
    for number, name in enumerate(found):
        place = "; ".join(dict.fromkeys(filter(None, places))) or None
        mail = mails[number] if number < len(mails) else None
        yield Author(name=name, affiliation=place, email=mail, orcid=orcid if len(found) == 1 else None)


def _bylines(root: Element) -> Iterator[Author]:
    """Elements that are named for an author and hold a short name."""
    seen = set()
    for element in root.iter("span", "a", "p", "div", "li", "address"):
        said = (element.get("itemprop") or "") == "author" or "author" in (element.get("rel") or "").split()
        if not said and not any(name in ("author", "author-name", "byline-author") for name in names(element)):
            continue
        for name in split_names(re.sub(r"(?i)^\s*by\s+", "", _LINES.line(element))):
            name = person_name(name)
            if 2 <= len(name.split()) <= 5 and len(name) < 60 and name not in seen:
                seen.add(name)
                yield Author(name=name)


def _without_front(paper: ParsedPaper) -> None:
    """Drop sections without a heading in front of the abstract: they hold names, places and buttons."""
    kinds = [section.section_type for section in paper.sections]
    if "abstract" in kinds:
        place = kinds.index("abstract")
        paper.sections = [s for i, s in enumerate(paper.sections) if i >= place or s.heading]


def _add_abstract(paper: ParsedPaper) -> None:
    """If the page prints no abstract, the metadata's becomes a section, so that it can be found and quoted."""
    if not paper.abstract:
        return
    if any(section.section_type == "abstract" for section in paper.sections):
        paper.abstract = ""  # the printed one, which is taken from its section
    else:
        paper.sections.insert(0, Section(heading="Abstract", section_type="abstract", text=paper.abstract))


def _language(paper: ParsedPaper, root: Element) -> str | None:
    """What the page says about its language, if its text is too short to tell."""
    said = re.match(r"[a-z]{2}(?=[-_]|$)", clean(unmarked(root.get("lang") or "")).lower())
    return said.group() if said and sum(len(section.text) for section in paper.sections) < 500 else None
