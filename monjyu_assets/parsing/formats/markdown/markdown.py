"""Markdown to a parsed paper: CommonMark with tables, footnotes and dollar maths, pandoc citations, front matter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from monjyu_assets.parsing.bibliography.pandoc_citations import Citer, attach, citer_for, settle
from monjyu_assets.parsing.formats.markdown.front_matter import (
    authors_of,
    keywords_of,
    metadata_of,
    split_front_matter,
    text_of,
)
from monjyu_assets.parsing.formats.markdown.html_text import html_text
from monjyu_assets.parsing.formats.markdown.inline_text import InlineReader, plain_lines
from monjyu_assets.parsing.text.common import Entry, complete
from monjyu_assets.parsing.text.decoding import decode
from monjyu_assets.parsing.text.front_lines import take_front_line, take_place
from monjyu_assets.parsing.text.front_text import settle_front
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_assets.parsing.text.text_marks import unmarked
from monjyu_core.errors import MalformedDocument
from monjyu_core.paper import Equation, Figure, ParsedPaper, Section, Table
from monjyu_core.settings.papers_settings import ParseSettings

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

_FENCED_DIV = re.compile(r"^:{3,}.*$", re.MULTILINE)
_HEADING_ATTRIBUTES = re.compile(r"\s*\{[#.\-][^{}]*\}\s*$")
_ENTRY_LABEL = re.compile(r"\[(\w{1,12})\]\s+(?=\S)")
_TABLE_CAPTION = re.compile(r"(?:Table\s*\d*\s*)?[:.]\s+(?=\S)|(?=Table\s+\d+[.:])|(?=表\s*\d)")
_RUN_IN_ABSTRACT = re.compile(r"(abstract|要旨|概要)\s*[.:：—–-]\s*(?=\S)", re.IGNORECASE)


FRONT_PARAGRAPHS, LONGEST_FRONT = 6, 300
"""Paragraphs below a title that may say who wrote it and where it appeared; characters of one."""


def parse_markdown(
    data: bytes, settings: ParseSettings, bibliographies: Sequence[tuple[str, bytes]] = ()
) -> ParsedPaper:
    """Parse a Markdown file; its sections hold plain text, their levels start at 1.

    The title is the front matter's, else the first level-1 heading's. Works of the bibliographies (name and content,
    BibTeX or CSL JSON) that the text cites become its references. Raises EmptyDocument, MalformedDocument or
    DocumentTooLarge.
    """
    from markdown_it.tree import SyntaxTreeNode

    text, warnings = decode(data, settings)
    fields, body, more = split_front_matter(text)
    body = unmarked(body)
    markdown = _markdown()
    citer = citer_for(bibliographies, f"{fields.get('abstract', '')}\n{body}", settings)
    reader = _Reader(citer)
    try:
        reader.read(SyntaxTreeNode(markdown.parse(_FENCED_DIV.sub("", body))))
    except RecursionError:
        raise MalformedDocument("The Markdown is nested too deeply.") from None
    paper = ParsedPaper(document_type="md", processor="markdown-it", warnings=warnings + more)
    paper.title = _plain(markdown, text_of(fields.get("title"))) or reader.take_title()
    paper.authors = authors_of(fields)
    paper.keywords = keywords_of(fields)
    for name, value in metadata_of(fields).items():
        setattr(paper, name, value)
    if paper.title and not fields:
        reader.take_front(paper)
    paper.sections = reader.finish()
    paper.tables, paper.figures, paper.equations = reader.tables, reader.figures, reader.equations
    _add_abstract(paper, _plain(markdown, text_of(fields.get("abstract")), citer))
    if paper.authors and not fields:
        settle_front(paper)
    language = re.match(r"[a-z]{2}(?=[-_]|$)", text_of(fields.get("lang") or fields.get("language")).lower())
    cited = settle(paper, citer, text_of(fields.get("nocite"))) if citer else None
    complete(paper, [] if cited else reader.entries, language.group() if language else None)
    return attach(paper, [work.reference() for work in cited.works], cited.places) if cited else paper


def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.amsmath import amsmath_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    markdown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    markdown.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    return markdown.use(amsmath_plugin).use(footnote_plugin)


def _plain(markdown: MarkdownIt, source: str, citer: Citer | None = None) -> str:
    """Front matter's Markdown as plain paragraphs."""
    from markdown_it.tree import SyntaxTreeNode

    reader = _Reader(citer)
    reader.read(SyntaxTreeNode(markdown.parse(source)))
    return "\n\n".join(section.text for section in reader.finish() if section.text)


def _add_abstract(paper: ParsedPaper, abstract: str) -> None:
    """The front matter's abstract becomes a section, so that it can be found and quoted; a run-in one gets its own."""
    if any(section.section_type == "abstract" for section in paper.sections):
        return
    first = paper.sections[0] if paper.sections else None
    if not abstract and first and not first.heading and (match := _RUN_IN_ABSTRACT.match(first.text)):
        abstract, _, first.text = first.text[match.end() :].partition("\n\n")
    if abstract:
        paper.abstract = abstract
        paper.sections.insert(0, Section(heading="Abstract", section_type="abstract", text=abstract))


class _Reader:
    """Walks the blocks of a document and gathers sections, reference entries, tables, figures and equations."""

    def __init__(self, citer: Citer | None = None) -> None:
        self.sections = [Section(heading="")]
        self.entries: list[Entry] = []
        self.tables: list[Table] = []
        self.figures: list[Figure] = []
        self.equations: list[Equation] = []
        self._paragraphs: list[list[str]] = [[]]
        self._lines: dict[str, list[str]] = {}
        self._inline = InlineReader(self.figures, self.equations, citer)

    def read(self, root: SyntaxTreeNode) -> None:
        footnotes = next((node for node in root.children if node.type == "footnote_block"), None)
        for note in footnotes.children if footnotes else []:
            self._inline.footnotes[note.meta.get("id", -1)] = " ".join(self._texts(note))
        above = ""
        for node in root.children:
            if not (above == "table" and node.type == "paragraph" and self._take_caption(node)):
                self._block(node)
            above = node.type

    def take_title(self) -> str:
        """The text of the first level-1 heading, taken out of the sections, unless it names an ordinary section."""
        for index, section in enumerate(self.sections):
            if section.level == 1 and section.heading:
                if section.section_type not in ("other", "methods"):
                    return ""
                title, section.heading = section.heading, ""
                if index == 1 and not self._paragraphs[0]:
                    del self.sections[0], self._paragraphs[0]
                return title
        return ""

    def take_front(self, paper: ParsedPaper) -> None:
        """Authors, venue and date from the paragraphs right below the title; only lines that are understood."""
        paragraphs = self._paragraphs[0] if not self.sections[0].heading else []
        rest: list[str] = []
        for place, text in enumerate(paragraphs[:FRONT_PARAGRAPHS]):
            lines = self._lines.get(text) or [text]
            if len(text) > LONGEST_FRONT or _RUN_IN_ABSTRACT.match(text) or "[@" in "".join(lines):
                rest += paragraphs[place:FRONT_PARAGRAPHS]
                break
            below = paragraphs[place + 1] if place + 1 < len(paragraphs) else ""
            names_fit = not rest and ("," in lines[0] or " and " in lines[0] or len(below) < LONGEST_FRONT)
            left = [
                line
                for line in lines
                if not (take_front_line(paper, line, names_fit) or (not rest and take_place(paper, line)))
            ]
            rest += [text if len(left) == len(lines) else " ".join(left)] if left else []
        paragraphs[:FRONT_PARAGRAPHS] = rest

    def finish(self) -> list[Section]:
        lowest = min((section.level for section in self.sections if section.heading), default=1)
        for section, paragraphs in zip(self.sections, self._paragraphs, strict=True):
            section.text = "\n\n".join(paragraphs).strip()
            section.level = max(1, section.level - lowest + 1)
        return [section for section in self.sections if section.heading or section.text]

    def _block(self, node: SyntaxTreeNode) -> None:
        if node.type == "heading":
            self._heading(node)
        elif node.type == "table":
            self._table(node)
        elif node.type in ("math_block", "math_block_label", "amsmath"):
            latex = node.content.strip()
            self.equations.append(Equation(text=latex, latex=latex))
            self._paragraphs[-1].append(latex)
        elif self.sections[-1].section_type == "references" and node.type != "footnote_block":
            self._references(node)
        elif node.type == "blockquote":
            for child in node.children:
                self._block(child)
        elif node.type != "footnote_block":
            texts = self._texts(node)
            if node.type == "paragraph" and len(self._paragraphs[-1]) < FRONT_PARAGRAPHS and texts:
                self._lines[texts[0]] = plain_lines(node.children[0].content)
            self._paragraphs[-1].extend(texts)

    def _heading(self, node: SyntaxTreeNode) -> None:
        text = _HEADING_ATTRIBUTES.sub("", self._inline.read(node.children[0]) if node.children else "").strip()
        if text:
            kind = section_type(text)
            self.sections.append(Section(heading=text, level=int(node.tag[1:]), section_type=kind))
            self._paragraphs.append([])

    def _references(self, node: SyntaxTreeNode) -> None:
        """Items of a list, or paragraphs, each one entry."""
        if node.type in ("ordered_list", "bullet_list"):
            start = int(str(node.attrs.get("start", 1)))
            for number, item in enumerate(node.children, start):
                label = str(number) if node.type == "ordered_list" else None
                self._entry(label, " ".join(self._texts(item)))
        else:
            for text in self._texts(node):
                self._entry(None, text)

    def _entry(self, label: str | None, text: str) -> None:
        if match := _ENTRY_LABEL.match(text):
            label = match[1]
        if text:
            self.entries.append(Entry(label, text))
            self._paragraphs[-1].append(text)

    def _table(self, node: SyntaxTreeNode) -> None:
        rows = [
            [self._inline.read(cell.children[0]) if cell.children else "" for cell in row.children]
            for part in node.children
            for row in part.children
        ]
        caption = None
        paragraphs = self._paragraphs[-1]
        if paragraphs and re.match(r"(?:Table|表)\s*\d*\s*[.:]", paragraphs[-1]) and len(paragraphs[-1]) < 500:
            caption = _TABLE_CAPTION.sub("", paragraphs.pop(), count=1)
        self.tables.append(Table(caption=caption, headers=rows[0] if rows else [], rows=rows[1:]))

    def _take_caption(self, node: SyntaxTreeNode) -> bool:
        """A paragraph `Table: …` or `: …` right below a table (pandoc)."""
        source = node.children[0].content if node.children else ""
        if self.tables[-1].caption is not None or not _TABLE_CAPTION.match(source):
            return False
        self.tables[-1].caption = _TABLE_CAPTION.sub("", self._inline.read(node.children[0]), count=1)
        return True

    def _texts(self, node: SyntaxTreeNode) -> list[str]:
        """Plain paragraphs of a block and the blocks inside it; an item of a list is a paragraph."""
        if node.type == "inline":
            text = self._inline.read(node)
            return [part for part in [text, *self._inline.take_notes()] if part]
        if node.type in ("fence", "code_block"):
            return [node.content.rstrip("\n")] if node.content.strip() else []
        if node.type == "html_block":
            return [text] if (text := html_text(node.content, self.figures)) else []
        if node.type == "table":
            self._table(node)
            return []
        if node.type in ("math_block", "math_block_label", "amsmath"):
            self.equations.append(Equation(text=node.content.strip(), latex=node.content.strip()))
            return [node.content.strip()]
        return [text for child in node.children for text in self._texts(child)]
