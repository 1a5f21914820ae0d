"""HTML pages of papers (arXiv, ar5iv, PubMed Central, publishers), and any other page, to a parsed paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from monjyu_assets.parsing.bibliography.dates import parse_date
from monjyu_assets.parsing.bibliography.identifiers import ARXIV_WATERMARK, find_doi
from monjyu_assets.parsing.formats.html.html_authors import read_authors_of, settle_lead
from monjyu_assets.parsing.formats.html.html_body import Body, BodyReader, find_article
from monjyu_assets.parsing.formats.html.html_front import Tags, citation_references, read_metadata
from monjyu_assets.parsing.formats.html.html_references import is_button, of_tags
from monjyu_assets.parsing.formats.html.html_tree import prune, read_html
from monjyu_assets.parsing.text.common import add_notes, add_references
from monjyu_assets.parsing.text.decoding import clean
from monjyu_assets.parsing.text.front_text import is_prose
from monjyu_assets.parsing.text.text_marks import unmarked
from monjyu_assets.parsing.xml.xml_paper import finish
from monjyu_assets.parsing.xml.xml_tree import Element, plain
from monjyu_core.errors import MalformedDocument
from monjyu_core.paper import ParsedPaper, Section
from monjyu_core.settings.papers_settings import ParseSettings

_SITE = re.compile(r"\s+[|\u2013\u2014·:-]\s+[^|\u2013\u2014·]{1,60}$")


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
    told = bool(paper.authors)
    notes = [] if told else read_authors_of(paper, root)
    paper.doi = paper.doi or _doi_near_title(root)
    body = BodyReader(paper, article).read()
    paper.title = paper.title or body.title or named
    settle_lead(paper, told=told)
    if told:
        paper.sections = list(_without_empty(paper.sections))
    _add_abstract(paper)
    add_notes(paper, [*notes, body.notes.strip()])
    language = _language(paper, root)
    if not body.references.references:
        body.references.references = of_tags(citation_references(tags))
    return _finished(paper, body, language, told=told)


def _finished(paper: ParsedPaper, body: Body, language: str | None, *, told: bool) -> ParsedPaper:
    references = body.references.references
    if references:
        printed = [s for s in paper.sections if s.section_type == "references" and s.text]
        around = [
            text for s in printed for text in s.text.split("\n\n") if is_prose(text) or not (told or is_button(text))
        ]
        paper.sections = [s for s in paper.sections if s.section_type != "references"]
        add_references(paper, references, body.heading)
        paper.sections[-1].text = "\n\n".join([*around, paper.sections[-1].text])
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


def _without_empty(sections: Sequence[Section]) -> Iterator[Section]:
    """Without headings of what was not for reading ("About this article"): no text and nothing below."""
    for section, following in zip_longest(sections, sections[1:]):
        if section.text or (following and following.level > section.level) or section.section_type == "references":
            yield section


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
