"""What counts as an academic paper, and what is said of what does not."""

from __future__ import annotations

import pytest

from monjyu_assets.parsing.text.common import judge
from monjyu_assets.sources.scan import parse_files
from monjyu_core.paper import Author, InlineCitation, ParsedPaper, Reference, Section
from tests.conftest import CORPORA, needs_corpora

LONG = "Words of some length stand here. " * 30


def document(**fields: object) -> ParsedPaper:
    paper = ParsedPaper(title="T", sections=[Section(heading="", text=LONG)]).model_copy(update=fields)
    judge(paper)
    return paper


def test_reasons_stand_in_the_warnings_and_go_with_them() -> None:
    paper = document()
    assert not paper.is_academic_paper
    assert paper.warnings == [
        "not an academic paper: no references, no citations in the text, no abstract, no author, "
        "no sections such as introduction, methods or results"
    ]
    paper.abstract, paper.authors, paper.doi = "We look.", [Author(name="A. Ames")], "10.1/x"
    judge(paper)
    assert paper.is_academic_paper and not paper.warnings


def test_a_list_of_links_is_no_paper_but_cited_references_with_a_structure_are() -> None:
    links = [Reference(ref_id=str(n), raw_text="Link") for n in range(50)]
    assert not document(references=links).is_academic_paper
    cited = [InlineCitation(ref_id="1", context="x", section="", position=0)]
    kinds = [Section(heading="Methods", section_type="methods", text=LONG)]
    assert document(references=links, inline_citations=cited, sections=kinds).is_academic_paper


@needs_corpora
@pytest.mark.parametrize(("folder", "expected"), [("ja_wiki", False), ("formats/md", True)])
def test_corpora(folder: str, expected: bool) -> None:
    files = [path for path in sorted((CORPORA / folder).iterdir()) if path.suffix in (".txt", ".md")]
    answers = list(parse_files(files))
    assert len(answers) > 2
    assert [answer["source_path"] for answer in answers if answer["is_academic_paper"] is not expected] == []
    if not expected:
        assert all(answer["warnings"][-1].startswith("not an academic paper: ") for answer in answers)
