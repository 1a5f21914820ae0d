"""The XML of Word files, read as a stream: no tree that a hostile file could make deep, no entities of its own."""

from __future__ import annotations

import base64
import html
import json
import re
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import ParseError, XMLParser

from monjyu_core.errors import QueryError
from monjyu_query.drafts.formats.cited_works import work_of_csl
from monjyu_query.drafts.formats.draft_pages import Pages, Wanted, Work, without_marks
from monjyu_query.drafts.formats.work_ids import doi_in, year_in

_SPLIT = "Check it chapter by chapter."
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MENDELEY = "MENDELEY_CITATION_v3_"
_LISTS = ("ZOTERO_BIBL", "CSL_BIBLIOGRAPHY", "EN.REFLIST", "BIBLIOGRAPHY")
_WORD_KEY = re.compile(r"\s*CITATION\s+(\S+)((?:\s+\\m\s+\S+)*)")
_FURTHER = re.compile(r"\\m\s+(\S+)")
_RAISED = re.compile(r"\d{1,3}(?:[,–-]\d{1,3})*")
MOST_TAGS, MOST_PARAGRAPHS = 2_000_000, 200_000
MOST_PARAGRAPH = 20_000
"""Characters of a paragraph; the rest is left out."""
_DEEPEST = 100
"""Fields, or content controls, inside of each other."""
MOST_FIELD = 200_000
"""Characters of a field's instruction."""


def parse_xml(text: str, target: Any) -> None:
    """Hand the elements of a document to a target. QueryError where it is no XML or declares a document type."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise QueryError("The Word file declares XML entities, which Word never writes.", "Save it again from Word.")
    if text.count("<") > MOST_TAGS:
        raise QueryError(f"The Word file has more than {MOST_TAGS:,} tags.", _SPLIT)
    parser = XMLParser(target=target)
    try:
        parser.feed(text)
        parser.close()
    except (ParseError, ValueError) as error:
        raise QueryError("The Word file's XML is broken.", "Save it again from Word.") from error


@dataclass
class Paragraph:
    text: str = ""
    heading: bool = False
    of_list: bool = False


@dataclass
class _Field:
    """A field under way: what it is told, and where in the paragraph its result begins."""

    paragraph: int
    start: int
    told: str = ""
    result: bool = False


class Body:
    """The paragraphs of `word/document.xml`."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self.paragraphs: list[Paragraph] = [Paragraph()]
        self._fields: list[_Field] = []
        self._controls: list[_Field] = []
        self._inside = ""
        self._raised = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.removeprefix(_W)
        value = attributes.get(f"{_W}val", "")
        if name == "p":
            in_list = any(field.result and _is_list(field.told) for field in self._fields)
            if len(self.paragraphs) == MOST_PARAGRAPHS:
                raise QueryError(f"The Word file has more than {MOST_PARAGRAPHS:,} paragraphs.", _SPLIT)
            self.paragraphs.append(Paragraph(of_list=in_list))
        elif name in ("t", "instrText"):
            self._inside = name
        elif name in ("tab", "br"):
            self._add(" ")
        elif name == "r":
            self._raised = False
        elif name == "vertAlign":
            self._raised = value == "superscript"
        elif name == "pStyle":
            self.paragraphs[-1].heading |= value.casefold().startswith(("heading", "title", "berschrift"))
            self.paragraphs[-1].of_list |= value.casefold().startswith("bibliograph")
        elif name == "fldChar":
            self._field(attributes.get(f"{_W}fldCharType", ""))
        elif name == "fldSimple":
            self._open(self._fields, attributes.get(f"{_W}instr", "")[:MOST_FIELD], result=True)
        elif name == "sdt":
            self._open(self._controls)
        elif name == "tag" and self._controls and value.startswith(_MENDELEY):
            self._controls[-1].told = value[:MOST_FIELD]

    def end(self, tag: str) -> None:
        name = tag.removeprefix(_W)
        if name in ("t", "instrText"):
            self._inside = ""
        elif name == "fldSimple" and self._fields:
            self._close(self._fields.pop())
        elif name == "sdt" and self._controls:
            control = self._controls.pop()
            if control.told:
                self._put(control, _of_mendeley(control.told))

    def data(self, text: str) -> None:
        if self._inside == "instrText" and self._fields:
            field = self._fields[-1]
            if len(field.told) < MOST_FIELD:
                field.told += text
        elif self._inside == "t":
            text = without_marks(text)
            self._add(f"[{text.strip()}]" if self._raised and _RAISED.fullmatch(text.strip()) else text)

    def _add(self, text: str) -> None:
        if len(self.paragraphs[-1].text) < MOST_PARAGRAPH:
            self.paragraphs[-1].text += text

    def _open(self, inside: list[_Field], told: str = "", *, result: bool = False) -> None:
        if len(inside) == _DEEPEST:
            raise QueryError(f"The Word file has fields in more than {_DEEPEST} others.", "Save it again from Word.")
        inside.append(_Field(len(self.paragraphs) - 1, len(self.paragraphs[-1].text), told, result))

    def _field(self, kind: str) -> None:
        if kind == "begin":
            self._open(self._fields)
        elif self._fields and kind == "separate":
            self._fields[-1].result = True
            self.paragraphs[-1].of_list |= _is_list(self._fields[-1].told)
        elif self._fields and kind == "end":
            self._close(self._fields.pop())

    def _close(self, field: _Field) -> None:
        self._put(field, _wanted(field.told))

    def _put(self, field: _Field, wanted: list[Wanted]) -> None:
        """A mark in place of what the field shows, where that is in one paragraph."""
        if wanted and field.paragraph == len(self.paragraphs) - 1:
            paragraph = self.paragraphs[-1]
            shown = paragraph.text[field.start :]
            paragraph.text = paragraph.text[: field.start] + self._pages.mark(shown or "(field)", wanted)


def _is_list(told: str) -> bool:
    return any(name in told for name in _LISTS)


def _wanted(told: str) -> list[Wanted]:
    """The works of a field's instruction; none where it is no citation."""
    if "CSL_CITATION" in told:
        return _of_csl(told[told.find("{") :])
    if "EN.CITE" in told:
        return _of_endnote(told)
    key = _WORD_KEY.match(told)
    if key:
        return [Wanted(key=key[1]), *(Wanted(key=more) for more in _FURTHER.findall(key[2]))]
    return []


def _of_csl(text: str) -> list[Wanted]:
    try:
        data, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return []
    items = data.get("citationItems") if isinstance(data, dict) else None
    data_of = [item.get("itemData") for item in items or [] if isinstance(item, dict)]
    return [Wanted(work=work_of_csl(one)) for one in data_of if isinstance(one, dict)]


def _of_mendeley(told: str) -> list[Wanted]:
    try:
        return _of_csl(base64.b64decode(told.removeprefix(_MENDELEY), validate=False).decode("utf-8"))
    except ValueError:
        return []


def _of_endnote(told: str) -> list[Wanted]:
    found = []
    for cite in told.split("</Cite>")[:-1]:
        cite = cite.partition("<Cite")[2]
        fields = {
            name: _inner(cite, name)
            for name in ("title", "year", "author", "electronic-resource-num", "Author", "Year")
        }
        author = (fields["author"] or fields["Author"]).split(",")[0]
        doi = doi_in(fields["electronic-resource-num"])
        year = year_in(fields["year"] or fields["Year"])
        found.append(Wanted(work=Work(fields["title"], (author,) if author else (), year, doi)))
    return found


def _inner(xml: str, name: str) -> str:
    text, closed, _ = xml.partition(f"<{name}>")[2].partition(f"</{name}>")
    return " ".join(html.unescape(re.sub(r"<[^>]{0,200}>", "", text)).split())[:1000] if closed else ""


class Sources:
    """Word's own list of sources: works by tag."""

    def __init__(self) -> None:
        self.works: dict[str, Work] = {}
        self._fields: dict[str, list[str]] = {}
        self._inside = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._inside = tag.rpartition("}")[2]
        if self._inside == "Source":
            self._fields = {}

    def data(self, text: str) -> None:
        if text.strip():
            self._fields.setdefault(self._inside, []).append(without_marks(text.strip())[:1000])

    def end(self, tag: str) -> None:
        self._inside = ""
        if tag.rpartition("}")[2] == "Source" and self._fields.get("Tag"):
            of = {name: " ".join(values) for name, values in self._fields.items()}
            doi = doi_in(f"{of.get('DOI', '')} {of.get('StandardNumber', '')} {of.get('URL', '')}")
            authors = tuple(self._fields.get("Last", []))
            self.works[of["Tag"]] = Work(of.get("Title", ""), authors, year_in(of.get("Year", "")), doi)
