"""Summaries, comparisons and surveys: each sentence cited, by sections or by a model that is checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_core.errors import QueryError
from monjyu_query import Monjyu
from monjyu_query.digests.result import Digest
from tests.conftest import call_monjyu
from tests.core.models.fake_server import FakeModels, failing, say

PAPER, OTHER = "answer-provenance-ac1d5330", "relevance-budget-438725c6"


@pytest.fixture(scope="module")
def reader(sample_data: Path) -> Monjyu:
    return Monjyu(sample_data)


def check(digest: Digest) -> None:
    """Numbers are those of the citations in order of use, none is idle, and no part is empty."""
    said = [statement for part in digest.parts for statement in part.statements]
    cells = [cell for table in digest.tables for row in table.rows for cell in row]
    used = [n for one in (*said, *cells) for n in one.citations]
    assert list(dict.fromkeys(used)) == [citation.n for citation in digest.citations]
    assert [citation.n for citation in digest.citations] == list(range(1, len(digest.citations) + 1))
    assert all(part.statements for part in digest.parts)
    assert all(len(row) == len(table.columns) for table in digest.tables for row in table.rows)
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


def test_a_comparison_is_a_table_of_aspects_and_papers(reader: Monjyu) -> None:
    digest = reader.compare([PAPER, OTHER])
    check(digest)
    [table] = digest.tables
    assert table.columns == ["Aspect", *(paper.label for paper in digest.papers)]
    assert [row[0].text for row in table.rows][:1] == ["Purpose"]
    papers = {citation.n: citation.paper_id for citation in digest.citations}
    for row in table.rows:
        assert any(cell.citations for cell in row[1:]), "an aspect that no paper speaks of is left out"
        for cell, paper_id in zip(row[1:], (PAPER, OTHER), strict=True):
            assert {papers[n] for n in cell.citations} <= {paper_id}
            assert (cell.text == "–") is not bool(cell.citations)
    assert [(link.citing_id, link.cited_id) for link in digest.links] == [(OTHER, PAPER)]
    assert f"The references of {digest.papers[1].label} include {digest.papers[0].label}." in digest.text()
    assert "| Aspect |" in digest.text()


def test_aspects_in_words_are_searched_in_each_paper(reader: Monjyu) -> None:
    asked = reader.compare([PAPER, OTHER], aspects=["What does a larger budget cost?", "limitations"])
    check(asked)
    [table] = asked.tables
    assert table.rows[0][0].text == "What does a larger budget cost?"
    assert (table.rows[0][1].text, bool(table.rows[0][2].citations)) == ("–", True)
    assert asked.warnings[0] == f"{asked.papers[0].label} says too little about “What does a larger budget cost?”."
    japanese = reader.compare([PAPER, OTHER], aspects=["目的", "どのような手法か"])
    assert japanese.tables[0].columns[0] == "観点"
    assert all(cell.citations for cell in japanese.tables[0].rows[0][1:])


def test_a_survey_names_each_paper_and_ends_with_a_table(reader: Monjyu) -> None:
    digest = reader.survey("How do incremental indexes stay equal to full rebuilds?", papers=3)
    check(digest)
    assert 1 <= len(digest.papers) <= 3
    assert [part.paper_id for part in digest.parts] == [paper.paper_id for paper in digest.papers]
    for paper in digest.papers:
        assert f"**{paper.label}**: " in digest.text()
    assert digest.tables[0].columns[0] == "Paper"
    assert [row[0].paper_id for row in digest.tables[0].rows] == [paper.paper_id for paper in digest.papers]
    lazy = reader.survey("How do incremental indexes stay equal to full rebuilds?", papers=3, budget=20)
    assert lazy.usage.relevance_tests
    none = reader.survey("results of football matches")
    assert (none.parts, none.tables, none.status) == ([], [], "abstained")


def test_papers_are_named_by_words_of_their_titles(reader: Monjyu) -> None:
    assert reader.summarize("From Answer to Sentence").papers[0].paper_id == PAPER
    with pytest.raises(QueryError) as unknown:
        reader.summarize("From Ansver to Sentense")
    assert "Did you mean" in str(unknown.value)


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
    answer_model.default = lambda request: say(
        '{"sentences": []}'
        if "Some sentences" in request.prompt
        else f"{sentence[:-1]} [1]. Bananas are yellow fruits [1]."
    )
    digest = Monjyu(sample_data).summarize(PAPER)
    check(digest)
    assert (digest.parts[0].heading, digest.parts[0].engine) == ("Summary", "llm")
    assert [statement.text.rstrip(".") for statement in digest.parts[0].statements] == [sentence.rstrip(".")]
    assert {part.engine for part in digest.parts[1:]} == {"extractive"}
    assert digest.usage.llm_calls == 2, "the answer, and what it said of bananas once more"
    compared = Monjyu(sample_data).compare([PAPER, OTHER])
    assert compared.usage.llm_calls == 2
    check(compared)


def test_where_the_model_fails_the_papers_own_sentences_remain(sample_data: Path, answer_model: FakeModels) -> None:
    answer_model.default = failing(500)
    digest = Monjyu(sample_data).summarize(PAPER)
    check(digest)
    assert digest.status == "partial"
    assert {part.engine for part in digest.parts} == {"extractive"}
    assert digest.warnings[0].startswith("No answer by the model")


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Please summarise From Answer to Sentence", "summary"),
        (f"give me a summary of {PAPER}", "summary"),
        ("From Answer to Sentenceを要約してください。", "summary"),
        (f"Compare {PAPER} and {OTHER} on limitations", "comparison"),
        (f"compare From Answer to Sentence with {OTHER}", "comparison"),
        (f"{PAPER}と{OTHER}を比較して", "comparison"),
        ("Give me an overview of incremental indexing", "survey"),
        ("survey incremental indexing", "survey"),
    ],
)
def test_plain_words_reach_the_digests(reader: Monjyu, question: str, kind: str) -> None:
    result = reader.search(question)
    assert (result.mode, result.routing.query_type, result.status) == ("digest", kind, "complete")
    assert result.verified and result.routing.reason and result.trace_id and result.hits
    assert {hit.chunk_id for hit in result.hits} >= {
        citation.chunk_id for citation in result.citations
    } or kind == "survey"
    if kind != "summary":
        assert result.tables and "| --- |" in result.answer
    if "を" in question:
        assert "目的" in result.answer


@pytest.mark.parametrize(
    ("question", "heading"),
    [
        ("What are the main findings reported in the paper How Many Shards?", "Results"),
        ("What does the paper From Answer to Sentence conclude?", "Conclusion"),
        ("What is the purpose of From Answer to Sentence?", "Purpose"),
        ("What methods do the authors of From Answer to Sentence use?", "Method"),
        ("From Answer to Sentenceの目的は何ですか", "目的"),
    ],
)
def test_one_aspect_of_a_paper_is_told_as_in_its_summary(reader: Monjyu, question: str, heading: str) -> None:
    result = reader.search(question)
    assert (result.mode, result.status, result.verified) == ("digest", "complete", True)
    assert result.answer.startswith(f"**{heading} – ") and 1 <= len(result.citations) <= 3
    assert len({citation.paper_id for citation in result.citations}) == 1


@pytest.mark.usefixtures("without_reader")
def test_ordinary_questions_stay_searches(sample_data: Path) -> None:
    monjyu = Monjyu(sample_data)
    for question in (
        "Summarize the main findings",
        "compare budgets and ranks",
        "What does the survey of users show?",
        "Survey of older women: does exercise help?",
        "Give me an overview of the collection",
        "Compared with R, is Python faster?",
        "結果を要約して",
        "What is the purpose of the Leiden algorithm?",
        "What are the results of the survey in the paper From Answer to Sentence?",
        "What data does the paper From Answer to Sentence use?",
    ):
        assert monjyu.search(question).mode != "digest", question


def test_a_mode_or_a_budget_is_taken_at_its_word(reader: Monjyu) -> None:
    question = f"summarise {PAPER}"
    assert reader.search(question, mode="hybrid").mode == "hybrid"
    assert reader.search(question, answer=False).mode != "digest"
    assert reader.search("Summarise this paper", filters={"paper_ids": [PAPER]}).routing.query_type == "summary"


def test_a_paper_is_summarized_by_what_its_sentences_tell(tmp_path: Path) -> None:
    """Items, captions, headings and code are left out, others' findings too."""
    (tmp_path / "beams.md").write_text(BEAMS)
    done = call_monjyu(tmp_path / "data", "index", tmp_path / "beams.md", "-c", "beams", "--json")
    assert done.returncode == 0, done.stderr
    digest = Monjyu(tmp_path / "data").summarize("Beam Lessons")
    told = {part.heading: " ".join(said.text for said in part.statements) for part in digest.parts}
    assert told["Purpose"].startswith("Beam Lessons is a set of notebooks")
    assert "120 students" in told["For whom, and on what data"]
    assert "ten units" in told["Method"]
    assert "rose by 21 %" in told["Results"] and "Miller" not in told["Results"]
    assert "no control group" in told["Limitations"]
    assert "MIT licence" in told["Availability"]
    for text in told.values():
        assert "Figure 1" not in text and "•" not in text and "import beam" not in text


BEAMS = """---
title: "Beam Lessons: statics in notebooks"
authors:
  - Ada Berg
date: 2021-03-01
---

## Summary

Beam Lessons is a set of notebooks that teaches statics to engineers. The module grew over four years of teaching.

## Statement of need

However, few open lessons on statics exist, and students struggle with the signs of shear forces. Miller et al. (2010)
found that grades improved by 3 % with videos.

• Signs of forces are learned.

## Design

The course consists of ten units, each with a short lecture and exercises. Every unit ends with a quiz.

import beam as b; b.plot(x=3)

Figure 1: Results show a beam under load.

## Participants

In all, 120 students of the second year took part in the course.

## Results

We found that grades in the final test rose by 21 % compared with the year before.

## Limitations

A limitation of our evaluation is that there was no control group in any year.

## Availability

The notebooks are available on GitHub under the MIT licence.
"""
