"""Typeset papers of three looks, parsed whole: front matter, sections, references, citations, rectangles."""

from __future__ import annotations

import re
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from monjyu_assets.parsing.formats.pdf import parse_pdf
from monjyu_assets.parsing.formats.pdf.page.layout import squeezed
from monjyu_core.paper import Box, ParsedPaper
from monjyu_core.settings.settings import ParseSettings
from tests.assets.parsing.pdf_samples import ABSTRACT, AUTHORS, MAKERS, REFERENCES, TITLE, Sample


@pytest.fixture(scope="module", params=sorted(MAKERS))
def parsed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Sample, ParsedPaper]:
    sample = MAKERS[request.param](tmp_path_factory.mktemp(request.param))
    return sample, parse_pdf(sample.path, ParseSettings())


Parsed = tuple[Sample, ParsedPaper]


def test_front_matter(parsed: Parsed) -> None:
    _, paper = parsed
    assert paper.title == TITLE
    assert [author.name for author in paper.authors] == AUTHORS
    assert squeezed(paper.abstract) == squeezed(ABSTRACT)
    assert paper.language == "en"
    assert paper.processor == "pypdfium2"


def test_headings_and_levels(parsed: Parsed) -> None:
    sample, paper = parsed
    found = [(s.level, s.heading) for s in paper.sections if s.section_type != "abstract"]
    assert found == sample.headings
    kinds = {s.heading.split()[-1]: s.section_type for s in paper.sections}
    assert kinds["Introduction"] == "introduction"
    assert kinds["Method"] == "methods"
    assert all(s.page_start and s.page_end and s.page_start <= s.page_end for s in paper.sections)


def test_section_text_is_the_running_text(parsed: Parsed) -> None:
    _, paper = parsed
    for section in paper.sections:
        if section.section_type == "abstract":
            continue
        assert section.text.startswith("Retrieval over scholarly text has a long history")
        assert re.search(r"their limits .*\.$", section.text)
        assert "just-in-time" in section.text
        assert not re.search(r"Sample Journal|^\d+$|Springer", section.text, re.M)


def test_references(parsed: Parsed) -> None:
    _, paper = parsed
    by_title = {reference.title: reference for reference in paper.references}
    assert len(paper.references) == len(REFERENCES)
    for title, surnames, year in REFERENCES:
        reference = by_title[title]
        assert reference.year == year
        assert [name.split()[-1] for name in reference.authors] == surnames
    assert by_title["Lazy evaluation of graph summaries"].arxiv_id == "2101.01234"


def test_citations_are_linked(parsed: Parsed) -> None:
    sample, paper = parsed
    bodies = sum(s.text.count("Retrieval over scholarly") for s in paper.sections)
    assert len(paper.inline_citations) == bodies * sample.citations
    titles = {r.ref_id: r.title for r in paper.references}
    sections = {s.heading: s for s in paper.sections}
    for citation in paper.inline_citations:
        section = sections[citation.section]
        assert citation.context in section.text
        if "long history" in citation.context:
            assert titles[citation.ref_id] == "Graph-based retrieval for scholarly search"


def test_sentences_lie_under_their_rectangles(parsed: Parsed) -> None:
    sample, paper = parsed
    document = pdfium.PdfDocument(sample.path)
    checked = 0
    for section in paper.sections:
        for sentence in section.sentences:
            assert section.text[sentence.start : sentence.end] == sentence.text
            under = "".join(_under(document, span.page, box) for span in sentence.spans for box in span.boxes)
            assert sorted(squeezed(under)) == sorted(squeezed(sentence.text))
            checked += 1
    assert checked > 30


def test_figure_caption_is_no_running_text(parsed: Parsed) -> None:
    sample, paper = parsed
    if sample.path.stem != "numbered":
        pytest.skip("only this sample has a figure")
    assert [figure.caption for figure in paper.figures] == ["Figure 1: An overview of the method."]
    assert all("overview of the method" not in section.text for section in paper.sections)


def test_parsing_is_deterministic(parsed: Parsed) -> None:
    sample, paper = parsed
    assert parse_pdf(sample.path, ParseSettings()).to_wire() == paper.to_wire()


def _under(document: pdfium.PdfDocument, number: int, box: Box) -> str:
    """Characters whose middle lies in the box (origin top-left)."""
    page = document[number - 1]
    height = page.get_height()
    text_page = page.get_textpage()
    found = []
    for i in range(text_page.count_chars()):
        x0, y0, x1, y1 = text_page.get_charbox(i)
        if box[0] <= (x0 + x1) / 2 <= box[2] and box[1] <= height - (y0 + y1) / 2 <= box[3]:
            found.append(text_page.get_text_range(i, 1))
    return "".join(found)


def test_rotated_page_gives_boxes_of_the_displayed_page(tmp_path: Path) -> None:
    sample = MAKERS["one_column"](tmp_path)
    upright = parse_pdf(sample.path, ParseSettings())
    document = pdfium.PdfDocument(sample.path)
    for page in document:
        page.set_rotation(180)
    document.save(tmp_path / "turned.pdf")
    turned = parse_pdf(tmp_path / "turned.pdf", ParseSettings())
    assert turned.title == upright.title
    width, height = document[0].get_size()
    a = upright.sections[1].sentences[0].spans[0].boxes[0]
    b = turned.sections[1].sentences[0].spans[0].boxes[0]
    assert b == pytest.approx((width - a[2], height - a[3], width - a[0], height - a[1]), abs=0.1)
