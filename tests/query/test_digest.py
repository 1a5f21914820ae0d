"""Summaries, comparisons and surveys: each sentence cited, by sections or by a model that is checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_core.errors import QueryError
from monjyu_query import Monjyu
from monjyu_query.digests.digest_result import Digest
from tests.core.models.fake_server import FakeModels, failing, say

PAPER, OTHER = "answer-provenance-ac1d5330", "relevance-budget-438725c6"


@pytest.fixture(scope="module")
def reader(sample_data: Path) -> Monjyu:
    return Monjyu(sample_data)


def check(digest: Digest) -> None:
    """Numbers are those of the citations in order of use, none is idle, and no part is empty."""
    used = [n for part in digest.parts for statement in part.statements for n in statement.citations]
    assert list(dict.fromkeys(used)) == [citation.n for citation in digest.citations]
    assert [citation.n for citation in digest.citations] == list(range(1, len(digest.citations) + 1))
    assert all(part.statements for part in digest.parts)
    assert len({tuple(citation.sentence_ids) for citation in digest.citations}) == len(digest.citations)


def test_a_summary_follows_the_sections(reader: Monjyu) -> None:
    short, long = (reader.summarize(PAPER, length=length) for length in ("short", "long"))  # type: ignore[arg-type]
    for digest in (short, long):
        check(digest)
        assert {citation.paper_id for citation in digest.citations} == {PAPER}
    assert len(short.citations) < len(long.citations)
    assert short.parts[0].heading == "Purpose"
    assert short == reader.summarize(PAPER, length="short")


def test_a_summary_of_every_sample_says_something(reader: Monjyu) -> None:
    for paper in reader.papers():
        digest = reader.summarize(paper.paper_id)
        check(digest)
        assert digest.parts, paper.paper_id


def test_a_focus_comes_first_and_says_when_it_has_no_answer(reader: Monjyu) -> None:
    digest = reader.summarize(PAPER, focus="Why is a quotation that fails the check not repaired?")
    check(digest)
    assert digest.parts[0].heading.startswith("Why is a quotation")
    assert "approximate matching" in " ".join(statement.text for statement in digest.parts[0].statements)
    nothing = reader.summarize(PAPER, focus="Who won the football cup?")
    assert nothing.parts[0].heading == "Purpose"
    assert "football" in nothing.warnings[0]


def test_a_comparison_has_each_paper_under_each_aspect(reader: Monjyu) -> None:
    digest = reader.compare([PAPER, OTHER])
    check(digest)
    purpose = [part.paper_id for part in digest.parts if part.heading == "Purpose"]
    assert purpose == [PAPER, OTHER]
    assert all(citation.paper_id == part.paper_id for part in digest.parts for citation in _of(digest, part.paper_id))
    assert [(link.citing_id, link.cited_id) for link in digest.links] == [(OTHER, PAPER)]
    asked = reader.compare([PAPER, OTHER], aspects=["What does a larger budget cost?"])
    assert [part.paper_id for part in asked.parts] == [OTHER]
    assert asked.warnings == [f"{PAPER} says too little on “What does a larger budget cost?”."]


def _of(digest: Digest, paper_id: str | None) -> list[object]:
    return [citation for citation in digest.citations if citation.paper_id == paper_id]


def test_a_survey_groups_papers_and_abstains_where_search_does(reader: Monjyu) -> None:
    digest = reader.survey("How do incremental indexes stay equal to full rebuilds?", papers=3)
    check(digest)
    assert digest.parts[0].heading == "Overview"
    assert 1 <= len(digest.papers) <= 3
    assert {part.paper_id for part in digest.parts[1:]} <= {paper.paper_id for paper in digest.papers}
    lazy = reader.survey("How do incremental indexes stay equal to full rebuilds?", papers=3, budget=20)
    assert lazy.usage.relevance_tests
    assert reader.survey("results of football matches").parts == []


def test_what_cannot_be_done_is_refused(reader: Monjyu) -> None:
    for wrong in ([PAPER], [PAPER] * 3, [PAPER, "nowhere"], [str(n) for n in range(7)]):
        with pytest.raises(QueryError):
            reader.compare(wrong)
    for number in (0, 31):
        with pytest.raises(QueryError):
            reader.survey("graphs", papers=number)
    with pytest.raises(QueryError):
        reader.summarize("nowhere")


def test_a_model_writes_first_and_only_what_the_paper_says(sample_data: Path, answer_model: FakeModels) -> None:
    [sentence, *_] = [s.text for s in Monjyu(sample_data).summarize(PAPER, length="short").parts[-1].statements]
    answer_model.default = say(f"{sentence[:-1]} [1]. Bananas are yellow fruits [1].")
    digest = Monjyu(sample_data).summarize(PAPER)
    check(digest)
    assert (digest.parts[0].heading, digest.parts[0].engine) == ("Summary", "llm")
    assert [statement.text.rstrip(".") for statement in digest.parts[0].statements] == [sentence.rstrip(".")]
    assert {part.engine for part in digest.parts[1:]} == {"extractive"}
    assert digest.usage.llm_calls == 1
    compared = Monjyu(sample_data).compare([PAPER, OTHER])
    assert compared.usage.llm_calls == 1
    check(compared)


def test_where_the_model_fails_the_papers_own_sentences_remain(sample_data: Path, answer_model: FakeModels) -> None:
    answer_model.default = failing(500)
    digest = Monjyu(sample_data).summarize(PAPER)
    check(digest)
    assert digest.status == "partial"
    assert {part.engine for part in digest.parts} == {"extractive"}
    assert digest.warnings[0].startswith("No answer by the model")
