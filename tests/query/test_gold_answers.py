"""Gold spans: whether quotes have hold of them, and the measures of `monjyu eval answers`."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from monjyu_core.errors import ConfigurationError
from monjyu_query.evaluation.answer_quality import AnswerRun, summary
from monjyu_query.evaluation.gold_answers import Gold, PaperTexts, Quote, SpanQuestion, read_gold

TEXT = "Ships sail. The vaccine was given to 312 patients in two hospitals. It failed in nine of them. Doses were lost."
GOLD = "The vaccine was given to 312 patients in two hospitals."


@pytest.fixture
def papers() -> PaperTexts:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE sections (paper_id VARCHAR, section_ord INTEGER, text VARCHAR)")
    rows = [("p", 1, TEXT[40:]), ("p", 0, TEXT[:40]), ("q", 0, GOLD)]
    connection.executemany("INSERT INTO sections VALUES (?, ?, ?)", rows)
    return PaperTexts(connection.cursor())


def gold(papers: PaperTexts, *answers: str, doc: str | None = "p") -> Gold:
    return Gold(SpanQuestion("1", "How many patients?", doc, answers), papers)


def test_the_gold_sentence_in_other_white_space_and_over_two_sections(papers: PaperTexts) -> None:
    found = gold(papers, GOLD)
    assert found.share(Quote("p", GOLD.replace(" ", "\n "))) == (1.0, 1.0)
    assert found.is_found([Quote("p", GOLD)])
    assert found.is_evidence(Quote("p", GOLD))


def test_the_same_words_in_another_paper_are_not_the_gold(papers: PaperTexts) -> None:
    assert not gold(papers, GOLD).is_found([Quote("q", GOLD)])


def test_a_quote_that_lies_in_a_long_span_by_eight_tenths(papers: PaperTexts) -> None:
    long = TEXT[12:]
    assert gold(papers, long).is_found([Quote("p", "It failed in nine of them.")])
    assert not gold(papers, long).is_found([Quote("p", "Ships sail. The")])


def test_quotes_that_cover_half_of_it_together(papers: PaperTexts) -> None:
    found = gold(papers, f"{GOLD} It failed")
    assert not found.is_found([Quote("p", "Ships sail. The vaccine")])
    quotes = [
        Quote("p", "Ships sail. The vaccine was given"),
        Quote("p", "in two hospitals. It failed in nine of them."),
    ]
    assert found.is_found(quotes)
    assert not found.is_found([quotes[0], quotes[0]]), "a quote counts once"


def test_answers_of_any_paper_where_none_is_named(papers: PaperTexts) -> None:
    found = gold(papers, "312 patients", doc=None)
    assert found.known
    assert found.is_found([Quote("q", GOLD)])
    assert not found.is_found([Quote("q", "Three hundred patients")])


def test_a_question_without_gold_measures_none(papers: PaperTexts) -> None:
    assert not gold(papers).known
    assert not gold(papers, "No such words.").known
    assert not gold(papers, GOLD, doc="unknown").known


def test_questions_are_read_and_wrong_lines_named(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    lines = [
        {"id": 1, "text": "a", "doc": 5, "answers": [{"text": "x", "start": 3}]},
        {"id": "2", "text": "b", "answers": ["y"]},
        {"id": "3", "text": "c"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    first, second, third = read_gold(path)
    assert (first.question_id, first.doc, first.answers) == ("1", "5", ("x",))
    assert (second.doc, second.answers, third.answers) == (None, ("y",), ())
    for wrong in ('{"id": "4"}', "[]", '{"id": "4", "text": ""}', '{"id": "4", "text": "d", "answers": [{}]}'):
        path.write_text('{"id": "0", "text": "fine"}\n' + wrong)
        with pytest.raises(ConfigurationError, match="line 2"):
            read_gold(path)


def test_means_are_over_the_answers_that_have_the_measure() -> None:
    runs = [
        AnswerRun({"abstained": 0.0, "partly": 0.0, "words": 30.0, "gold_in_citations": 1.0, "gold_in_hits": 1.0}, 0.1),
        AnswerRun({"abstained": 1.0, "partly": 0.0, "words": 0.0}, 0.3),
    ]
    found = summary(runs)
    assert (found["questions"], found["gold_in_citations"], found["abstained"], found["words"]) == (2, 1.0, 0.5, 15.0)
    assert found["quote_precision"] is None
    assert found["p50_ms"] == 200.0
    low, high = found["intervals"]["abstained"]
    assert 0 <= low <= 0.5 <= high <= 1
    assert "quote_precision" not in found["intervals"]
