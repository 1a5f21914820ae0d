"""Word documents: structure by style or look, the text that python-docx passes over, and damaged files."""

from __future__ import annotations

from pathlib import Path

import docx
import pytest
from docx.enum.text import WD_ALIGN_PARAGRAPH

from monjyu_assets.parsing.formats.word.paper import parse_docx
from monjyu_core.errors import DocumentTooLarge, EmptyDocument
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings
from tests.assets.parsing.office_files import W, paragraph, style, write_docx

SENTENCE = "This sentence is here so that the paragraph is long enough to be one of a text."


def parsed(path: Path) -> ParsedPaper:
    return parse_docx(path, ParseSettings())


def body(tmp_path: Path, *pieces: str, styles: str = "", **parts: str) -> ParsedPaper:
    return parsed(write_docx(tmp_path / "a.docx", "".join(pieces), styles=styles, **parts))


def outline(paper: ParsedPaper) -> list[tuple[int, str]]:
    return [(section.level, section.heading) for section in paper.sections]


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> ParsedPaper:
    """A paper as Word writes it: styles, lists, a table with its caption, numbered references."""
    document = docx.Document()
    document.core_properties.title = "A Draft"
    document.core_properties.author = "somebody else"
    document.add_heading("Passages of Graphs", 0)
    document.add_paragraph("Ada Ames, Bo Birk and Cy Cole")
    document.add_paragraph("12 March 2024")
    document.add_paragraph("Keywords: graphs; passages")
    document.add_heading("Abstract", 1)
    document.add_paragraph("We measure passages. They are short.")
    document.add_heading("Methods", 1)
    document.add_heading("Data", 2)
    document.add_paragraph(f"{SENTENCE} It follows earlier work [1, 2].")
    document.add_paragraph("first point", style="List Bullet")
    document.add_paragraph("one", style="List Number")
    document.add_paragraph("two", style="List Number")
    document.add_paragraph("Table 1: What was counted.", style="Caption")
    table = document.add_table(rows=2, cols=3)
    for cell, text in zip((*table.rows[0].cells, *table.rows[1].cells), ("a", "b", "c", "1", "2", "3"), strict=True):
        cell.text = text
    document.add_paragraph("Figure 2. A curve.", style="Caption")
    document.add_heading("References", 1)
    document.add_paragraph("[1] Smith, J. (2019). A title of a paper. Journal of Things 3, 1-9. doi:10.1000/xyz1")
    document.add_paragraph("[2] Doe, A. (2020). Another title of one. Journal of Things 4, 10-19.")
    path = tmp_path_factory.mktemp("docx") / "paper.docx"
    document.save(str(path))
    return parsed(path)


def test_front_matter(paper: ParsedPaper) -> None:
    assert paper.title == "Passages of Graphs"
    assert [author.name for author in paper.authors] == ["Ada Ames", "Bo Birk", "Cy Cole"]
    assert (paper.publication_date, paper.keywords) == ("2024-03-12", ["graphs", "passages"])
    assert paper.abstract == "We measure passages. They are short."
    assert (paper.language, paper.processor, paper.page_count) == ("en", "unstructured", 0)


def test_sections_lists_and_sentences(paper: ParsedPaper) -> None:
    assert outline(paper) == [(1, "Abstract"), (1, "Methods"), (2, "Data"), (1, "References")]
    data = paper.sections[2]
    assert data.text.split("\n\n")[1:] == ["first point", "1. one", "2. two"]
    assert data.page_start is None
    assert all(data.text[s.start : s.end] == s.text for s in data.sentences) and len(data.sentences) >= 2


def test_tables_and_captions_stand_beside_the_text(paper: ParsedPaper) -> None:
    [table] = paper.tables
    assert (table.caption, table.headers, table.rows) == (
        "Table 1: What was counted.",
        ["a", "b", "c"],
        [["1", "2", "3"]],
    )
    assert [figure.caption for figure in paper.figures] == ["Figure 2. A curve."]
    assert "counted" not in paper.sections[2].text


def test_references_and_citations(paper: ParsedPaper) -> None:
    assert [(r.ref_id, r.title, r.year) for r in paper.references] == [
        ("1", "A title of a paper", 2019),
        ("2", "Another title of one", 2020),
    ]
    assert paper.references[0].doi == "10.1000/xyz1"
    assert [(c.ref_id, c.section) for c in paper.inline_citations] == [("1", "Data"), ("2", "Data")]


def test_levels_by_style_chain_outline_and_templates(tmp_path: Path) -> None:
    styles = (
        style("berschrift1", "heading 1")
        + style("Kind", "My section", based_on="berschrift1")
        + style("Tief", "Deep", '<w:pPr><w:outlineLvl w:val="2"/></w:pPr>')
        + style("MDPI21", "MDPI_2.2_heading2")
        + style("Kreis", "Circle", based_on="Kreis")
    )
    text = paragraph(SENTENCE)
    found = body(
        tmp_path,
        paragraph("One", "Kind"), text,
        paragraph("Two", "MDPI21"), text,
        paragraph("Three", "Tief"), text,
        paragraph("Four", properties='<w:outlineLvl w:val="3"/>'), text,
        paragraph("No heading at all", "Kreis"), text,
        paragraph("Five", "berschrift1"), text,
        styles=styles,
    )  # fmt: skip
    assert outline(found) == [(1, "One"), (2, "Two"), (3, "Three"), (4, "Four"), (1, "Five")]


def test_headings_without_styles_by_their_look(tmp_path: Path) -> None:
    document = docx.Document()
    title = document.add_paragraph()
    title.add_run("On Documents without Styles").font.size = docx.shared.Pt(20)
    title.alignment = WD_ALIGN_PARAGRAPH.CENTER
    document.add_paragraph("Ada Ames and Bo Birk")
    for heading in ("1. Introduction", "1.1 Earlier words", "2. Results"):
        document.add_paragraph().add_run(heading).bold = True
        document.add_paragraph(SENTENCE)
    document.add_paragraph().add_run("A bold sentence that ends.").bold = True
    document.save(str(tmp_path / "a.docx"))
    found = parsed(tmp_path / "a.docx")
    assert found.title == "On Documents without Styles"
    assert [author.name for author in found.authors] == ["Ada Ames", "Bo Birk"]
    assert outline(found) == [(1, "1. Introduction"), (2, "1.1 Earlier words"), (1, "2. Results")]


def test_abstract_by_style_and_run_in(tmp_path: Path) -> None:
    styles = style("Abs", "Abstract") + style("H1", "heading 1") + style("T", "Title")
    text = paragraph(SENTENCE)
    by_style = body(
        tmp_path, paragraph("A Title", "T"), paragraph("We ask.", "Abs"), paragraph("We say.", "Abs"),
        paragraph("Introduction", "H1"), text, paragraph("Results", "H1"), text, styles=styles,
    )  # fmt: skip
    assert by_style.abstract == "We ask.\n\nWe say."
    run_in = body(
        tmp_path, paragraph("A Title", "T"), paragraph("Abstract — We ask."),
        paragraph("Introduction", "H1"), text, paragraph("Results", "H1"), text, styles=styles,
    )  # fmt: skip
    assert run_in.abstract == "We ask."
    assert [section.heading for section in run_in.sections] == ["Abstract", "Introduction", "Results"]


def test_text_that_others_pass_over(tmp_path: Path) -> None:
    """Content controls, insertions, fields, formulas, notes, symbols, text boxes and alternatives."""
    pieces = [
        "<w:sdt><w:sdtContent>" + paragraph("In a block control.") + "</w:sdtContent></w:sdt>",
        "<w:p><w:r><w:t xml:space='preserve'>Said </w:t></w:r><w:sdt><w:sdtContent><w:r><w:t>[7]</w:t></w:r>"
        "</w:sdtContent></w:sdt><w:ins><w:r><w:t xml:space='preserve'> and added</w:t></w:r></w:ins><w:del><w:r>"
        "<w:delText>gone</w:delText></w:r></w:del><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
        "<w:fldSimple w:instr='REF x'><w:r><w:t xml:space='preserve'> by field</w:t></w:r></w:fldSimple>"
        "<w:r><w:footnoteReference w:id='2'/></w:r></w:p>",
        "<w:p><w:r><w:t xml:space='preserve'>Energy </w:t></w:r><m:oMath><m:r><m:t>E=m</m:t></m:r><m:sSup><m:e><m:r>"
        "<m:t>c</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>"
        "<w:r><w:sym w:font='Symbol' w:char='F061'/></w:r></w:p>",
        "<w:p><w:r><w:t>Host.</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><w:txbxContent>"
        + paragraph("In a box.")
        + "</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent>"
        + paragraph("In a box.")
        + "</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>",
        "<w:p><w:r><w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase>"
        "</w:ruby></w:r><w:r><w:t>である。</w:t></w:r></w:p>",
        "<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/></w:docPartObj></w:sdtPr>"
        "<w:sdtContent>" + paragraph("Contents ..... 3") + "</w:sdtContent></w:sdt>",
    ]
    notes = f"<w:footnotes xmlns:w='{W}'><w:footnote w:id='2'>{paragraph('The note.')}</w:footnote></w:footnotes>"
    found = body(tmp_path, *pieces, footnotes=notes)
    text = "\n\n".join(section.text for section in found.sections)
    assert text.split("\n\n") == [
        "In a block control.",
        "Said [7] and added by field",
        "The note.",
        "Energy E=mc^2α",
        "Host.",
        "In a box.",
        "漢字である。",
    ]
    assert [(e.text, e.inline) for e in found.equations] == [("E=mc^2", True)]


def test_raised_numbers_are_citations(tmp_path: Path) -> None:
    raised = "<w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>{}</w:t></w:r>"
    styles = style("H1", "heading 1")
    words = "<w:r><w:t>{}</w:t></w:r>"
    first = (
        "<w:p>"
        + words.format("It was seen before")
        + raised.format("1,2")
        + words.format(" and is seen now.")
        + "</w:p>"
    )
    found = body(
        tmp_path, paragraph("Introduction", "H1"), first, paragraph("References", "H1"),
        paragraph("1. Smith J. A title of a paper. Journal of Things 2019;3:1-9."),
        paragraph("2. Doe A. Another title of one. Journal of Things 2020;4:10-19."), styles=styles,
    )  # fmt: skip
    assert found.sections[0].text.startswith("It was seen before1,2")
    assert [(c.ref_id, c.position) for c in found.inline_citations] == [("1", 18), ("2", 18)]


def test_numbers_of_automatic_lists(tmp_path: Path) -> None:
    numbering = (
        f"<w:numbering xmlns:w='{W}'><w:abstractNum w:abstractNumId='0'><w:lvl w:ilvl='0'><w:start w:val='1'/>"
        "<w:numFmt w:val='decimal'/><w:lvlText w:val='[%1]'/></w:lvl></w:abstractNum>"
        "<w:num w:numId='5'><w:abstractNumId w:val='0'/></w:num></w:numbering>"
    )
    styles = style("H1", "heading 1") + style(
        "Lit", "Literature", "<w:pPr><w:numPr><w:numId w:val='5'/></w:numPr></w:pPr>"
    )
    found = body(
        tmp_path, paragraph("Introduction", "H1"), paragraph("As said [2]."), paragraph("References", "H1"),
        paragraph("Smith, J. (2019). A title of a paper. Things 3.", "Lit"),
        paragraph("Doe, A. (2020). Another title of one. Things 4.", "Lit"), styles=styles, numbering=numbering,
    )  # fmt: skip
    assert [(r.ref_id, r.raw_text[:10]) for r in found.references] == [("1", "[1] Smith,"), ("2", "[2] Doe, A")]
    assert [c.ref_id for c in found.inline_citations] == ["2"]


def test_bold_headings_have_the_level_of_their_automatic_number(tmp_path: Path) -> None:
    level = "<w:lvl w:ilvl='{}'><w:start w:val='1'/><w:numFmt w:val='decimal'/>{}<w:lvlText w:val='{}'/></w:lvl>"
    lists = [level.format(0, "<w:pStyle w:val='Sec'/>", "%1."), level.format(0, "<w:pStyle w:val='Sub'/>", "2.%1.")]
    numbering = (
        f"<w:numbering xmlns:w='{W}'>"
        + "".join(f"<w:abstractNum w:abstractNumId='{k}'>{each}</w:abstractNum>" for k, each in enumerate(lists))
        + "".join(f"<w:num w:numId='{k + 5}'><w:abstractNumId w:val='{k}'/></w:num>" for k in range(2))
        + "</w:numbering>"
    )
    bold = "<w:pPr><w:numPr><w:numId w:val='{}'/></w:numPr></w:pPr><w:rPr><w:b/></w:rPr>"
    styles = style("Sec", "Sec", bold.format(5)) + style("Sub", "Part of Sec", bold.format(6))
    names = (
        ("Sec", "Introduction"),
        ("Sec", "Marshes"),
        ("Sub", "Plants of a marsh"),
        ("Sub", "Walks"),
        ("Sec", "Data"),
    )
    pieces = [piece for kind, name in names for piece in (paragraph(name, kind), paragraph(SENTENCE * 2))]
    found = body(tmp_path, *pieces, styles=styles, numbering=numbering)
    assert [level for level, _ in outline(found)] == [1, 1, 2, 2, 1]


def test_merged_cells_and_layout_tables(tmp_path: Path) -> None:
    cell = "<w:tc><w:tcPr>{}</w:tcPr>" + paragraph("{}") + "</w:tc>"
    table = (
        "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid><w:tr>"
        + cell.format("<w:gridSpan w:val='2'/>", "wide")
        + "</w:tr><w:tr>" + cell.format("", "left") + cell.format("", "right") + "</w:tr></w:tbl>"
    )  # fmt: skip
    frame = "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol/></w:tblGrid><w:tr>" + cell.format("", SENTENCE) + "</w:tr></w:tbl>"
    found = body(tmp_path, table, frame)
    assert [(t.headers, t.rows) for t in found.tables] == [(["wide", ""], [["left", "right"]])]
    assert found.sections[0].text == SENTENCE


def test_japanese(tmp_path: Path) -> None:
    styles = style("1", "heading 1") + style("a", "Title")
    found = body(
        tmp_path, paragraph("知識グラフによる検索", "a"), paragraph("山田太郎・鈴木花子"),
        paragraph("1. はじめに", "1"), paragraph("本稿では検索を扱う。結果を示す。"),
        paragraph("2. 結果", "1"), paragraph("良い結果が得られた。"), styles=styles,
    )  # fmt: skip
    assert (found.title, found.language) == ("知識グラフによる検索", "ja")
    assert [section.section_type for section in found.sections if section.heading] == ["introduction", "results"]
    assert len(found.sections[-2].sentences) == 2


BOLD = "<w:b/>"


def cell(*paragraphs: str) -> str:
    return f"<w:tc>{''.join(paragraphs)}</w:tc>"


def table(*rows: str) -> str:
    grid = "<w:tblPr/><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>"
    return f"<w:tbl>{grid}{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


@pytest.mark.parametrize(
    "pieces",
    [
        [paragraph(text, run=BOLD) for text in ("Abstract", "1. Introduction", "2. Methods", "References")],
        [
            paragraph(text, run="<w:u w:val='single'/>")
            for text in ("Abstract", "1 Introduction", "2 Methods", "References")
        ],
        [paragraph(text) for text in ("ABSTRACT", "1. INTRODUCTION", "2. METHODS", "REFERENCES")],
        [paragraph(text) for text in ("Résumé", "1 Introduction", "2 Méthodes", "Références")],
    ],
)
def test_headings_without_styles(tmp_path: Path, pieces: list[str]) -> None:
    abstract, introduction, methods, references = pieces
    found = body(
        tmp_path, paragraph("Bees in the City", properties="<w:jc w:val='center'/>", run="<w:b/><w:sz w:val='36'/>"),
        paragraph("Lotte Maes", properties="<w:jc w:val='center'/>"), abstract, paragraph("City bees do well."),
        introduction, paragraph("Bees live in cities (Ruiz, 2010)."), methods, paragraph("We counted bees."),
        references, paragraph("Ruiz, A. (2010). Urban bees. Bee Journal, 2, 1-5."),
    )  # fmt: skip
    assert (found.title, [author.name for author in found.authors]) == ("Bees in the City", ["Lotte Maes"])
    assert found.abstract == "City bees do well."
    assert [(s.level, s.section_type) for s in found.sections] == [
        (1, "abstract"), (1, "introduction"), (1, "methods"), (1, "references"),
    ]  # fmt: skip
    assert [reference.year for reference in found.references] == [2010]


@pytest.mark.parametrize(
    "front",
    [
        table(
            cell(paragraph("ARTICLE INFO"), paragraph("Keywords: tea; trial"))
            + cell(paragraph("ABSTRACT"), paragraph("We drank."))
        ),
        table(cell(paragraph("Keywords: tea; trial")) + cell(paragraph("Abstract: We drank."))),
        table(
            cell(paragraph("Article info")) + cell(paragraph("Abstract")),
            cell(paragraph("Keywords: tea; trial")) + cell(paragraph("We drank.")),
        ),
        table(
            cell(paragraph("Abstract")) + cell(paragraph("We drank.")),
            cell(paragraph("Keywords: tea; trial")) + cell(paragraph("")),
        ),
    ],
)
def test_an_abstract_in_a_table(tmp_path: Path, front: str) -> None:
    styles = style("H1", "heading 1") + style("T", "Title")
    found = body(
        tmp_path, paragraph("A Trial of Tea", "T"), paragraph("Rina Das, Omar Farid"), front,
        paragraph("Introduction", "H1"), paragraph(SENTENCE), paragraph("Results", "H1"), paragraph(SENTENCE),
        styles=styles,
    )  # fmt: skip
    assert (found.abstract, found.keywords, found.tables) == ("We drank.", ["tea", "trial"], [])


def test_the_template_of_mdpi(tmp_path: Path) -> None:
    names = {"T": "MDPI_1.2_title", "N": "MDPI_1.3_authornames", "A": "MDPI_1.6_affiliation", "S": "MDPI_1.7_abstract"}
    names |= {"K": "MDPI_1.8_keywords", "H": "MDPI_2.1_heading1", "F": "MDPI_5.1_figure_caption"}
    up = "<w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>{}</w:t></w:r>"
    words = "<w:r><w:t xml:space='preserve'>{}</w:t></w:r>"

    def line(name: str, *pieces: str) -> str:
        inner = "".join((up if number % 2 else words).format(piece) for number, piece in enumerate(pieces))
        return f"<w:p><w:pPr><w:pStyle w:val='{name}'/></w:pPr>{inner}</w:p>"

    found = body(
        tmp_path, line("T", "On Ditches"), line("N", "Ann One", "1,†", ", Ben van Two", "2", " and Cy Three", "1,2,*"),
        line("A", "", "1", " University of X; ann.one@x.org"), line("A", "", "2", " Institute Y"),
        line("A", "", "*", " Correspondence: three@y.org"), line("A", "", "†", " These authors contributed equally."),
        line("S", "Abstract: Ditches are slow."), line("K", "Keywords: ditch; marsh"), line("H", "1. Introduction"),
        paragraph(SENTENCE), line("F", "Figure 1. A ditch."), line("H", "2. Results"), paragraph(SENTENCE),
        styles="".join(style(key, name) for key, name in names.items()),
    )  # fmt: skip
    assert [(a.name, a.affiliation, a.email, a.is_corresponding) for a in found.authors] == [
        ("Ann One", "University of X", "ann.one@x.org", False),
        ("Ben van Two", "Institute Y", None, False),
        ("Cy Three", "University of X; Institute Y", "three@y.org", True),
    ]
    assert (found.abstract, found.keywords) == ("Ditches are slow.", ["ditch", "marsh"])
    assert [(s.heading, s.text) for s in found.sections if s.section_type in ("other", "abstract")] == [
        ("", "† These authors contributed equally."),
        ("Abstract", "Ditches are slow."),
    ]
    assert [figure.caption for figure in found.figures] == ["Figure 1. A ditch."]


def test_an_unlabelled_abstract_and_captions_without_styles(tmp_path: Path) -> None:
    styles = style("H1", "heading 1") + style("T", "Title")
    prose = "We counted plants along many ditches for two years and found that they grow where the water is slow. " * 2
    found = body(
        tmp_path, paragraph("On Ditches", "T"), paragraph("Ann One"), paragraph(prose.strip()),
        paragraph("Key words: ditch, marsh"), paragraph("1 Setting", "H1"), paragraph(SENTENCE),
        paragraph("Figure 2. A ditch."), paragraph("Figure 2 shows a ditch."), paragraph("2 Results", "H1"),
        paragraph(SENTENCE), styles=styles,
    )  # fmt: skip
    assert (found.abstract, found.keywords) == (prose.strip(), ["ditch", "marsh"])
    assert [figure.caption for figure in found.figures] == ["Figure 2. A ditch."]
    assert found.sections[-2].text == f"{SENTENCE}\n\nFigure 2 shows a ditch."


MATH = "<m:oMath>{}</m:oMath>"


def letters(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def part(name: str, **inner: str) -> str:
    return f"<m:{name}>{''.join(f'<m:{key}>{value}</m:{key}>' for key, value in inner.items())}</m:{name}>"


HALF = part("f", num=letters("a"), den=letters("b"))


@pytest.mark.parametrize(
    ("formula", "text", "latex"),
    [
        (HALF + part("sSup", e=letters("x"), sup=letters("2")), "(a/b)x^2", r"\frac{a}{b}x^{2}"),
        (part("sSup", e=HALF, sup=letters("2")), "(a/b)^2", r"{\frac{a}{b}}^{2}"),
        (letters("y=") + HALF + letters("+1"), "y=a/b+1", r"y=\frac{a}{b}+1"),
        (part("f", num=letters("a+b"), den=letters("c")), "(a+b)/c", r"\frac{a+b}{c}"),
        (part("sSubSup", e=letters("x"), sub=letters("ij"), sup=letters("-1")), "x_(ij)^-1", r"x_{ij}^{-1}"),
        (part("rad", deg="", e=letters("x")), "sqrt(x)", r"\sqrt{x}"),
        (part("d", e=letters("x")), "(x)", r"\left(x\right)"),
        (part("func", fName=letters("log"), e=letters("x")), "log x", r"\log  x"),
        (
            "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr>"
            + f"<m:sub>{letters('i')}</m:sub><m:sup>{letters('n')}</m:sup><m:e>{letters('i')}</m:e></m:nary>",
            "∑_i^n i", r"\sum _{i}^{n} i",
        ),
        (letters("α≤β"), "α≤β", r"\alpha \leq \beta"),
    ],
)  # fmt: skip
def test_formulas(tmp_path: Path, formula: str, text: str, latex: str) -> None:
    words = "<w:p><w:r><w:t xml:space='preserve'>Let </w:t></w:r>{}<w:r><w:t> hold.</w:t></w:r></w:p>"
    found = body(
        tmp_path,
        words.format(MATH.format(formula)),
        f"<w:p><m:oMathPara>{MATH.format(formula) * 2}</m:oMathPara></w:p>",
    )
    assert [(e.text, e.latex, e.inline) for e in found.equations] == [
        (text, " ".join(latex.split()), inline) for inline in (True, False, False)
    ]
    assert found.sections[0].text == f"Let {text} hold.\n\n{text} {text}"


def test_powers_and_deleted_paragraph_marks(tmp_path: Path) -> None:
    up = "<w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>{}</w:t></w:r>"
    words = "<w:r><w:t xml:space='preserve'>{}</w:t></w:r>"
    gone = "<w:pPr><w:rPr><w:del w:id='1' w:author='x'/></w:rPr></w:pPr>"
    found = body(
        tmp_path, paragraph("Powers", run=BOLD),
        f"<w:p>{words.format('At 10')}{up.format('6')}{words.format(' mol m')}{up.format('-1')}</w:p>",
        f"<w:p>{gone}{words.format('One ')}</w:p>", f"<w:p>{gone}{words.format('two ')}</w:p>",
        f"<w:p>{words.format('three.')}</w:p>",
    )  # fmt: skip
    assert found.sections[0].text == "At 10^6 mol m^-1\n\nOne two three."


def test_no_text_and_too_much(tmp_path: Path) -> None:
    with pytest.raises(EmptyDocument):
        body(tmp_path, "<w:p/>")
    path = write_docx(tmp_path / "b.docx", paragraph("x" * 5000))
    with pytest.raises(DocumentTooLarge):
        parse_docx(path, ParseSettings(max_characters=1000))


def test_marks_of_our_own_in_a_document_are_no_marks(tmp_path: Path) -> None:
    found = body(tmp_path, paragraph(f"{SENTENCE} \ue0f4\ue0f2odd\ue0f3 \ue0f0"))
    assert found.sections[0].text == f"{SENTENCE} odd"


HEADING = style("H1", "heading 1") + style("H2", "heading 2")
CENTRED = "<w:jc w:val='center'/>"


def test_headings_beside_those_with_a_style(tmp_path: Path) -> None:
    """Names of sections, lines that look as these do, and lines that continue the printed numbers."""
    found = body(
        tmp_path,
        paragraph("Bees", properties=CENTRED, run="<w:b/><w:sz w:val='36'/>"),
        paragraph("1. Introduction", "H1"),
        *[paragraph(text) for text in (SENTENCE, "2. Counting bees", SENTENCE, "2.1 The first place", SENTENCE)],
        *[paragraph(text) for text in (SENTENCE, "1. a bee and its hive in town", "2. a bee and no hive at all")],
        paragraph("3. Conclusion", "H1"),
        paragraph(SENTENCE),
        paragraph("References", properties=CENTRED, run=BOLD),
        paragraph("Ruiz, A. (2010). Urban bees. Bee Journal, 2, 1-5.", properties="<w:outlineLvl w:val='0'/>"),
        paragraph("Stone, B. (2012). Rural bees. Bee Journal, 4, 1-5.", properties="<w:outlineLvl w:val='0'/>"),
        paragraph("A last look", properties=CENTRED, run=BOLD),
        paragraph(SENTENCE),
        styles=HEADING,
    )
    assert outline(found) == [
        (1, "1. Introduction"), (1, "2. Counting bees"), (2, "2.1 The first place"), (1, "3. Conclusion"),
        (1, "References"), (1, "A last look"),
    ]  # fmt: skip
    assert [reference.year for reference in found.references] == [2010, 2012]


def test_a_title_printed_again_above_the_body(tmp_path: Path) -> None:
    found = body(
        tmp_path,
        paragraph("Bees in Town", "T"),
        paragraph("Abstract", "H1"),
        *[paragraph(text) for text in (SENTENCE, "Keywords: bees; towns", "Word count: 900")],
        paragraph("Bees in Town", "H1"),
        paragraph("Methods", "H2"),
        paragraph(SENTENCE),
        styles=HEADING + style("T", "Title"),
    )
    assert outline(found) == [(1, "Abstract"), (1, ""), (1, "Methods")]
    assert (found.abstract, found.keywords) == (SENTENCE, ["bees", "towns"])


def test_authors_below_each_other_with_their_affiliations(tmp_path: Path) -> None:
    lines = (
        "Ada Ames", "University of Rivers", "12 Low Road, Rivers, 19903, ada@rivers.example", "B. Birk",
        "Institute of Lakes", "bb@lakes.example", "Cy Cole, University of Hills",
    )  # fmt: skip
    found = body(
        tmp_path, paragraph("Bees in Town", properties=CENTRED, run="<w:b/><w:sz w:val='36'/>"),
        *[paragraph(line, properties=CENTRED) for line in lines], paragraph("Introduction", "H1"), paragraph(SENTENCE),
        paragraph("Methods", "H1"), paragraph(SENTENCE), styles=HEADING,
    )  # fmt: skip
    assert [(a.name, a.affiliation, a.email) for a in found.authors] == [
        ("Ada Ames", "University of Rivers; 12 Low Road, Rivers, 19903", "ada@rivers.example"),
        ("B. Birk", "Institute of Lakes", "bb@lakes.example"),
        ("Cy Cole", "University of Hills", None),
    ]
    assert found.sections[0].heading == "Introduction"


def test_a_section_of_authors_and_a_note_with_their_style(tmp_path: Path) -> None:
    found = body(
        tmp_path,
        paragraph("Bees in Town", "T"),
        paragraph("Authors", "H1"),
        paragraph("Ada Ames  0000-0002-1825-0097 ·  adames  Department of Bees, University of Rivers · Funded by Bees"),
        paragraph("B. Birk, Jr.  birk  Institute of Lakes"),
        paragraph("Introduction", "H1"),
        paragraph(SENTENCE),
        styles=HEADING + style("T", "Title"),
    )
    assert [(a.name, a.orcid) for a in found.authors] == [("Ada Ames", "0000-0002-1825-0097"), ("B. Birk", None)]
    assert found.authors[0].affiliation == "Department of Bees, University of Rivers"
    noted = body(
        tmp_path, paragraph("Bees in Town", "T"), paragraph("Ada Ames and B. Birk", "A"),
        paragraph("Author note", "A"),
        paragraph("Introduction", "H1"), paragraph(SENTENCE),
        styles=HEADING + style("T", "Title") + style("A", "Author"),
    )  # fmt: skip
    assert [author.name for author in noted.authors] == ["Ada Ames", "B. Birk"]


@pytest.mark.parametrize("gap", ["      ", "\t", "\u00a0" * 4, "\u2003"])
def test_names_between_which_there_are_only_spaces(tmp_path: Path, gap: str) -> None:
    found = body(
        tmp_path, paragraph("Bees in Town", properties=CENTRED, run="<w:b/><w:sz w:val='36'/>"),
        paragraph(gap.join(["Ada Ames", "B. Birk", "Cy de Cole"]), properties=CENTRED),
        paragraph("University of Rivers", properties=CENTRED), paragraph("Introduction", "H1"), paragraph(SENTENCE),
        paragraph("Methods", "H1"), paragraph(SENTENCE), styles=HEADING,
    )  # fmt: skip
    assert [author.name for author in found.authors] == ["Ada Ames", "B. Birk", "Cy de Cole"]


def test_authors_with_initials_behind_their_surnames_and_a_bold_label_above_the_styled_abstract(tmp_path: Path) -> None:
    lines = ("Ames A. B., student of the University of Rivers, a@rivers.example", "Birk C. dean, Institute of Lakes")
    found = body(
        tmp_path, paragraph("Bees in Town", properties=CENTRED, run="<w:b/><w:sz w:val='36'/>"),
        *[paragraph(line, properties=CENTRED) for line in lines], paragraph("Abstract", run="<w:b/>"),
        paragraph(SENTENCE, "Abstract"), paragraph("Introduction", "H1"), paragraph(SENTENCE),
        paragraph("Methods", "H1"), paragraph(SENTENCE), styles=HEADING + style("Abstract", "Abstract"),
    )  # fmt: skip
    assert [(a.name, a.affiliation) for a in found.authors] == [
        ("A. B. Ames", "student of the University of Rivers"), ("C. Birk", "dean, Institute of Lakes"),
    ]  # fmt: skip
    assert found.abstract == SENTENCE and outline(found)[0] == (1, "Abstract")


@pytest.mark.parametrize("heading", ["", "H1"])
def test_names_above_a_title_that_one_heading_may_be(tmp_path: Path, heading: str) -> None:
    above = ("УДК 519.854.2", "© О. І. Гавриш, М. О. Спека, 2019", "Гавриш О. І.,", "Спека М. О.")
    title = paragraph("Планування роботи персоналу болота", heading, run="<w:b/><w:sz w:val='36'/>")
    below = [paragraph(SENTENCE), paragraph("Висновки", run="<w:b/>"), paragraph(SENTENCE)]
    found = body(tmp_path, *map(paragraph, above), title, *below, styles=HEADING)
    assert found.title == "Планування роботи персоналу болота"
    assert [author.name for author in found.authors] == ["О. І. Гавриш", "М. О. Спека"]
