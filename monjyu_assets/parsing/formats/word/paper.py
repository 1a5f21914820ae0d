"""Parses Word documents, repaired with lxml and split by unstructured, into sections."""

import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from lxml import etree

from monjyu_assets.parsing.formats.word.front import CHARACTERS, Paragraph, take_front
from monjyu_assets.parsing.formats.word.styles import Look, Styles, W, new_style, number, value
from monjyu_assets.parsing.formats.word.tree import clean_tree, new_run
from monjyu_assets.parsing.office.packages import (
    Element,
    NewPart,
    Package,
    core_properties,
    open_package,
    write_package,
)
from monjyu_assets.parsing.office.partition import Piece, partition, table_rows
from monjyu_assets.parsing.office.sections import SectionBuilder
from monjyu_assets.parsing.text.author_block import ABSTRACT
from monjyu_assets.parsing.text.author_block import CAPTION as FLOAT_LABEL
from monjyu_assets.parsing.text.heading_types import section_type, strip_numbering
from monjyu_assets.parsing.text.marks import CAPTION, take_marks
from monjyu_core.errors import DocumentTooLarge, MalformedDocument
from monjyu_core.language.packs import also
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.papers import ParseSettings

# Headings of Word documents that were written without heading styles: bold or large lines in their own paragraph.
_LONGEST, _SHORT = 120, 60
_SEVERAL_SENTENCES = re.compile(r"[.!?]\s+\S.{9,}[.!?]$", re.S)
_SENTENCE_END = re.compile(r"[.!?。！？;,、…][\"'”’)\]]*$")


def find_headings(paragraphs: Sequence[Paragraph], styles: Styles) -> None:
    """Set a level for paragraphs that look like headings; if two or more are headings by style, only for those that
    belong to them."""
    if sum(paragraph.level is not None for paragraph in paragraphs) >= 2:
        _find_unstyled(paragraphs, styles)
        return
    looks = [Look(paragraph.element, styles) for paragraph in paragraphs]
    body = _body_size(paragraphs, looks)
    found = [i for i, p in enumerate(paragraphs) if p.level is None and _is_heading(p, looks[i], body)]
    sure = [i for i in found if _is_sure(paragraphs[i].text)]
    begins = min(sure, default=0)
    found = [i for i in found if i >= begins and _has_text_below(i, set(found), paragraphs, i in sure)]
    numbers = {i: number for i in found if (number := strip_numbering(paragraphs[i].text)[0])}
    sizes = sorted({looks[i].size for i in found}, reverse=True)
    first = {looks[i].size for i, number in numbers.items() if "." not in number}
    for i in found:
        plain = styles.depth(paragraphs[i].element) or (1 if looks[i].size in first else 1 + sizes.index(looks[i].size))
        paragraphs[i].level = min(1 + numbers[i].count(".") if i in numbers else plain, 6)


def _find_unstyled(paragraphs: Sequence[Paragraph], styles: Styles) -> None:
    """Beside headings by style, set a level for the names of sections, for lines that look as these do, and for lines
    that continue the printed numbers of the headings."""
    top = min(paragraph.level for paragraph in paragraphs if paragraph.level is not None)
    looks = [Look(paragraph.element, styles) for paragraph in paragraphs]
    body = _body_size(paragraphs, looks)
    headings = {i for i, paragraph in enumerate(paragraphs) if paragraph.level is not None}
    short = [
        i
        for i, p in enumerate(paragraphs)
        if i not in headings and not p.role and len(p.text) <= _LONGEST and not _SENTENCE_END.search(p.text.strip())
    ]
    named = [
        i for i in short
        if section_type(strip_numbering(paragraphs[i].text.strip())[1]) != "other"
        and _is_heading(paragraphs[i], looks[i], body)
        and _has_text_below(i, headings, paragraphs, sure=True)
    ]  # fmt: skip
    alike = {(looks[i].size, looks[i].bold, looks[i].centred) for i in named if looks[i].bold or looks[i].size > body}
    first = min([*headings, *named])
    for i in short:
        if i in named or (
            i > first
            and (looks[i].size, looks[i].bold, looks[i].centred) in alike
            and _is_heading(paragraphs[i], looks[i], body)
            and _has_text_below(i, headings, paragraphs, sure=False)
        ):
            paragraphs[i].level = top
    _continue_numbers(paragraphs, set(short), top)


def _continue_numbers(paragraphs: Sequence[Paragraph], short: set[int], top: int) -> None:
    """Set a level for short lines whose printed number follows that of the heading before; a list of numbered lines is
    none."""
    last: list[int] = []
    for i, paragraph in enumerate(paragraphs):
        number = strip_numbering(paragraph.text.strip())[0] or ""
        numbers = (
            [int(part) for part in number.split(".")] if re.fullmatch(r"\d{1,2}(?:\.\d{1,2}){0,3}", number) else []
        )
        if paragraph.level is None and i in short and numbers and last:
            depth = len(numbers)
            following = numbers == [*last, 1] or numbers == [
                *last[: depth - 1],
                (last[depth - 1 : depth] or [-1])[0] + 1,
            ]
            above = strip_numbering(paragraphs[i - 1].text.strip())[0]
            listed = paragraphs[i - 1].level is None and above is not None
            if following and not listed and _has_text_below(i, set(), paragraphs, sure=True):
                paragraph.level = min(top + depth - 1, 9)
        if paragraph.level is not None and numbers:
            last = numbers


def _is_sure(text: str) -> bool:
    """Whether the text is a known section name, or is numbered."""
    return section_type(text) != "other" or strip_numbering(text)[0] is not None


def _body_size(paragraphs: Sequence[Paragraph], looks: Sequence[Look]) -> float:
    """The font size of most letters."""
    letters: dict[float, int] = {}
    for paragraph, look in zip(paragraphs, looks, strict=True):
        letters[look.size] = letters.get(look.size, 0) + len(paragraph.text)
    return max(letters, key=lambda size: letters[size], default=0.0)


_CAPTION = re.compile(rf"(?:fig(?:ure|\.)|table{also('captions.figure')})\s*\d", re.IGNORECASE)


def _is_heading(paragraph: Paragraph, look: Look, body: float) -> bool:
    text = paragraph.text.strip()
    if paragraph.role or len(text) > _LONGEST or "\n" in text or not re.search(r"[^\W\d_]{2}", text):
        return False
    if _SENTENCE_END.search(text) or _CAPTION.match(text):
        return False
    known = section_type(text) != "other" and not text[:1].islower()
    return known or look.bold or look.underlined or look.size > body + 0.9 or _capitals(text)


def _capitals(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    return (
        len(letters) >= 4 and len(text) <= _SHORT and all(map(str.isupper, letters)) and not re.search(r"\d{3}", text)
    )


def _has_text_below(index: int, headings: set[int], paragraphs: Sequence[Paragraph], sure: bool) -> bool:
    """Whether text follows, or one more heading and then text: a row of bold lines is a list or a table. After a known
    name any sentence suffices."""
    below = range(index + 1, min(index + 3, len(paragraphs)))
    texts = [paragraphs[i].text.strip() for i in below if i not in headings]
    return any(len(text) > 40 or (sure and _SENTENCE_END.search(text)) for text in texts)


_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_BODY, _HEADINGS = "Body", [f"H{level}" for level in range(1, 10)]
_LONGEST_HEADING = 300
_LONGEST_CAPTION = 2000


def parse_docx(path: Path, settings: ParseSettings) -> ParsedPaper:
    """Parse a Word document. Levels come from heading styles or outline levels, otherwise from the look of the lines.

    Raises EmptyDocument, EncryptedDocument, MalformedDocument or DocumentTooLarge.
    """
    package = open_package(path, settings, "docx")
    styles = Styles(*(package.optional(package.related(package.main, name)) for name in ("styles", "numbering")))
    root = package.root(package.main)
    paper = ParsedPaper(document_type="docx", processor="unstructured")
    paper.equations = clean_tree(root, package, styles)
    body = root.find(f"{W}body")
    if body is None:
        raise MalformedDocument("The document has no body.", "Open and save it again in Word.")
    if sum(map(len, body.itertext())) > settings.max_characters:
        raise DocumentTooLarge(
            f"More than {settings.max_characters} characters.", "Raise parse.max_characters to read it."
        )
    _open_layout_tables(body)
    paragraphs = _paragraphs(body, styles)
    find_headings(paragraphs, styles)
    for paragraph in take_front(paper, paragraphs, styles, core_properties(package)):
        body.remove(paragraph.element)
        paragraphs.remove(paragraph)
    _name_roles(paragraphs, body, styles)
    return _build(paper, partition(_repacked(root, package), "docx"))


def _open_layout_tables(body: Element) -> None:
    """Replace tables of one row or one column, or with an abstract, by their contents: they only arrange text side by
    side or in a frame."""
    for table in list(body.iterchildren(f"{W}tbl")):
        cells = [row.findall(f"{W}tc") for row in table.findall(f"{W}tr")]
        order = [cell for row in cells for cell in row]
        if len(cells) > 1 and any(len(row) > 1 for row in cells):
            if not any(_is_abstract_label(cell) for cell in order):
                continue
            if len(cells[0]) > 1 and _is_abstract_label(cells[0][-1]):  # a row of labels above the row of their texts
                order = [row[column] for column in range(len(cells[0])) for row in cells if column < len(row)]
        for child in reversed([paragraph for cell in order for paragraph in cell.iter(f"{W}p")]):
            table.addnext(child)
        body.remove(table)


def _is_abstract_label(cell: Element) -> bool:
    """Whether the first words of a cell are the label of an abstract."""
    first = next((text for paragraph in cell.iter(f"{W}p") if (text := text_of(paragraph).strip())), "")
    label = ABSTRACT.match(first)
    return label is not None and (label.end() == len(first) or bool(label["mark"].strip()))


def _paragraphs(body: Element, styles: Styles) -> list[Paragraph]:
    """The paragraphs with text outside tables."""
    found: list[Paragraph] = []
    for element in body.iterchildren(f"{W}p"):
        text = text_of(element)
        if not text.strip():
            continue
        style = styles.id_of(element)
        outline = number(value(element, "pPr/outlineLvl"))
        level = styles.level(style) if outline is None else outline + 1 if outline < 9 else None
        if outline is not None and _SEVERAL_SENTENCES.search(strip_numbering(text.strip())[1]):
            level = None
        role = styles.role(style)
        found.append(
            Paragraph(element, text, role, level if len(text) <= _LONGEST_HEADING and role != "title" else None)
        )
    return found


def text_of(paragraph: Element) -> str:
    """The text of a paragraph as python-docx returns it."""
    return "".join(
        piece.text or "" if piece.tag == f"{W}t" else CHARACTERS.get(piece.tag, "")
        for run in paragraph.iterchildren(f"{W}r")
        for piece in run
    )


def _name_roles(paragraphs: list[Paragraph], body: Element, styles: Styles) -> None:
    """Mark every paragraph explicitly with its role, so that unstructured has nothing to guess."""
    headed = False
    for paragraph in paragraphs:
        element = paragraph.element
        if paragraph.role == "abstract" and paragraph.level is None and not headed:
            before = etree.Element(f"{W}p")
            before.append(new_run("Abstract"))
            element.addprevious(before)
            _set_style(before, _HEADINGS[0], None)
            headed = True
        headed |= paragraph.level is not None and "abstract" in (paragraph.role, section_type(paragraph.text))
        level = 1 if paragraph.role == "title" else paragraph.level
        if paragraph.role == "caption" and level is None:
            element.insert(1 if element.find(f"{W}pPr") is not None else 0, new_run(CAPTION))
        _set_style(element, _BODY if level is None else _HEADINGS[level - 1], _numbering(element, styles))
    known = {id(paragraph.element) for paragraph in paragraphs}
    for element in body.iter(f"{W}p"):
        if id(element) not in known and value(element, "pPr/pStyle") not in _HEADINGS:
            _set_style(element, _BODY, None)


def _numbering(element: Element, styles: Styles) -> tuple[str, str | None] | None:
    """The (numId, ilvl) in effect: the paragraph's own, otherwise those of its style."""
    style_num, style_level, source = styles.numbering(styles.id_of(element))
    num = value(element, "pPr/numPr/numId") or style_num
    level = value(element, "pPr/numPr/ilvl") or style_level
    if num in (None, "0"):
        return None
    return str(num), level if level is not None else source or None


def _set_style(element: Element, style: str, numbering: tuple[str, str | None] | None) -> None:
    """Give the paragraph one of Monjyu's styles and its number, and nothing else."""
    old = element.find(f"{W}pPr")
    if old is not None:
        element.remove(old)
    properties = etree.Element(f"{W}pPr")
    element.insert(0, properties)
    if numbering is None or style != _BODY:
        etree.SubElement(properties, f"{W}pStyle", {f"{W}val": style})
    if numbering is not None:
        item = etree.SubElement(properties, f"{W}numPr")
        if numbering[1] is not None:
            etree.SubElement(item, f"{W}ilvl", {f"{W}val": numbering[1]})
        etree.SubElement(item, f"{W}numId", {f"{W}val": numbering[0]})


def _repacked(root: Element, package: Package) -> BytesIO:
    """The repaired document as a package with Monjyu's styles and the document's numbering."""
    styles = etree.Element(f"{W}styles")
    styles.append(new_style(_BODY, "No Spacing"))  # one of the names that unstructured reads as plain text
    styles.extend(new_style(name, f"Heading {level}") for level, name in enumerate(_HEADINGS, 1))
    parts = {"word/styles.xml": NewPart(styles, f"{_TYPE}.styles+xml")}
    relations = [("rId1", "styles", "word/styles.xml")]
    numbering = package.optional(package.related(package.main, "numbering"))
    _link_levels(root, numbering)
    if numbering is not None:
        parts["word/numbering.xml"] = NewPart(numbering, f"{_TYPE}.numbering+xml")
        relations.append(("rId2", "numbering", "word/numbering.xml"))
    parts["word/document.xml"] = NewPart(root, f"{_TYPE}.document.main+xml", relations)
    return write_package("word/document.xml", parts)


def _link_levels(root: Element, numbering: Element | None) -> None:
    """If a level is the name of a style, replace it by the level of the list that names the style."""
    lists = numbering.iter(f"{W}lvl") if numbering is not None else ()
    levels = {value(level, "pStyle"): level.get(f"{W}ilvl") for level in lists}
    for level in root.iter(f"{W}ilvl"):
        named = level.get(f"{W}val", "")
        if not re.fullmatch(r"\d", named):
            level.set(f"{W}val", levels.get(named) or "0")


def _is_caption(text: str) -> bool:
    """Whether a paragraph that has no caption style is a caption, such as "Figure 3. A curve"."""
    label = FLOAT_LABEL.match(text)
    following = text[label.end() :].lstrip() if label and label["mark"] else ""
    return len(text) < _LONGEST_CAPTION and following[:1].isalpha() and not following[0].islower()


def _build(paper: ParsedPaper, pieces: list[Piece]) -> ParsedPaper:
    builder = SectionBuilder()
    for piece in pieces:
        if piece.kind == "table":
            builder.table(table_rows(piece.html) if piece.html else [[piece.text]])
        elif piece.kind == "title":
            builder.heading(piece.text, piece.depth + 1)
        elif piece.text.startswith(CAPTION) or _is_caption(piece.text):
            builder.caption(take_marks(piece.text)[0])
        else:
            builder.paragraph(piece.text)
    return builder.finish(paper)
