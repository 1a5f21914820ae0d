"""Real papers of several journals: what must stay right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monjyu_assets.parsing.formats.pdf import parse_pdf
from monjyu_assets.parsing.formats.pdf.page.layout import squeezed
from monjyu_core.settings.settings import ParseSettings
from tests.conftest import CORPORA, needs_corpora

PAPERS = [
    "jose/jose.00021", "jose/jose.00121", "jose/jose.00259", "layouts/PMC4238170", "layouts/PMC4558530",
    "layouts/PMC5771181", "layouts/rescience-3161734",
]  # fmt: skip


@needs_corpora
@pytest.mark.parametrize("name", PAPERS)
def test_real_paper(name: str) -> None:
    corpus, stem = name.split("/")
    truth = json.loads((CORPORA / corpus / "truth" / f"{stem}.json").read_text("utf-8"))
    paper = parse_pdf(Path(CORPORA / corpus / "pdf" / f"{stem}.pdf"), ParseSettings())
    assert squeezed(paper.title) == squeezed(truth["title"])
    families = [squeezed(author["family"]) for author in truth["authors"]]
    assert [f for f, a in zip(families, paper.authors, strict=True) if not squeezed(a.name).endswith(f)] == []
    if corpus == "jose" or stem.startswith("PMC"):
        assert paper.doi == truth["doi"].lower()
    if truth.get("references"):
        assert len(paper.references) == pytest.approx(len(truth["references"]), abs=1)
    assert all(section.text[s.start : s.end] == s.text for section in paper.sections for s in section.sentences)
    assert all(s.spans for section in paper.sections for s in section.sentences)
