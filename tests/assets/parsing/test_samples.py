"""The parsers against the exact truth of the sample collection, and the collection against itself."""

from __future__ import annotations

import importlib.util
import json
import re
import unicodedata
import zipfile
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings
from monjyu_core.storage.ids import file_paper_id
from tests.conftest import ROOT

SAMPLES = ROOT / "data" / "samples"
NAMES = sorted(path.stem for path in (SAMPLES / "truth").glob("*.json"))
PDFS = ["language-merging", "noun-phrase-graphs", "relevance-budget"]


@cache
def _truth(name: str) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((SAMPLES / "truth" / f"{name}.json").read_text())
    return truth


@cache
def _paper(name: str) -> ParsedPaper:
    from monjyu_assets.parsing.formats.jsonl import parse_record
    from monjyu_assets.parsing.formats.markdown.paper import parse_markdown
    from monjyu_assets.parsing.formats.pdf import parse_pdf
    from monjyu_assets.parsing.formats.plaintext import parse_text
    from monjyu_assets.parsing.formats.slides import parse_pptx
    from monjyu_assets.parsing.formats.word.paper import parse_docx
    from monjyu_assets.parsing.text.jsonl_records import read_records

    path = SAMPLES / "papers" / _truth(name)["file"]
    if path.suffix == ".pdf":
        return parse_pdf(path, ParseSettings())
    if path.suffix == ".docx":
        return parse_docx(path, ParseSettings())
    if path.suffix == ".pptx":
        return parse_pptx(path, ParseSettings())
    if path.suffix == ".md":
        return parse_markdown(path.read_bytes(), ParseSettings())
    if path.suffix == ".txt":
        return parse_text(path.read_bytes(), ParseSettings())
    (line,) = read_records(path)
    assert line.record is not None
    return parse_record(line.record)


def _folded(text: str) -> str:
    """Letters and digits only, so that hyphens at line ends, dashes and spaces do not count."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", text).casefold())


def test_there_are_nine_papers() -> None:
    assert len(NAMES) == 9
    assert sorted(_truth(name)["file"] for name in NAMES) == sorted(p.name for p in (SAMPLES / "papers").iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_title_and_authors(name: str) -> None:
    truth, paper = _truth(name), _paper(name)
    assert paper.title == truth["title"]
    assert [author.name for author in paper.authors] == truth["authors"]
    assert paper.is_academic_paper
    assert paper.language == truth.get("language", "en")


@pytest.mark.parametrize("name", NAMES)
def test_sections(name: str) -> None:
    paper, truth = _paper(name), _truth(name)["sections"]
    if name in PDFS:  # the reference list of a PDF stands in `references` alone
        truth = [section for section in truth if section["section_type"] != "references"]
    assert [(s.heading, s.level) for s in paper.sections] == [(s["heading"], s["level"]) for s in truth]
    for section, true in zip(paper.sections, truth, strict=True):
        if section.level == 1 or name not in PDFS:
            assert section.section_type == true["section_type"], section.heading
    assert all(section.text for section in paper.sections if section.level > 1)
    assert len(paper.abstract) > 150


@pytest.mark.parametrize("name", NAMES)
def test_references(name: str) -> None:
    truth, paper = _truth(name), _paper(name)
    assert len(paper.references) == len(truth["references"])
    for found, true in zip(paper.references, truth["references"], strict=True):
        assert _folded(found.title or "") == _folded(true["title"])
        assert [_folded(author) for author in found.authors] == [_folded(author) for author in true["authors"]]
        assert found.year == true["year"]
        assert (found.doi or "").lower() == (true["doi"] or "").lower()
        assert found.arxiv_id == true["arxiv_id"]


@pytest.mark.parametrize("name", NAMES)
def test_every_reference_is_cited_in_the_text(name: str) -> None:
    paper = _paper(name)
    assert {c.ref_id for c in paper.inline_citations} == {r.ref_id for r in paper.references}
    texts = {section.heading: section.text for section in paper.sections}
    for citation in paper.inline_citations:
        assert citation.section in texts
        assert 0 <= citation.position < len(texts[citation.section])


@pytest.mark.parametrize("name", NAMES)
def test_metadata(name: str) -> None:
    truth, paper = _truth(name), _paper(name)
    assert paper.publication_date == truth["publication_date"]
    assert name in PDFS or paper.keywords == truth["keywords"]
    assert paper.doi is None


def test_citation_links_are_those_of_the_reference_lists() -> None:
    titles = {_folded(_truth(name)["title"]): name for name in NAMES}
    links = 0
    for name in NAMES:
        cited = {titles.get(_folded(reference.title or "")) for reference in _paper(name).references} - {None}
        assert cited == {link["to"] for link in _truth(name)["citations"]}
        assert all(link["from"] == name for link in _truth(name)["citations"])
        links += len(cited)
    assert links >= 6


def test_questions_quote_the_papers() -> None:
    questions = [json.loads(line) for line in (SAMPLES / "questions.jsonl").read_text().splitlines()]
    ids = {_truth(name)["paper_id"]: name for name in NAMES}
    assert [bool(question["gold"]) for question in questions] == [True] * 12 + [False] * 2
    for question in questions:
        for gold in question["gold"]:
            paper = _paper(ids[gold["paper_id"]])
            sentences = {_folded(s.text) for section in paper.sections for s in section.sentences}
            assert _folded(gold["sentence"]) in sentences, question["id"]


def test_paper_ids_are_those_of_the_index() -> None:
    for name in NAMES:
        truth = _truth(name)
        expected = name if truth["file"].endswith(".jsonl") else file_paper_id(truth["file"])
        assert truth["paper_id"] == expected


def _build_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("samples_build", SAMPLES / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _pdf_text(path: Path) -> str:
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    try:
        return "\n".join(page.get_textpage().get_text_range() for page in document)
    finally:
        document.close()


def _content(path: Path) -> object:
    """What a made file says, without how it is packed."""
    if path.suffix == ".pdf":
        return _pdf_text(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_made_papers_are_those_of_their_sources(tmp_path: Path) -> None:
    pytest.importorskip("typst", reason="the typesetter is not installed")
    if not _build_script().JAPANESE_FONT.is_file():
        pytest.skip("the font of the Japanese sample is missing: apt-get install fonts-ipaexfont-gothic")
    first = _build_script().build(tmp_path / "one")
    second = _build_script().build(tmp_path / "two")
    assert [path.stem for path in first] == [*PDFS, "reader-leases", "shard-sizes"]
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
        assert _content(one) == _content(SAMPLES / "papers" / one.name)
