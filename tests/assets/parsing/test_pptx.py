"""Presentations: slides as sections with their numbers, headings within slides, notes, tables, diagrams."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.util import Inches, Pt

from monjyu_assets.parsing.formats.slides import parse_pptx
from monjyu_core.errors import DocumentTooLarge, EmptyDocument
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings
from tests.assets.parsing.office_files import R, content_types, relationships, write_zip

SENTENCE = "This sentence is here so that the paragraph is long enough to be one of a text."
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
D = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def saved(deck: Any, path: Path) -> ParsedPaper:
    deck.save(str(path))
    return parse_pptx(path, ParseSettings())


def add_slide(deck: Any, title: str, *lines: str, layout: int = 1) -> Any:
    slide = deck.slides.add_slide(deck.slide_layouts[layout])
    slide.shapes.title.text = title
    if lines:
        slide.placeholders[1].text = "\n".join(lines)
    return slide


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> ParsedPaper:
    deck = pptx.Presentation()
    front = add_slide(deck, "Passages of Graphs", "Ada Ames and Bo Birk", "2024-03-12", layout=0)
    front.notes_slide.notes_text_frame.text = "Welcome everybody."
    slide = add_slide(deck, "Introduction", SENTENCE, "Earlier words [1].")
    slide.notes_slide.notes_text_frame.text = "Say this slowly.\nAnd this."
    slide.placeholders[1].text_frame.paragraphs[1].level = 1
    slide = add_slide(deck, "Methods")
    frame = slide.placeholders[1].text_frame
    for text, bold in (("Data", True), (SENTENCE, False), ("Model", True), (SENTENCE, False), ("A closing word", True)):
        line = frame.paragraphs[0] if not frame.text else frame.add_paragraph()
        line.add_run().text = text
        line.runs[0].font.bold = bold
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(6), Inches(4), Inches(1)).table
    for cell, text in zip(table.iter_cells(), ("a", "b", "1", "2"), strict=True):
        cell.text = text
    add_slide(deck, "Results", SENTENCE)
    add_slide(deck, "Results", "It goes on.")
    add_slide(deck, "References", "[1] Smith, J. (2019). A title of a paper. Journal of Things 3, 1-9.")
    return saved(deck, tmp_path_factory.mktemp("pptx") / "deck.pptx")


def test_the_title_slide_is_the_front(paper: ParsedPaper) -> None:
    assert (paper.title, paper.publication_date, paper.page_count) == ("Passages of Graphs", "2024-03-12", 6)
    assert [author.name for author in paper.authors] == ["Ada Ames", "Bo Birk"]


def test_slides_are_sections_with_their_numbers(paper: ParsedPaper) -> None:
    assert [(s.level, s.heading, s.page_start, s.page_end) for s in paper.sections] == [
        (1, "", 1, 1),
        (1, "Introduction", 2, 2),
        (1, "Methods", 3, 3),
        (2, "Data", 3, 3),
        (2, "Model", 3, 3),
        (1, "Results", 4, 5),
        (1, "References", 6, 6),
    ]


def test_notes_stand_at_the_end_of_their_slide(paper: ParsedPaper) -> None:
    assert paper.sections[0].text == "Welcome everybody."
    assert paper.sections[1].text.split("\n\n") == [SENTENCE, "Earlier words [1].", "Say this slowly.", "And this."]
    assert paper.sections[4].text.endswith("A closing word")


def test_tables_references_citations(paper: ParsedPaper) -> None:
    assert [(t.page, t.headers, t.rows) for t in paper.tables] == [(3, ["a", "b"], [["1", "2"]])]
    assert [(r.ref_id, r.title, r.year) for r in paper.references] == [("1", "A title of a paper", 2019)]
    assert [(c.ref_id, c.section) for c in paper.inline_citations] == [("1", "Introduction")]


def test_furniture_goes_and_pictures_are_figures(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    slide = add_slide(deck, "Methods", SENTENCE)
    for kind, text in (("ftr", "Conference 2024"), ("sldNum", "7"), ("dt", "12 May 2024")):
        box = slide.shapes.add_textbox(Inches(1), Inches(7), Inches(1), Inches(1))
        box.text_frame.text = text
        properties = box._element.find(f"{{{P}}}nvSpPr/{{{P}}}nvPr")
        properties.append(pptx.oxml.parse_xml(f'<p:ph xmlns:p="{P}" type="{kind}" idx="1{len(text)}"/>'))
    picture = tmp_path / "p.png"
    picture.write_bytes(bytes.fromhex(PIXEL))
    slide.shapes.add_picture(str(picture), 0, 0)._element.nvPicPr.cNvPr.set("descr", "A falling curve")
    found = saved(deck, tmp_path / "a.pptx")
    assert [section.text for section in found.sections] == [SENTENCE]
    assert [(figure.page, figure.caption) for figure in found.figures] == [(1, "A falling curve")]


PIXEL = (
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d4944415478da63fcffff3f030005fe02fea72d4f4b0000000049454e44ae426082"
)


def test_a_title_without_its_placeholder(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    add_slide(deck, "A Talk", layout=0)
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    for top, size, text in ((1, 32, "What we did"), (3, 14, SENTENCE)):
        box = slide.shapes.add_textbox(Inches(1), Inches(top), Inches(5), Inches(1))
        box.text_frame.text = text
        box.text_frame.paragraphs[0].runs[0].font.size = Pt(size)
    found = saved(deck, tmp_path / "a.pptx")
    assert [(s.heading, s.text) for s in found.sections] == [("What we did", SENTENCE)]


def deck_of(path: Path, slide: str, *relations: tuple[str, str, str], **parts: str) -> Path:
    """A presentation of one slide without any layout."""
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": content_types(
            "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
            "/ppt/presentation.xml",
        ),
        "_rels/.rels": relationships(("rId1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{P}" xmlns:r="{R}"><p:sldIdLst><p:sldId id="256" '
        'r:id="rId1"/><p:sldId id="257" r:id="rId9"/></p:sldIdLst></p:presentation>',
        "ppt/_rels/presentation.xml.rels": relationships(("rId1", "slide", "s.xml"), ("rId9", "slide", "gone.xml")),
        "ppt/s.xml": f'<p:sld xmlns:p="{P}" xmlns:a="{A}" xmlns:r="{R}" xmlns:mc="{MC}" xmlns:dgm="{D}"><p:cSld>'
        f"<p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{slide}</p:spTree></p:cSld></p:sld>",
        "ppt/_rels/s.xml.rels": relationships(*relations),
    }
    return write_zip(path, files | {f"ppt/{name}.xml": text for name, text in parts.items()})


def shape(text: str, holder: str = "") -> str:
    return (
        f"<p:sp><p:nvSpPr><p:cNvPr id='2' name='x'/><p:cNvSpPr/><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:spPr/><p:txBody>"
        f"<a:bodyPr/><a:p>{text}</a:p></p:txBody></p:sp>"
    )


def test_slides_without_layouts_and_slides_that_are_gone(tmp_path: Path) -> None:
    title = shape("<a:r><a:t>Methods</a:t></a:r>", "<p:ph type='title'/>")
    found = parse_pptx(
        deck_of(tmp_path / "a.pptx", title + shape(f"<a:r><a:t>{SENTENCE}</a:t></a:r>")), ParseSettings()
    )
    assert found.page_count == 1
    assert [(s.heading, s.text) for s in found.sections] == [("Methods", SENTENCE)]


def test_formulas_and_diagrams(tmp_path: Path) -> None:
    math = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    formula = (
        "<mc:AlternateContent><mc:Choice Requires='a14'>"
        + shape(
            "<a:r><a:t>Energy </a:t></a:r><a14:m xmlns:a14='urn:x'>"
            f"<m:oMathPara xmlns:m='{math}'><m:oMath><m:r><m:t>E=mc</m:t></m:r></m:oMath></m:oMathPara></a14:m>"
        )
        + "</mc:Choice><mc:Fallback>"
        + shape("<a:r><a:t> </a:t></a:r>")
        + "</mc:Fallback></mc:AlternateContent>"
    )
    diagram = (
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id='5' name='d'/></p:nvGraphicFramePr>"
        "<p:xfrm><a:off x='9' y='9000'/><a:ext cx='1' cy='1'/></p:xfrm>"
        "<a:graphic><a:graphicData uri='x'><dgm:relIds r:dm='rId2'/></a:graphicData></a:graphic></p:graphicFrame>"
    )
    points = "".join(
        f"<dgm:pt><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>" for text in ("plan", "do")
    )
    data = f"<dgm:dataModel xmlns:dgm='{D}' xmlns:a='{A}'>{points}</dgm:dataModel>"
    path = deck_of(tmp_path / "a.pptx", formula + diagram, ("rId2", "diagramData", "data.xml"), data=data)
    found = parse_pptx(path, ParseSettings())
    assert found.sections[0].text.split("\n\n") == ["Energy E=mc", "plan", "do"]
    assert [(e.page, e.text) for e in found.equations] == [(1, "E=mc")]


def test_no_slides_and_too_many(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    deck.save(str(tmp_path / "a.pptx"))
    with pytest.raises(EmptyDocument):
        parse_pptx(tmp_path / "a.pptx", ParseSettings())
    for _ in range(3):
        add_slide(deck, "A", "b")
    deck.save(str(tmp_path / "b.pptx"))
    with pytest.raises(DocumentTooLarge):
        parse_pptx(tmp_path / "b.pptx", ParseSettings(max_pages=2))
