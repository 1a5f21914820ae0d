"""TEI as GROBID writes it, and as conferences and journals of the humanities do, to a parsed paper."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monjyu_assets.parsing.formats.tei.tei_front import read_header, read_references
from monjyu_assets.parsing.text.common import add_references
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_assets.parsing.text.text_marks import silent
from monjyu_assets.parsing.xml.xml_math import math_text, tex_of
from monjyu_assets.parsing.xml.xml_paper import finish, read_table
from monjyu_assets.parsing.xml.xml_tree import Element, Handler, XmlText, plain, tidy
from monjyu_core.paper import Equation, Figure, ParsedPaper, Section, SectionType, Table

_BLOCKS = frozenset({"p", "list", "item", "quote", "ab", "lg", "l", "sp", "head", "epigraph", "floatingText"})
_UNSEEN = frozenset({"graphic", "fw", "pb", "listBibl", "biblStruct", "docTitle", "docAuthor", "byline"})
_DIVISION_TAGS = ("div", "div1", "div2", "div3", "div4", "div5")
_HEADING_LOOK = re.compile(r"(?i)(?:sub)?title|(?:dh-)?head(?:ing)?[ _-]?(?P<level>\d?)")
_LONGEST_HEADING = 200
_DIVISIONS: dict[str, tuple[str, SectionType]] = {
    "acknowledgement": ("Acknowledgments", "acknowledgments"),
    "acknowledgment": ("Acknowledgments", "acknowledgments"),
    "funding": ("Funding", "acknowledgments"),
    "abstract": ("Abstract", "abstract"),
    "annex": ("", "appendix"),
    "appendix": ("", "appendix"),
    "availability": ("Availability", "other"),
    "notes": ("Notes", "other"),
    "endnotes": ("Notes", "other"),
    "contribution": ("Contributions", "other"),
    "conflict": ("Conflicts of interest", "other"),
}
"""`type` of a division: the heading where none is printed, and what it is."""
_LABEL = re.compile(r"(?i)\s*(?:figure|fig|table|tab|図|表)\.?\s*[\dIVX]{1,5}[a-z]?\s*[.:|]?\s+(?=\S)")


def parse_tei(root: Element) -> ParsedPaper:
    """Parse a `TEI` element; its sections hold plain text, their levels start at 1. Raises EmptyDocument."""
    paper = ParsedPaper(document_type="tei", processor="lxml")
    header = root.find("teiHeader")
    if header is not None:
        read_header(paper, header)
    reader = _Reader(paper)
    abstract = header.find("profileDesc/abstract") if header is not None else None
    if abstract is not None and (text := reader.block(abstract)):
        paper.sections.append(Section(heading="Abstract", section_type="abstract", text=text))
    text_element = root.find("text")
    for name in ("front", "body", "back"):
        part = text_element.find(name) if text_element is not None else None
        if part is not None:
            reader.part(part)
    references = read_references(root)
    add_references(paper, references, reader.list_heading or "References")
    language = (root.get("lang") or "") or (text_element.get("lang") or "" if text_element is not None else "")
    match = re.match(r"[a-z]{2}(?=[-_]|$)", language.lower())
    return finish(paper, references, match.group() if match else None)


class _Reader:
    """Walks the divisions of the text and adds their sections to the paper."""

    def __init__(self, paper: ParsedPaper) -> None:
        self.paper = paper
        handlers: dict[str, Handler] = {
            "ref": self._ref,
            "formula": self._formula,
            "figure": self._figure,
            "table": self._bare_table,
            "note": self._note,
            "label": self._label,
            "hi": self._styled,
            "lb": lambda element: " ",
            "s": self._sentence,
        }
        self._text: XmlText = XmlText(_BLOCKS, _UNSEEN, handlers)
        self.list_heading = ""

    def block(self, element: Element) -> str:
        return self._text.paragraphs(element)

    def part(self, part: Element) -> None:
        """Divisions in order; text outside them belongs to the one before it, or to a section before the first."""
        self._flow(part, 0)

    def _flow(self, element: Element, level: int, kind: SectionType | None = None) -> None:
        """What an element holds, in order: divisions, paragraphs that are set as headings, and text."""
        texts: list[str] = []
        for child in element:
            heading = self._heading_paragraph(child)
            if child.tag in _DIVISION_TAGS or heading:
                self._append(texts)
                texts = []
            if child.tag in _DIVISION_TAGS:
                self.division(child, level + 1, kind)
            elif heading:
                self.paper.sections.append(
                    Section(heading=heading, level=level + 1, section_type=kind or section_type(heading))
                )
            elif child.tag != "head" or level == 0:
                texts.append(tidy(self._text.piece(child)))
        self._append(texts)

    def _append(self, texts: Sequence[str]) -> None:
        text = "\n\n".join(filter(None, texts))
        if not text:
            return
        if not self.paper.sections:
            self.paper.sections.append(Section(heading=""))
        last = self.paper.sections[-1]
        last.text = f"{last.text}\n\n{text}".strip()

    def _heading_paragraph(self, element: Element) -> str:
        """A short paragraph that is set as a heading."""
        if element.tag != "p" or _HEADING_LOOK.fullmatch(element.get("rend") or element.get("style") or "") is None:
            return ""
        text = self._text.line(element)
        return text if len(text) <= _LONGEST_HEADING else ""

    def division(self, element: Element, level: int, kind: SectionType | None) -> None:
        """A division and those inside it. GROBID nests only some; the number gives the depth: `n="3.1"`."""
        name = (element.get("type") or "").lower()
        head = element.find("head")
        heading = self._text.line(head)
        if name in ("references", "bibliography", "bibliogr") or element.find("listBibl") is not None:
            self.list_heading = self.list_heading or heading or self._text.line(element.find("listBibl/head"))
            heading, head = "", None
        printed, named = _DIVISIONS.get(name, ("", None))
        kind = kind or named
        number = (head.get("n") or "").strip(". ") if head is not None else ""
        depth = min(number.count("."), 8) + 1 if number and element.getparent().tag not in _DIVISION_TAGS else level
        if heading or self._has_own_text(element):
            found = kind or section_type(f"{number} {heading}" if number else heading)
            self.paper.sections.append(Section(heading=heading or printed, level=depth, section_type=found))
        self._flow(element, depth if heading else depth - 1, kind)

    def _has_own_text(self, element: Element) -> bool:
        return any(child.tag not in ("head", "listBibl", *_DIVISION_TAGS) for child in element)

    def _label(self, element: Element) -> str:
        """The term of a list of terms; the number of a formula is counted."""
        return f"{self._text.inner(element)} " if element.getparent().tag in ("list", "item") else ""

    def _ref(self, element: Element) -> str:
        kind = element.get("type") or ""
        if kind == "bibr":
            keys = [key.removeprefix("#") for key in (element.get("target") or "").split()[:100]]
            return "".join(silent(key) for key in keys) + self._text.inner(element)
        return "" if kind == "foot" else self._text.inner(element)

    def _note(self, element: Element) -> str:
        return f"\n\n{self._text.inner(element)}\n\n"

    def _styled(self, element: Element) -> str:
        raised = "super" in (element.get("rend") or "")
        return self._text.raised(element) if raised else self._text.inner(element)

    def _sentence(self, element: Element) -> str:
        return f"{self._text.inner(element)} "

    def _formula(self, element: Element) -> str:
        math = element.find(".//math")
        notation = (element.get("notation") or "").lower()
        latex = tex_of(plain(element)) if notation in ("tex", "latex") else None
        text = latex or (math_text(math) if math is not None else self._text.line(element))
        inline = element.getparent().tag in ("p", "s", "ref", "hi", "item")
        if text:
            self.paper.equations.append(Equation(text=text, latex=latex, inline=inline))
        return text if inline else f"\n\n{text}\n\n"

    def _figure(self, element: Element) -> str:
        head, about = self._text.line(element.find("head")), self._text.line(element.find("figDesc"))
        about = about if about and not head.endswith(about) else ""
        below = [self._text.line(child) for child in element.iterchildren("note", "p", "ab")]
        caption = _LABEL.sub("", " ".join(filter(None, (head, about, *below))), count=1) or None
        inner = element.find(".//table")
        if element.get("type") == "table" or inner is not None:
            table = self._cells(inner) if inner is not None else Table()
            table.caption = caption
            self.paper.tables.append(table)
        else:
            self.paper.figures.append(Figure(caption=caption))
        return ""

    def _bare_table(self, element: Element) -> str:
        table = self._cells(element)
        table.caption = self._text.line(element.find("head")) or None
        self.paper.tables.append(table)
        return ""

    def _cells(self, table: Element) -> Table:
        rows = table.findall(".//row")
        labelled = [(row.get("role") or "") == "label" for row in rows]
        if not any(labelled):
            return read_table(rows[:1], rows[1:], self._text.line)
        heads = [row for row, is_head in zip(rows, labelled, strict=True) if is_head]
        return read_table(
            heads, [row for row, is_head in zip(rows, labelled, strict=True) if not is_head], self._text.line
        )
