"""Question sets from the noun graph of the sample papers, and lazy search measured on them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monjyu_core.errors import QueryError
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import Snapshot, open_current
from monjyu_query.asking.request import make_request
from monjyu_query.evaluation import KINDS
from monjyu_query.evaluation.lazy_quality import HYBRID, Evidence, GoldQuestion, Run, read_questions, run
from monjyu_query.evaluation.lazy_summary import MEASURES, by_kind, draw, summary, table, with_gold
from monjyu_query.evaluation.question_generation import generate, paraphrased
from monjyu_query.evaluation.question_structure import Structure
from monjyu_query.search.searcher import Searcher
from tests.conftest import call_monjyu

MANY = 12


@pytest.fixture(scope="module")
def snapshot(level_1_data: Path) -> Iterator[Snapshot]:
    opened = open_current(DataFolder(level_1_data).collection("samples"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def structure(snapshot: Snapshot) -> Structure:
    return Structure.of(snapshot)


@pytest.fixture(scope="module")
def made(structure: Structure) -> list[dict[str, Any]]:
    return generate(structure, KINDS, 4, 3)


def test_gold_stands_in_the_collection_and_fits_the_kind(structure: Structure, made: list[dict[str, Any]]) -> None:
    texts = {(sentence.paper_id, sentence.text): sentence for sentence in structure.sentences}
    assert set(Counter(question["kind"] for question in made)) >= {"fact", "relation", "community", "unanswerable"}
    for question in made:
        gold = [texts[g["paper_id"], g["sentence"]] for g in question["gold"]]
        assert question["text"] not in {sentence.text for sentence in gold}
        if question["kind"] == "fact":
            assert len(gold) == 1
        elif question["kind"] == "unanswerable":
            assert gold == []
        else:
            assert len(gold) >= 3 and len({sentence.paper_id for sentence in gold}) >= 2


def test_facts_ask_for_one_sentence_and_relations_for_all_of_them(
    structure: Structure, made: list[dict[str, Any]]
) -> None:
    for question in made:
        text = question["text"].casefold()
        asked = [phrase for phrase in structure.phrases.values() if phrase.occurs_in(text)]
        if question["kind"] in ("fact", "relation"):
            gold = {g["sentence"] for g in question["gold"]}
            assert asked and {sentence.text for sentence in structure.sentences_with(asked)} <= gold


def test_phrases_are_whole_words(structure: Structure) -> None:
    phrase = next(phrase for phrase in structure.phrases.values() if phrase.surface.isalpha())
    assert phrase.occurs_in(f"the {phrase.surface.casefold()}.")
    assert not phrase.occurs_in(f"un{phrase.surface.casefold()}able")


def test_the_seed_decides(structure: Structure, made: list[dict[str, Any]]) -> None:
    assert generate(structure, KINDS, 4, 3) == made != generate(structure, KINDS, 4, 4)
    assert {q["kind"] for q in generate(structure, ["fact"], 2, 0)} == {"fact"}


def test_without_a_graph_there_are_no_questions(sample_data: Path) -> None:
    with pytest.raises(QueryError, match="level 1"):
        Structure.of(open_current(DataFolder(sample_data).collection("samples")))


def test_more_tests_find_more_and_hybrid_gets_as_many_passages(
    level_1_data: Path, snapshot: Snapshot, made: list[dict[str, Any]]
) -> None:
    questions = [
        GoldQuestion(q["id"], q["text"], frozenset((g["paper_id"], g["sentence"]) for g in q["gold"]), q["kind"])
        for q in [next(q for q in made if q["kind"] == kind) for kind in ("fact", "relation")]
    ]
    searcher = Searcher(DataFolder(level_1_data), "samples")
    runs = list(run(searcher, Evidence(snapshot), questions, [0, 2, MANY]))
    found = summary(runs, [0, 2, MANY])
    assert [set(row) for row in found["budgets"]] == 3 * [{"budget", *MEASURES}]
    nothing, few, many = found["budgets"]
    assert (nothing["tests"], few["tests"], nothing["llm_calls"]) == (0, 2, 0)
    assert few["evidence_recall"] < many["evidence_recall"] >= 0.5
    for most in (r for r in runs if r.budget == MANY):
        hybrid = next(r for r in runs if r.budget == HYBRID and r.question is most.question)
        assert hybrid.values["passages"] <= max(1, most.values["passages"])


def test_a_question_has_another_wording() -> None:
    assert (
        paraphrased("relation", "What do the papers report on participants and student feedback?")
        == "What connects participants with feedback of student?"
    )
    listed = paraphrased("community", "Give an overview of source code, control and experiments.")
    assert listed == "What are the findings on code of source, control and experiments?"
    assert paraphrased("fact", "解析について何が述べられているか。") == "解析について何が書かれているか。"


def runs_of(kind: str, gold: int, lazy: list[float], hybrid: list[float]) -> list[Run]:
    pairs = frozenset((f"p{n % 2}", f"s{n}") for n in range(gold))
    found = []
    for n, (mine, other) in enumerate(zip(lazy, hybrid, strict=True)):
        question = GoldQuestion(f"{kind}{n}", "q", pairs, kind)
        rest = dict.fromkeys((*MEASURES[1:], "passages"), 0.0)
        for budget, recall in ((100, mine), (HYBRID, other)):
            found.append(Run(question, budget, {"evidence_recall": recall, "abstained": float(not gold)} | rest))
    return found


def test_differences_are_paired_and_have_intervals(tmp_path: Path) -> None:
    runs = runs_of("relation", 4, [1.0, 0.5, 0.75, 1.0], [0.5, 0.5, 0.25, 0.5]) + runs_of("none", 0, [0.0], [0.0])
    figures = by_kind(runs, [100])
    assert [(found.kind, found.questions) for found in figures] == [
        ("relation", 4),
        ("none", 1),
        ("three or more, of two papers", 4),
    ]
    mean, (low, high) = figures[0].difference
    assert mean == 0.375 and 0 <= low < mean < high <= 0.5
    assert figures[1].abstained[100] == 1.0
    shown = table(figures, with_gold([run.question for run in runs]))
    assert "lazy minus hybrid (same number of passages): +0.375" in shown and shown.count("evidence recall") == 4
    draw(figures, {"relation"}, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert summary(runs, [100])["hybrid"]["evidence_recall"] == 0.4375, "only questions with gold count"


@pytest.mark.usefixtures("without_reader")
def test_questions_with_spans_get_the_sentences_that_they_cover(level_1_data: Path, tmp_path: Path) -> None:
    searcher = Searcher(DataFolder(level_1_data), "samples")
    cursor = searcher.current().snapshot.cursor()
    paper, text = cursor.execute(
        "SELECT paper_id, text FROM sentences WHERE text LIKE '%Leiden algorithm repairs%' LIMIT 1"
    ).fetchall()[0]
    line = {"id": "1", "text": "What does Leiden repair?", "doc": paper, "answers": [{"text": text, "start": 0}]}
    (tmp_path / "q.jsonl").write_text(json.dumps(line))
    [question] = read_questions(tmp_path / "q.jsonl", searcher.current().snapshot)
    assert question.gold == {(paper, " ".join(text.split()))} and question.doc == paper
    runs = list(run(searcher, Evidence(searcher.current().snapshot), [question], [30], within_paper=True))
    assert [one.values["evidence_in_hits"] for one in runs] == [1.0, 1.0]


@pytest.mark.usefixtures("without_reader")
def test_the_commands(level_1_data: Path, tmp_path: Path) -> None:
    out, plot = tmp_path / "q.jsonl", tmp_path / "plot.svg"
    done = call_monjyu(level_1_data, "eval", "questions", "-o", out, "--count", "1", "--kind", "fact", "--json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"questions": 1, "kinds": {"fact": 1}}), done.stderr
    assert [question.kind for question in read_questions(out)] == ["fact"]
    done = call_monjyu(level_1_data, "eval", "lazy", "--questions", out, "--budgets", "0,10", "--plot", plot, "--json")
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == {"budgets", "hybrid"} and "<svg" in plot.read_text()
    assert "fact (1 question" in done.stderr


@pytest.mark.usefixtures("without_reader")
@pytest.mark.parametrize("mode", ["vector", "keyword", "hybrid"])
def test_related_terms_are_added(level_1_data: Path, sample_data: Path, mode: str) -> None:
    for data in (level_1_data, sample_data):
        searcher = Searcher(DataFolder(data), "samples")
        asked: dict[str, Any] = {
            "query": "What does the Leiden algorithm repair?",
            "collection": "samples",
            "mode": mode,
        }
        plain, more = (searcher.search(make_request(**asked, expand=n)) for n in (0, 3))
        assert plain.subqueries == [] and len(more.subqueries) == 1
        added = more.subqueries[0].removeprefix(asked["query"])
        assert 1 <= len(added.strip(" ()").split(", ")) <= 3
        assert more.citations and [h.score for h in more.hits] != [h.score for h in plain.hits]


@pytest.mark.usefixtures("without_reader")
def test_the_form_of_the_answer(level_1_data: Path) -> None:
    searcher = Searcher(DataFolder(level_1_data), "samples")
    asked: dict[str, Any] = {"query": "What do the papers say about communities?", "collection": "samples"}
    for more in ({"mode": "hybrid"}, {"mode": "lazy", "budget": 25}):
        whole, short, listed, paragraphs = (
            searcher.search(make_request(**asked, **more, response_type=kind))
            for kind in (None, "short", "list", "paragraphs")
        )
        assert 1 <= len(short.citations) <= min(2, len(whole.citations))
        listing, _, noted = listed.answer.partition("\n\n")
        assert [line[:2] for line in listing.split("\n")] == ["- "] * len(listed.citations)
        papers = list(dict.fromkeys(citation.paper_id for citation in paragraphs.citations))
        assert len(paragraphs.answer.split("\n\n")) == len(papers) + bool(noted)
