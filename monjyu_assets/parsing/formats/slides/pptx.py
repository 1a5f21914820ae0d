"""Slides: mended with lxml, split by unstructured; one section a slide, with the speaker's notes at its end."""

from __future__ import annotations

import re
from io import BytesIO
from itertools import groupby
from pathlib import Path

from lxml import etree

from monjyu_assets.parsing.formats.slides.pptx_slides import HEADING_LEVEL, A, P, Slide, read_slide
from monjyu_assets.parsing.office.office_sections import SectionBuilder
from monjyu_assets.parsing.office.packages import (
    RELATION,
    Element,
    NewPart,
    Package,
    core_properties,
    open_package,
    write_package,
)
from monjyu_assets.parsing.office.partition import Piece, partition, table_rows
from monjyu_assets.parsing.text.common import split_keywords
from monjyu_assets.parsing.text.decoding import clean
from monjyu_assets.parsing.text.front_lines import take_field, take_line
from monjyu_assets.parsing.text.heading_types import section_type
from monjyu_assets.parsing.text.text_marks import take_marks
from monjyu_core.errors import DocumentTooLarge, EmptyDocument
from monjyu_core.paper import Figure, ParsedPaper
from monjyu_core.settings.papers_settings import ParseSettings

_TYPE = "application/vnd.openxmlformats-officedocument.presentationml"
_TITLE_SLIDE = 400
"""A first slide with fewer characters below its title is a title slide."""
_NO_TITLE = re.compile(
    r"(?:power ?point|untitled|slide \d|presentation|プレゼンテーション|スライド)[\w\s-]{0,15}$", re.IGNORECASE
)


def parse_pptx(path: Path, settings: ParseSettings) -> ParsedPaper:
    """Parse a presentation; page numbers are those of the slides.

    Raises EmptyDocument, EncryptedDocument, MalformedDocument or DocumentTooLarge.
    """
    package = open_package(path, settings, "pptx")
    names = _slide_names(package)
    if not names:
        raise EmptyDocument("The presentation has no slides.")
    if len(names) > settings.max_pages:
        raise DocumentTooLarge(f"{len(names)} slides; the limit is {settings.max_pages}.", "See parse.max_pages.")
    slides = [read_slide(package, name, number) for number, name in enumerate(names, 1)]
    paper = ParsedPaper(document_type="pptx", processor="unstructured", page_count=len(slides))
    paper.equations = [equation for slide in slides for equation in slide.equations]
    pieces = partition(_repacked(package, slides), "pptx")
    if sum(len(piece.text) for piece in pieces) > settings.max_characters:
        raise DocumentTooLarge(f"More than {settings.max_characters} characters.", "See parse.max_characters.")
    by_page = {page: list(group) for page, group in groupby(pieces, lambda piece: piece.page or 0)}
    properties = core_properties(package)
    builder = SectionBuilder()
    for slide in slides:
        found = by_page.get(slide.number, [])
        if slide.number == 1:
            found = _take_front(paper, slide, found, properties.get("title", ""))
        _add_slide(builder, slide, found)
    paper.keywords = paper.keywords or split_keywords(properties.get("keywords", ""))
    return builder.finish(paper)


def _slide_names(package: Package) -> list[str]:
    """Parts of the slides in order, each once."""
    relations = package.relations(package.main)
    ids = [item.get(f"{{{RELATION}}}id", "") for item in package.root(package.main).iter(f"{P}sldId")]
    names = [relations[name].target for name in ids if name in relations and relations[name].kind == "slide"]
    return list(dict.fromkeys(names))


def _repacked(package: Package, slides: list[Slide]) -> BytesIO:
    """The mended slides with the layouts and masters that say where their shapes lie."""
    parts: dict[str, NewPart] = {}
    for slide in slides:
        layout = package.related(slide.name, "slideLayout")
        layout = layout if _add_layout(package, layout, parts) else None
        if layout is None:
            _place_all(slide.root)
        relations = [("rId1", "slideLayout", layout)] if layout else []
        parts[f"ppt/slides/slide{slide.number}.xml"] = NewPart(slide.root, f"{_TYPE}.slide+xml", relations)
    main = etree.fromstring(f'<p:presentation xmlns:p="{P[1:-1]}" xmlns:r="{RELATION}"><p:sldIdLst/></p:presentation>')
    for slide in slides:
        number = {"id": str(255 + slide.number), f"{{{RELATION}}}id": f"rId{slide.number}"}
        etree.SubElement(main[0], f"{P}sldId", number)
    relations = [(f"rId{slide.number}", "slide", f"ppt/slides/slide{slide.number}.xml") for slide in slides]
    parts["ppt/presentation.xml"] = NewPart(main, f"{_TYPE}.presentation.main+xml", relations)
    return write_package("ppt/presentation.xml", parts)


def _add_layout(package: Package, layout: str | None, parts: dict[str, NewPart]) -> bool:
    """Add a layout and its master; False where one of them is missing or damaged."""
    master = package.related(layout, "slideMaster") if layout else None
    if layout is None or master is None:
        return False
    for name, kind, relations in (
        (master, "slideMaster", []),
        (layout, "slideLayout", [("rId1", "slideMaster", master)]),
    ):
        if name not in parts:
            root = package.optional(name)
            if root is None:
                return False
            parts[name] = NewPart(root, f"{_TYPE}.{kind}+xml", relations)
    return True


def _place_all(root: Element) -> None:
    """Shapes without a place, neither their own nor from a layout, are shown where they stand."""
    place = f'<a:xfrm xmlns:a="{A[1:-1]}"><a:off x="0" y="0"/><a:ext cx="0" cy="0"/></a:xfrm>'
    for properties in root.iter(f"{P}spPr"):
        if not any(isinstance(child.tag, str) and child.tag.endswith("}xfrm") for child in properties):
            properties.insert(0, etree.fromstring(place))


def _take_front(paper: ParsedPaper, slide: Slide, pieces: list[Piece], named: str) -> list[Piece]:
    """Title, authors and date from the first slide; returns the rest."""
    heading = " ".join(_words(piece.text) for piece in pieces if piece.kind == "title")
    rest = [piece for piece in pieces if piece.kind != "title"]
    is_front = slide.is_title or sum(len(piece.text) for piece in rest) < _TITLE_SLIDE
    if not heading or not is_front or section_type(heading) != "other":
        paper.title = "" if _NO_TITLE.match(named) else named or heading
        return pieces
    paper.title = heading
    for line in slide.dates:
        take_line(paper, line, names_fit=False)
    left: list[Piece] = []
    for piece in rest:
        lines = [_words(line) for line in piece.text.replace("\v", "\n").split("\n") if line.strip()]
        if piece.kind == "table" or not all(
            take_field(paper, line) or take_line(paper, line, names_fit=True) for line in lines
        ):
            left.append(piece)
    return left


def _words(text: str) -> str:
    return " ".join(clean(take_marks(text)[0]).split())


def _add_slide(builder: SectionBuilder, slide: Slide, pieces: list[Piece]) -> None:
    page = slide.number
    titles = [_words(piece.text) for piece in pieces if piece.kind == "title"]
    if titles:
        builder.heading(" ".join(titles), 1, page)
    for piece in pieces:
        if piece.kind == "table":
            builder.table(table_rows(piece.html) if piece.html else [[piece.text]], page)
        elif piece.kind == "list" and piece.depth == HEADING_LEVEL:
            builder.heading(piece.text, 2, page)
        elif piece.kind != "title":
            builder.paragraph(piece.text.replace("\v", "\n"), page)
    for line in slide.notes:
        builder.paragraph(line, page)
    builder.figures += [Figure(page=page, caption=caption) for caption in slide.figures]
