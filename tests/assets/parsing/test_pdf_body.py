"""Tables, equations and footnotes of typeset papers: what is taken out of the text, and what the text keeps."""

from __future__ import annotations

import re
from pathlib import Path

import pypdfium2 as pdfium
import pytest
import typst

from monjyu_assets.parsing.formats.pdf import parse_pdf
from monjyu_assets.parsing.formats.pdf.labelling import Role, label_lines
from monjyu_assets.parsing.formats.pdf.page.layout import squeezed
from monjyu_assets.parsing.formats.pdf.reading import read_layout
from monjyu_core.paper import Box, ParsedPaper
from monjyu_core.settings.settings import OcrSettings, ParseSettings
from tests.limits import ends

SOURCES = Path(__file__).parent / "typst"


def _parse(name: str, folder: Path) -> tuple[Path, ParsedPaper]:
    path = folder / f"{name}.pdf"
    typst.compile(str(SOURCES / f"{name}.typ"), output=str(path))
    return path, parse_pdf(path, ParseSettings())


@pytest.fixture(scope="module", params=["body-one-column", "body-two-columns"])
def parsed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ParsedPaper]:
    return _parse(request.param, tmp_path_factory.mktemp(request.param))


Parsed = tuple[Path, ParsedPaper]


def _under(document: pdfium.PdfDocument, number: int, box: Box) -> str:
    """Characters whose middle lies in the box (origin top-left); pdfium gives two halves of those beyond U+FFFF."""
    page = document[number - 1]
    height = page.get_height()
    text_page = page.get_textpage()
    codes = []
    for i in range(text_page.count_chars()):
        x0, y0, x1, y1 = text_page.get_charbox(i)
        if box[0] <= (x0 + x1) / 2 <= box[2] and box[1] <= height - (y0 + y1) / 2 <= box[3]:
            codes.append(pdfium.raw.FPDFText_GetUnicode(text_page.raw, i))
    return b"".join(code.to_bytes(2, "little") for code in codes).decode("utf-16-le", "ignore")


def _text(paper: ParsedPaper) -> str:
    return "\n\n".join(section.text for section in paper.sections)


def test_every_line_has_the_role_it_is_read_in(parsed: Parsed) -> None:
    path, paper = parsed
    layout, _ = read_layout(path, ParseSettings(), OcrSettings())
    labelled = label_lines(layout)

    def text(*roles: Role) -> str:
        return " ".join(layout.lines[i].text for i in labelled.having(*roles))

    assert squeezed(text(Role.TITLE)) == squeezed(paper.title)
    for heading in labelled.headings:
        assert labelled.roles[heading.start] is Role.HEADING
    captions = [item.caption for item in (*paper.tables, *paper.figures) if item.caption]
    assert captions and all(squeezed(caption) in squeezed(text(Role.FLOAT)) for caption in captions)
    running = squeezed(text(Role.TEXT))
    assert running and not any(squeezed(caption) in running for caption in captions)
    assert len([i for note in labelled.notes for i in note.lines]) == len(labelled.having(Role.FOOTNOTE)) > 0
    assert not set(labelled.having(Role.TEXT)) & labelled.taken()


def test_table_between_rules_has_cells(parsed: Parsed) -> None:
    _, paper = parsed
    table = next(table for table in paper.tables if table.caption and "booktabs" in table.caption)
    assert table.caption == "Table 1: Scores of a booktabs table."
    assert table.headers == ["Method", "Precision", "Recall"]
    assert table.rows == [["Lazy", "0.91", "0.88"], ["Eager graph", "0.90", "0.79"], ["None", "0.55", "0.61"]]
    assert table.page == 1 and table.box is not None


def test_grid_has_cells(parsed: Parsed) -> None:
    _, paper = parsed
    table = next(table for table in paper.tables if table.caption and "grid" in table.caption)
    assert table.headers == ["Corpus", "Papers", "Remark"]
    assert table.rows == [["Alpha", "120", "small but clean"], ["Beta", "3400", "noisy scans of old prints"]]


def test_grid_without_a_caption_is_a_table(parsed: Parsed) -> None:
    _, paper = parsed
    table = next(table for table in paper.tables if table.caption is None)
    assert [table.headers, *table.rows] == [["Key", "Sense"], ["k1", "first"], ["k2", "second"]]


def test_cells_are_no_running_text(parsed: Parsed) -> None:
    path, paper = parsed
    text = _text(paper)
    assert not re.search(r"Eager graph|0\.79|noisy|booktabs|k1|Precision", text)
    assert len(paper.tables) == 3
    assert "The table shows that lazy methods win, and the next paragraph explains why." in text
    document = pdfium.PdfDocument(path)
    for table in paper.tables:
        assert table.page and table.box
        under = squeezed(_under(document, table.page, table.box))
        assert all(squeezed(cell) in under for row in [table.headers, *table.rows] for cell in row)


def test_figure_box_holds_the_drawing(parsed: Parsed) -> None:
    _, paper = parsed
    (figure,) = paper.figures
    assert figure.caption == "Figure 1: A drawn frame."
    assert figure.box and 60 < figure.box[3] - figure.box[1] < 120
    assert "inner label" not in _text(paper)


def test_equations_are_regions(parsed: Parsed) -> None:
    path, paper = parsed
    texts = [re.sub(r"\s+", "", equation.text) for equation in paper.equations]
    assert len(texts) == 3
    assert texts[0].endswith("(1)") and "E=" in texts[0]
    assert all(equation.latex is None and not equation.inline for equation in paper.equations)
    document = pdfium.PdfDocument(path)
    for equation in paper.equations:
        assert equation.page and equation.box
        assert "=" in _under(document, equation.page, equation.box)


def test_a_sentence_runs_through_an_equation(parsed: Parsed) -> None:
    _, paper = parsed
    sentences = [sentence.text for section in paper.sections for sentence in section.sentences]
    assert "The energy of a body at rest is given by (1) where m is its mass." in sentences
    assert "The mean of the values is … in which n counts them." in sentences
    assert not any(re.search(r"=|∑", sentence) for sentence in sentences)


def test_footnotes_stand_apart(parsed: Parsed) -> None:
    _, paper = parsed
    section = next(section for section in paper.sections if section.heading.endswith("Notes"))
    paragraphs = section.text.split("\n\n")
    assert paragraphs[-2].startswith("1 The archive is kept in two places")
    assert paragraphs[-1] == "2 A second note."
    body = " ".join(paragraphs[:-2])
    assert "The collection1 was made in one year and its index2 in another, as the reader may expect." in body
    assert _text(paper).count("kept in two places") == 1


def test_a_long_footnote_is_whole(parsed: Parsed) -> None:
    _, paper = parsed
    assert "kept in two places so that nothing is lost when one of them burns down during the night." in _text(paper)


def test_rectangles_of_all_sentences(parsed: Parsed) -> None:
    path, paper = parsed
    document = pdfium.PdfDocument(path)
    for section in paper.sections:
        for sentence in section.sentences:
            under = "".join(_under(document, span.page, box) for span in sentence.spans for box in span.boxes)
            assert sorted(squeezed(under)) == sorted(squeezed(sentence.text))


def test_a_page_of_rules_takes_no_time(tmp_path: Path) -> None:
    source = tmp_path / "rules.typ"
    source.write_text(
        "#set page(width: 20cm, height: 20cm)\nTable 1: A hostile page with words enough to be text.\n"
        "#for i in range(60) { for j in range(60) {\n"
        "place(dx: i * 8pt, dy: 30pt + j * 8pt, rect(width: 6pt + 1pt * calc.rem(i, 3), height: 5pt, stroke: 0.2pt))}}",
        "utf-8",
    )
    typst.compile(str(source), output=str(tmp_path / "rules.pdf"))
    ends(lambda: parse_pdf(tmp_path / "rules.pdf", ParseSettings()))
