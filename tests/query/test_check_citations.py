"""The citations of a draft are found in the collection and held against the papers, by every way in."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from monjyu_core.errors import QueryError
from monjyu_core.storage.folders import DataFolder
from monjyu_query.drafts.check import check_citations
from monjyu_query.drafts.checked import CheckedDraft
from monjyu_query.drafts.claim_signs import NAMES
from monjyu_query.drafts.draft_text import as_text
from monjyu_query.drafts.judging import verdict_of
from monjyu_query.search.searcher import Searcher

BIB = """@article{leases, title={Readers That Never Wait: {Leases} on Published Snapshots},
  author={Marchetti, Solveig and Brandvold, Kofi}, year=2025}
@article{budget, title={Spending a Relevance Budget on a Tree of Communities}, author={Oduya, Hanneke}, year={2025}}
@article{vaswani, title={Attention is all you need}, author={Vaswani, Ashish}, year=2017}"""
DRAFT = """# Introduction

The Leiden algorithm guarantees that communities are connected (Morvant and Arrowood, 2025).
The Leiden algorithm does not guarantee that communities are connected (Morvant and Arrowood, 2025).
A search with a budget of 500 that follows one with a budget of 100 pays for 400 judgements [@budget].
A search with a budget of 500 that follows one with a budget of 100 pays for 250 judgements [@budget].
Communities of whales sing in the warm waters of the southern seas [@leases].
Attention replaced recurrence [@vaswani]. Nobody listed this one [@nobody].
"""


@pytest.fixture(scope="module")
def searcher(sample_data: Path) -> Iterator[Searcher]:
    yield Searcher(DataFolder(sample_data), "samples", None)


@pytest.fixture(scope="module")
def checked(searcher: Searcher) -> CheckedDraft:
    return check_citations(searcher, DRAFT, "markdown", BIB)


def test_verdicts(checked: CheckedDraft) -> None:
    assert [one.verdict for one in checked.sentences] == [
        "supported", "contradicted", "supported", "partly", "not_found", "not_in_collection", "not_resolved"
    ]  # fmt: skip
    assert checked.status == "complete" and checked.faults == 3
    assert sum(checked.counts.values()) == 7 and checked.counts["supported"] == 2


def test_passages_stand_in_the_cited_paper(checked: CheckedDraft, searcher: Searcher) -> None:
    numbered = {one.n: one for one in checked.citations}
    assert list(numbered) == list(range(1, len(numbered) + 1))
    cursor = searcher.current().snapshot.cursor()
    for sentence in checked.sentences[:5]:
        [check] = sentence.checks
        assert check.citations and check.paper_id and 0 < (check.score or 0) <= 1
        for number in check.citations:
            passage = numbered[number]
            assert passage.paper_id == check.paper_id and passage.relevance is not None
            [(text,)] = cursor.execute(
                "SELECT text FROM sentences WHERE sentence_id = ?", passage.sentence_ids
            ).fetchall()
            assert text == passage.quote and (passage.page is None) == (not passage.boxes)
    assert "guarantees that communities are connected" in numbered[checked.sentences[0].checks[0].citations[0]].quote
    assert "nowhere in the paper: 250" in checked.sentences[3].checks[0].reasons


def test_a_made_up_detail_is_no_support(searcher: Searcher) -> None:
    """A true sentence is supported; with a year, a place, a group that stand nowhere in the paper it is not."""
    true = "The Leiden algorithm guarantees that communities are connected"
    for more in ("since 1987", "in Norway", "among night-shift nurses"):
        [sentence] = check_citations(searcher, f"{true} {more} (Morvant and Arrowood, 2025).", "markdown").sentences
        [check] = sentence.checks
        assert sentence.verdict == "partly", more
        assert "nowhere in the paper" in check.reasons[0] and more.split()[-1].casefold() in check.reasons[0]


def test_how_papers_are_named(searcher: Searcher) -> None:
    title = "Spending a Relevance Budget on a Tree of Communities"
    paper = "relevance-budget-438725c6"
    for citation, listed in (
        (f"[@{paper}]", ""),
        ("[1]", f"\n# References\n\n[1] Oduya H, Arrowood K. {title}. 2025.\n"),
        ("(Oduya et al., 2025)", f"\n# References\n\nOduya, H., & Arrowood, K. (2025). {title}.\n"),
        ("(Oduya et al., 2025)", ""),
        ("(Oduya, 2024)", ""),
    ):
        [sentence] = check_citations(
            searcher, f"A budget bounds the judgements {citation}.\n{listed}", "markdown"
        ).sentences
        assert sentence.checks[0].paper_id == paper, citation
    elsewhere = "\n# References\n\nOduya, H. (2025). The other work of the same year and author.\n"
    for citation, listed in (("(Oduya et al., 2025)", elsewhere), ("(Oduya, 2019)", ""), ("(Nobody et al., 2025)", "")):
        [sentence] = check_citations(
            searcher, f"A budget bounds the judgements {citation}.\n{listed}", "markdown"
        ).sentences
        assert sentence.verdict == "not_in_collection", citation
    [sentence] = check_citations(searcher, "A budget bounds the judgements [7].", "markdown").sentences
    assert sentence.verdict == "not_resolved"


def test_time_and_size_are_bounded(searcher: Searcher) -> None:
    cancelled = threading.Event()
    cancelled.set()
    stopped = check_citations(searcher, DRAFT, "markdown", BIB, cancel=cancelled)
    assert stopped.status == "partial" and stopped.counts["not_checked"] == 5 and stopped.warnings
    with pytest.raises(QueryError):
        check_citations(searcher, "It is [1].\n\n" * 2_001, "markdown")


def test_the_worst_is_shown_first(checked: CheckedDraft) -> None:
    text = as_text(checked)
    order = [
        text.index(word)
        for word in ("CONTRADICTED", "NOT FOUND", "not resolved: ", "not in the collection: ", "   supported")
    ]
    assert order == sorted(order)
    hostile = checked.model_copy(deep=True)
    hostile.sentences[0].text = "\x1b[2J\u202eevil"
    assert "\x1b" not in as_text(hostile) and "\u202e" not in as_text(hostile)


def test_command(sample_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from monjyu_query.commands import check_citations as command

    monkeypatch.setenv("MONJYU_DATA", str(sample_data))
    (tmp_path / "d.md").write_text(DRAFT)
    (tmp_path / "d.bib").write_text(BIB)
    arguments = [str(tmp_path / "d.md"), "-c", "samples", "--bib", str(tmp_path / "d.bib")]
    plain = CliRunner().invoke(command, [*arguments, "--json"])
    assert plain.exit_code == 0 and json.loads(plain.stdout)["counts"]["contradicted"] == 1
    strict = CliRunner().invoke(command, [*arguments, "--strict"])
    assert strict.exit_code == 1 and "CONTRADICTED" in strict.stdout
    unkeyed = CliRunner().invoke(command, arguments[:3])
    assert unkeyed.exit_code == 0 and "give its .bib file" in unkeyed.stdout


def test_a_contradiction_must_be_likely() -> None:
    """Weights hold every sign; where nothing is near, nothing is contradicted."""
    assert verdict_of(dict.fromkeys(NAMES, 0.0))[0] in ("supported", "not_found")
