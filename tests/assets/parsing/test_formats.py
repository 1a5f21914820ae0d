"""The same three papers as DOCX, PPTX, Markdown and text: title and sections as their truth has them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from monjyu_assets.parsing.dispatch import parse_document
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings.settings import ParseSettings
from tests.conftest import CORPORA, needs_corpora

FORMATS = CORPORA / "formats"
NAMES = ("amrex", "castro", "nyx")
pytestmark = needs_corpora


def parsed(name: str, kind: str) -> ParsedPaper:
    path = FORMATS / kind / f"{name}.{kind}"
    task: dict[str, Any] = {"path": str(path), "document_type": kind}
    return parse_document(task, ParseSettings())


def truth_of(name: str) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((FORMATS / "truth" / f"{name}.json").read_text())
    return truth


def ranks(levels: list[int]) -> list[int]:
    """1 for the highest level that occurs, 2 for the next: slides and plain text have no numbers for theirs."""
    return [sorted(set(levels)).index(level) + 1 for level in levels]


@pytest.mark.parametrize("kind", ["docx", "pptx", "md", "txt"])
@pytest.mark.parametrize("name", NAMES)
def test_title_and_sections(name: str, kind: str) -> None:
    truth, paper = truth_of(name), parsed(name, kind)
    assert paper.title == truth["title"]
    assert [section.heading for section in paper.sections] == [section["title"] for section in truth["sections"]]
    levels, expected = [s.level for s in paper.sections], [s["level"] for s in truth["sections"]]
    assert levels == expected if kind in ("docx", "md") else ranks(levels) == ranks(expected)
    assert paper.publication_date and paper.language == "en" and paper.is_academic_paper


@pytest.mark.parametrize("kind", ["docx", "pptx", "txt"])
@pytest.mark.parametrize("name", NAMES)
def test_references_and_citations(name: str, kind: str) -> None:
    truth, paper = truth_of(name), parsed(name, kind)
    cited = [entry for entry in truth["references"] if entry["key"] in truth["cited_keys"]]
    dois = {entry["doi"].lower() for entry in cited if entry.get("doi")}
    assert len(paper.references) == len(truth["cited_keys"])
    assert len(dois & {reference.doi for reference in paper.references}) >= 0.9 * len(dois)
    linked = {citation.ref_id for citation in paper.inline_citations}
    assert len(linked) >= 0.7 * len(truth["cited_keys"])


@pytest.mark.parametrize("name", NAMES)
def test_the_same_words_in_all(name: str) -> None:
    texts: dict[str, str] = {}
    for kind in ("docx", "pptx", "txt"):
        texts[kind] = next(section.text for section in parsed(name, kind).sections if section.heading == "Summary")
    assert texts["docx"] == texts["pptx"]
    assert texts["docx"].split() == texts["txt"].split()
