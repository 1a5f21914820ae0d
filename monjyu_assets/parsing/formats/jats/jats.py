"""JATS XML (PubMed Central, publishers, preprint servers) to a parsed paper."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monjyu_assets.parsing.formats.jats.jats_front import is_writer, name_of, read_front
from monjyu_assets.parsing.formats.jats.jats_references import read_references
from monjyu_assets.parsing.formats.jats.jats_text import JatsText
from monjyu_assets.parsing.text.common import add_notes, add_references
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_assets.parsing.xml.xml_math import TITLE_TEXT
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
_SORTS = ("graphical", "short", "toc", "teaser", "video")
_PART_TYPES = ("sub-article", "response")
"""Parts of a file that are papers of their own, or say what others think of it: letters, replies, translations."""


def parse_jats(article: Element) -> ParsedPaper:
    """Parse an `article` element; its sections hold plain text, their levels start at 1. Raises EmptyDocument."""
    paper = ParsedPaper(document_type="jats", processor="lxml")
    front = article.find("front")
    meta = front.find("article-meta") if front is not None else None
    read_front(paper, front if front is not None else article)
    reader = _Reader(paper)
    for abstract in meta.iterchildren("abstract", "trans-abstract") if meta is not None else []:
        reader.abstract(abstract)
    body = article.find("body")
    if body is not None:
        reader.body(body)
    references = read_references(article)
    back = article.find("back")
    if back is not None:
        reader.back(back)
    for floats in article.iterchildren("floats-group", "floats-wrap"):
        reader.loose([floats])
    if meta is not None:
        reader.front_matter(meta)
    paper.warnings += [f"not read: {_part(part)}" for part in article.iterchildren(*_PART_TYPES)]
    add_references(paper, references, plain(article.find("back/ref-list/title")) or "References")
    language = re.match(r"[a-z]{2}(?=[-_]|$)", (article.get("lang") or "").lower())
    return finish(paper, references, language.group() if language and len(paper.sections) else None)


class _Reader:
    """Walks abstract, body and back and adds their sections to the paper."""

    def __init__(self, paper: ParsedPaper) -> None:
        self.paper = paper
        self.text = JatsText(paper)

    def abstract(self, element: Element) -> None:
        """A structured abstract is one section, each paragraph behind the heading of its part; so is each further one,
        for other readers or in another language."""
        kind = (element.get("abstract-type") or "").lower()
        first = not kind and not any(section.section_type == "abstract" for section in self.paper.sections)
        translated = element.tag == "trans-abstract" and not kind
        texts = [self.text.own(element)]
        for part in element.iter("sec"):
            heading, text = self.text.line(part.find("title")), self.text.own(part)
            texts.append(f"{heading.rstrip(':')}: {text}" if heading and text else text)
        named = kind.replace("-", " ").capitalize() or ("Abstract" if first or translated else "Summary")
        named += " abstract" if kind in _SORTS else ""
        text = "\n\n".join(text for text in texts if text)
        if text:
            heading = self.text.line(element.find("title")) or named
            section = Section(heading=heading, section_type="abstract" if first or translated else "other", text=text)
            self.paper.sections.insert(0 if first else len(self.paper.sections), section)

    def front_matter(self, meta: Element) -> None:
        """What the front says besides names: titles in other languages, who paid, notes to names."""
        titles = [TITLE_TEXT.line(title) for title in meta.iterfind("title-group/trans-title-group/trans-title")]
        titles += [TITLE_TEXT.line(title) for title in meta.iterfind("title-group/trans-title")]
        paid = [self.text.line(item) for item in meta.iterfind("funding-group/funding-statement")]
        holders = meta.iterchildren("title-group", "contrib-group", "author-notes", "aff", "fn-group", "notes")
        notes = [note for holder in holders for note in holder.iter("fn", "notes", "corresp")]
        texts = [self.text.note(note) for note in notes if not any(above in notes for above in note.iterancestors())]
        said = [self.text.line(item.find("meta-value")) for item in meta.iterfind("custom-meta-group/custom-meta")]
        others = ", ".join(name for item in meta.iter("contrib") if not is_writer(item) and (name := name_of(item)))
        if funding := "\n\n".join(filter(None, paid)):
            self.paper.sections.append(Section(heading="Funding", section_type="acknowledgments", text=funding))
        add_notes(self.paper, [*titles, *texts, *(text for text in said if len(text.split()) > 5), others])

    def loose(self, elements: Sequence[Element]) -> None:
        """What is outside all sections."""
        for element in elements:
            if text := self.text.own(element):
                self.paper.sections.append(Section(heading="", text=text))

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
                case "ref-list" | "title" | "label":
                    pass
                case _:
                    self.loose([child])

    def _titled(self, element: Element, heading: str, kind: SectionType | None = None) -> None:
        before = len(self.paper.sections)
        self.section(element, 1, kind)
        section = self.paper.sections[before]
        section.heading = section.heading or heading
        if len(self.paper.sections) == before + 1 and not section.text:
            del self.paper.sections[before]


def _part(part: Element) -> str:
    """A part of the file that is not read, by its kind, language and length."""
    kind = (part.get("article-type") or part.get("response-type") or part.tag).replace("-", " ")
    language = f" ({part.get('lang')})" if part.get("lang") else ""
    return f"{kind}{language}, {len(plain(part))} characters"


def _type_named(name: str) -> SectionType:
    first = name.lower().partition("|")[0]
    return next((kind for start, kind in _SECTION_TYPES if first.startswith(start)), "other")
