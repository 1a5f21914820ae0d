"""JATS XML (PubMed Central, publishers, preprint servers) to a parsed paper."""

from __future__ import annotations

import re

from monjyu_assets.parsing.formats.jats.jats_front import read_front
from monjyu_assets.parsing.formats.jats.jats_references import read_references
from monjyu_assets.parsing.formats.jats.jats_text import JatsText
from monjyu_assets.parsing.text.common import add_references
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_assets.parsing.xml.xml_paper import finish
from monjyu_assets.parsing.xml.xml_tree import Element, plain
from monjyu_core.paper import ParsedPaper, Section, SectionType

_SECTION_TYPES: list[tuple[str, SectionType]] = [
    ("intro", "introduction"),
    ("result", "results"),
    ("discussion", "discussion"),
    ("conclusion", "conclusion"),
    ("method", "methods"),
    ("material", "methods"),
    ("subject", "methods"),
    ("case", "results"),
    ("supplement", "appendix"),
]
"""What `sec-type` may begin with (JATS names these values, joined by `|`)."""
_UNREAD_ABSTRACTS = ("graphical", "toc", "teaser", "short", "web-summary", "video", "key-points", "highlights")


def parse_jats(article: Element) -> ParsedPaper:
    """Parse an `article` element; its sections hold plain text, their levels start at 1. Raises EmptyDocument."""
    paper = ParsedPaper(document_type="jats", processor="lxml")
    front = article.find("front")
    meta = front.find("article-meta") if front is not None else None
    read_front(paper, front if front is not None else article)
    reader = _Reader(paper)
    for abstract in meta.findall("abstract") if meta is not None else []:
        reader.abstract(abstract)
    body = article.find("body")
    if body is not None:
        reader.body(body)
    references = read_references(article)
    back = article.find("back")
    if back is not None:
        reader.back(back)
    add_references(paper, references, plain(article.find("back/ref-list/title")) or "References")
    language = re.match(r"[a-z]{2}(?=[-_]|$)", (article.get("lang") or "").lower())
    return finish(paper, references, language.group() if language and len(paper.sections) else None)


class _Reader:
    """Walks abstract, body and back and adds their sections to the paper."""

    def __init__(self, paper: ParsedPaper) -> None:
        self.paper = paper
        self.text = JatsText(paper)

    def abstract(self, element: Element) -> None:
        """A structured abstract is one section, each paragraph behind the heading of its part."""
        kind = (element.get("abstract-type") or "").lower()
        first = not any(section.section_type == "abstract" for section in self.paper.sections)
        if any(kind.startswith(name) for name in _UNREAD_ABSTRACTS) or not (first or kind):
            return
        texts = [self.text.own(element)]
        for part in element.iter("sec"):
            heading, text = self.text.line(part.find("title")), self.text.own(part)
            texts.append(f"{heading.rstrip(':')}: {text}" if heading and text else text)
        heading = self.text.line(element.find("title")) or ("Abstract" if first else "Summary")
        text = "\n\n".join(text for text in texts if text)
        if text:
            section = Section(heading=heading, section_type="abstract" if first else "other", text=text)
            self.paper.sections.append(section)

    def body(self, element: Element) -> None:
        text = self.text.own(element)
        if text:
            self.paper.sections.append(Section(heading="", text=text))
        for child in element.findall("sec"):
            self.section(child, 1)

    def section(self, element: Element, level: int, kind: SectionType | None = None) -> None:
        heading = self.text.line(element.find("title"))
        found = kind or section_type(heading)
        if found == "other":
            found = _type_named(element.get("sec-type") or "")
        section = Section(heading=heading, level=level, section_type=found, text=self.text.own(element))
        self.paper.sections.append(section)
        for child in element.findall("sec"):
            self.section(child, level + 1)

    def back(self, element: Element) -> None:
        """Acknowledgements, appendices, notes; the reference list is read apart."""
        for child in element:
            match child.tag:
                case "ack":
                    self._titled(child, "Acknowledgments", "acknowledgments")
                case "app-group":
                    for appendix in child.findall("app"):
                        self._titled(appendix, "Appendix", "appendix")
                case "app":
                    self._titled(child, "Appendix", "appendix")
                case "sec" | "notes" | "bio" | "glossary" | "fn-group":
                    self._titled(child, "Notes" if child.tag in ("notes", "fn-group") else "")

    def _titled(self, element: Element, heading: str, kind: SectionType | None = None) -> None:
        before = len(self.paper.sections)
        self.section(element, 1, kind)
        section = self.paper.sections[before]
        section.heading = section.heading or heading
        if len(self.paper.sections) == before + 1 and not section.text:
            del self.paper.sections[before]


def _type_named(name: str) -> SectionType:
    first = name.lower().partition("|")[0]
    return next((kind for start, kind in _SECTION_TYPES if first.startswith(start)), "other")
