"""Reads the XML of Word files as a stream: without a tree that a hostile file could make deep, and without entities."""

import base64
import html
import json
import re
from dataclasses import dataclass
from io import BytesIO
from xml.etree.ElementTree import ParseError, XMLParser

from monjyu_core.errors import QueryError
from monjyu_core.user_files.bounded_reading import FileRefused, unzip
from monjyu_query.drafts.citation_marks import doi_in, mark_text, year_in
from monjyu_query.drafts.cited_works import is_heading, work_of_csl, works_of_list
from monjyu_query.drafts.pages import Pages, Wanted, Work, without_marks

_SPLIT = "Check it chapter by chapter."
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MENDELEY = "MENDELEY_CITATION_v3_"
_LISTS = ("ZOTERO_BIBL", "CSL_BIBLIOGRAPHY", "EN.REFLIST", "BIBLIOGRAPHY")
_WORD_KEY = re.compile(r"\s*CITATION\s+(\S+)((?:\s+\\m\s+\S+)*)")
_FURTHER = re.compile(r"\\m\s+(\S+)")
_RAISED = re.compile(r"\d{1,3}(?:[,–-]\d{1,3})*")
MOST_TAGS, MOST_PARAGRAPHS = 2_000_000, 200_000
MOST_PARAGRAPH = 20_000
"""The maximum number of characters of a paragraph; the rest is ignored."""
_DEEPEST = 100
"""The maximum nesting of fields or content controls."""
MOST_FIELD = 200_000
"""The maximum number of characters in a field's instruction."""


def parse_xml(text: str, target: object) -> None:
    """Pass the elements of a document to a target. Raises QueryError if it is not XML, declares a document type or
    entities, or has too many tags."""
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
    """A field being read: its instruction, and the start of its result in the paragraph."""

    paragraph: int
    start: int
    told: str = ""
    result: bool = False


class Body:
    """Collects the paragraphs of `word/document.xml`, with marks for its citation fields."""

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
            raise QueryError(f"The Word file nests more than {_DEEPEST} fields.", "Save it again from Word.")
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
        """Put a mark in place of the field's result, if that is in one paragraph."""
        if wanted and field.paragraph == len(self.paragraphs) - 1:
            paragraph = self.paragraphs[-1]
            shown = paragraph.text[field.start :]
            paragraph.text = paragraph.text[: field.start] + self._pages.mark(shown or "(field)", wanted)


def _is_list(told: str) -> bool:
    return any(name in told for name in _LISTS)


def _wanted(told: str) -> list[Wanted]:
    """The works of a field's instruction; none if it is not a citation."""
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
    """Collects Word's own list of sources: works by tag."""

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


# Word files: paragraphs with marks for citation fields (Zotero, Mendeley, EndNote, Word) and plain citations.
MOST_BYTES, MOST_XML, MOST_FILES = 50 << 20, 40 << 20, 5_000
"""Limits on the size of the file, the unpacked size of the parts that are read, and the number of parts."""
_DOCUMENT = "word/document.xml"
_HINT = "Save it again as .docx, or split the draft."
_SOURCES = 20


def read_word(data: bytes, pages: Pages) -> None:
    """Fill `pages`; footnotes are not read. Raises QueryError for a file that is not a Word file, or is too large
    (packed or unpacked)."""
    body = Body(pages)
    try:
        parts = unzip(BytesIO(data), MOST_FILES, MOST_XML, _is_read).files
        document = parts.pop(_DOCUMENT).decode("utf-8-sig")
        sources = [part.decode("utf-8-sig") for part in list(parts.values())[:_SOURCES]]
    except (FileRefused, KeyError, UnicodeDecodeError) as error:
        reason = f" {error}" if isinstance(error, FileRefused) else ""
        raise QueryError(f"This is not a Word file that can be read.{reason}", _HINT) from error
    for text in sources:
        if "<b:Source>" in text:
            parse_xml(text, listed := Sources())
            pages.works.by_key |= listed.works
    parse_xml(document, body)
    _read(body, pages)


def _is_read(name: str) -> bool:
    return name == _DOCUMENT or (name.startswith("customXml/item") and name.endswith(".xml"))


def _read(body: Body, pages: Pages) -> None:
    in_list, listed = False, []
    for paragraph in body.paragraphs:
        text = " ".join(paragraph.text.split())
        if is_heading(text):
            in_list = True
        elif paragraph.heading:
            in_list = False
        elif text and (in_list or paragraph.of_list):
            listed.append(text)
        elif text and not paragraph.heading:
            pages.texts.append(mark_text(text, pages))
    pages.works.listed += works_of_list(listed)
