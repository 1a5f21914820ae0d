"""A slide's tree with every paragraph marked for what it is: title, heading within the slide, or text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree

from monjyu_assets.parsing.office.office_math import read_formula
from monjyu_assets.parsing.office.packages import MATH, RELATION, Element, Package, choose_alternatives
from monjyu_assets.parsing.text.text_marks import mark, unmarked
from monjyu_core.paper import Equation

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
HEADING_LEVEL = 8
"""The depth given to a heading within a slide, deeper than any list."""

_FURNITURE = {"dt", "ftr", "hdr", "sldNum"}
_LONGEST_HEADING = 100
_NUMBERS = re.compile(r"\s*\d{1,3}(?:\s*[,;\u2013-]\s*\d{1,3})*\s*")


@dataclass
class Slide:
    """A mended slide and what was taken out of it."""

    number: int
    name: str
    root: Element
    is_title: bool = False
    dates: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)


def read_slide(package: Package, name: str, number: int) -> Slide:
    """Mend a slide in place. Raises MalformedDocument if it is not XML."""
    slide = Slide(number, name, package.root(name))
    choose_alternatives(slide.root)
    _write_formulas(slide)
    _write_diagrams(package, slide)
    for run in list(slide.root.iter(f"{A}r")):
        _mend_run(run)
    for shape in list(slide.root.iter(f"{P}sp")):
        _mend_shape(slide, shape)
    if not any(_kind(shape) == "title" for shape in slide.root.iter(f"{P}sp")):
        _find_title(slide)
    slide.figures = [
        " ".join(unmarked(item.get("descr")).split())
        for item in slide.root.iterfind(f".//{P}pic/{P}nvPicPr/{P}cNvPr[@descr]")
        if item.get("descr", "").strip()
    ]
    slide.notes = _notes(package, name)
    return slide


def _write_formulas(slide: Slide) -> None:
    """A formula becomes a run; what it hangs in (`a14:m`, `m:oMathPara`) goes."""
    for paragraph in slide.root.iter(f"{A}p"):
        for child in list(paragraph):
            if child.tag != f"{{{MATH}}}oMath" and child.find(f".//{{{MATH}}}oMath") is None:
                continue
            formula = read_formula(child)
            text = unmarked(formula.text)
            slide.equations.append(Equation(page=slide.number, text=text, latex=unmarked(formula.latex) or None))
            run = etree.Element(f"{A}r")
            etree.SubElement(run, f"{A}t").text = text
            paragraph.replace(child, run)


def _write_diagrams(package: Package, slide: Slide) -> None:
    """A diagram's words are in a separate part; they replace the diagram."""
    relations = package.relations(slide.name)
    for item in list(slide.root.iter(f"{{{DIAGRAM}}}relIds")):
        frame = next(item.iterancestors(f"{P}graphicFrame"), None)
        relation = relations.get(item.get(f"{{{RELATION}}}dm", ""))
        data = package.optional(relation.target) if relation else None
        if frame is None or data is None:
            continue
        shape = etree.fromstring(_SHAPE)
        place = frame.find(f"{P}xfrm")
        if place is not None:
            place.tag = f"{A}xfrm"
            shape.find(f"{P}spPr").append(place)
        body = shape.find(f"{P}txBody")
        for text in data.iter(f"{{{DIAGRAM}}}t"):
            body.extend(list(text.iter(f"{A}p")))
        frame.getparent().replace(frame, shape)


_SHAPE = (
    f'<p:sp xmlns:p="{P[1:-1]}" xmlns:a="{A[1:-1]}"><p:nvSpPr><p:cNvPr id="1" name="diagram"/><p:cNvSpPr/><p:nvPr/>'
    "</p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/></p:txBody></p:sp>"
)


def _kind(shape: Element) -> str:
    """title, one of the kinds of furniture, subTitle, body, … or empty for a text box."""
    holder = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
    if holder is None:
        return ""
    kind = holder.get("type", "body")
    return "title" if kind in ("title", "ctrTitle") else kind


def _mend_shape(slide: Slide, shape: Element) -> None:
    kind = _kind(shape)
    paragraphs = list(shape.iterfind(f"{P}txBody/{A}p"))
    if kind in _FURNITURE:
        if kind == "dt":
            slide.dates.append(" ".join(text_of(shape).split()))
        shape.getparent().remove(shape)
        return
    if shape.find(f"{P}spPr") is None:
        shape.insert(1, etree.Element(f"{P}spPr"))
    if kind == "title":
        holder = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        slide.is_title = slide.is_title or holder.get("type") == "ctrTitle"
        holder.attrib.pop("idx", None)  # python-pptx recognises a title by its index
        for paragraph in paragraphs:
            _set_level(paragraph, None)
        return
    for place, paragraph in enumerate(paragraphs):
        level = paragraph.find(f"{A}pPr")
        depth = level.get("lvl", "0") if level is not None else "0"
        heads = _is_heading(paragraph) and any(
            text_of(p).strip() and not _is_heading(p) for p in paragraphs[place + 1 :]
        )
        _set_level(paragraph, HEADING_LEVEL if heads else min(int(depth) if depth.isdigit() else 0, HEADING_LEVEL - 1))


def _mend_run(run: Element) -> None:
    text, properties = run.find(f"{A}t"), run.find(f"{A}rPr")
    if text is None:
        run.getparent().remove(run)
        return
    text.text = unmarked(text.text or "")
    raised = properties is not None and re.fullmatch(r"[1-9]\d*%?", properties.get("baseline", "")) is not None
    if raised and _NUMBERS.fullmatch(text.text):
        text.text = mark(text.text)


def _is_heading(paragraph: Element) -> bool:
    """All in bold, short, no bullet, no sentence."""
    properties = paragraph.find(f"{A}pPr")
    if properties is not None and (
        properties.find(f"{A}buChar") is not None or properties.find(f"{A}buAutoNum") is not None
    ):
        return False
    text = text_of(paragraph).strip()
    if not text or len(text) > _LONGEST_HEADING or re.search(r"[.!?。;,、]$", text) or "\n" in text:
        return False
    runs = [run for run in paragraph.iterfind(f"{A}r") if "".join(run.itertext()).strip()]
    return bool(runs) and all(run.find(f"{A}rPr") is not None and _is_bold(run.find(f"{A}rPr")) for run in runs)


def _is_bold(properties: Element) -> bool:
    return properties.get("b", "0") in ("1", "true", "on")


def _set_level(paragraph: Element, level: int | None) -> None:
    """A bullet makes the paragraph a list item for unstructured, which then has nothing to guess; None for a title."""
    old = paragraph.find(f"{A}pPr")
    if old is not None:
        paragraph.remove(old)
    if level is not None:
        properties = etree.Element(f"{A}pPr", {"lvl": str(level)})
        etree.SubElement(properties, f"{A}buChar", {"char": "•"})
        paragraph.insert(0, properties)


def _find_title(slide: Slide) -> None:
    """If no shape is the title, it is the only line of the first text box, if that is short and others follow."""
    boxes = [shape for shape in slide.root.iter(f"{P}sp") if text_of(shape).strip()]
    lines = [line for line in text_of(boxes[0]).split("\n") if line.strip()] if len(boxes) > 1 else []
    if len(lines) != 1 or len(lines[0]) > _LONGEST_HEADING or re.search(r"[.!?。;,、]$", lines[0].strip()):
        return
    if _size(boxes[0]) <= max(map(_size, boxes[1:])):
        return
    holder = boxes[0].find(f"{P}nvSpPr/{P}nvPr")
    if holder is not None:
        for child in list(holder):
            holder.remove(child)
        etree.SubElement(holder, f"{P}ph", {"type": "title"})
        for paragraph in boxes[0].iterfind(f"{P}txBody/{A}p"):
            _set_level(paragraph, None)


def _size(shape: Element) -> int:
    """The largest size of letters that the shape's runs name, in hundredths of a point."""
    sizes = [item.get("sz", "0") for item in shape.iter(f"{A}rPr")]
    return max((int(size) for size in sizes if size.isdigit()), default=0)


def text_of(element: Element) -> str:
    """The words of a shape, a line a paragraph, or of one paragraph."""
    if element.tag != f"{A}p":
        return "\n".join(text_of(paragraph) for paragraph in element.iter(f"{A}p"))
    pieces = element.iter(f"{A}t", f"{A}br")
    return "".join("\n" if piece.tag == f"{A}br" else piece.text or "" for piece in pieces)


def _notes(package: Package, name: str) -> list[str]:
    root = package.optional(package.related(name, "notesSlide"))
    shapes = root.iter(f"{P}sp") if root is not None else ()
    bodies = [shape for shape in shapes if _kind(shape) == "body"]
    return [line for shape in bodies for line in unmarked(text_of(shape)).split("\n") if line.strip()]
