"""Lazy search of the sample papers, at level 0 and over communities made for the test."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.folders import DataFolder
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.evaluation.lazy_quality import read_questions
from monjyu_query.knowledge.concept_graph import ConceptGraph, read_tree
from monjyu_query.modes.lazy import lazy_search as engine
from monjyu_query.modes.lazy import refine as refining
from monjyu_query.modes.lazy.judgements import JudgementStore
from monjyu_query.search.searcher import Searcher
from tests.conftest import call_monjyu

QUESTION = "How does search under a relevance budget test the passages of communities?"
VOLATILE = {"trace_id", "usage", "phases"}


pytestmark = pytest.mark.usefixtures("without_reader")


@pytest.fixture
def searcher(sample_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Searcher:
    """With a judgement store of its own."""
    monkeypatch.setattr(engine, "open_judgements", lambda *_: JudgementStore(tmp_path))
    return Searcher(DataFolder(sample_data), "samples")


@pytest.fixture
def reading(searcher: Searcher, sample_data: Path) -> Searcher:
    """The same with the reader."""
    return Searcher(DataFolder(sample_data), "samples", instead={"search": {"reader": "auto"}})


def ask(searcher: Searcher, query: str = QUESTION, **more: Any) -> SearchResult:
    return searcher.search(make_request(query=query, collection="samples", mode="lazy", **more))


def content(result: SearchResult) -> dict[str, Any]:
    told = result.model_dump(exclude=VOLATILE)
    for claim in told["claims"]:
        claim.pop("extracted_at")
    return told


def test_it_answers_at_level_0_and_says_so(reading: Searcher) -> None:
    result = ask(reading, budget=20)
    assert (result.mode, result.status, result.verified, result.level) == ("lazy", "complete", True, 0)
    assert any("Level 1 is not built" in warning for warning in result.warnings)
    assert result.subqueries == [QUESTION], "it asks for one thing"
    assert result.communities_visited == [] and result.usage.budget_total == 20
    assert 0 < result.usage.relevance_tests <= 20 and result.usage.llm_calls == 0
    tested = {hit.chunk_id for hit in ask(reading, budget=20, top_k=100).hits}
    assert result.claims and {citation.chunk_id for citation in result.citations} <= tested
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("budget", [1, 2, 7, 20])
def test_the_budget_is_exact(reading: Searcher, budget: int) -> None:
    assert ask(reading, budget=budget).usage.relevance_tests == budget


def test_a_larger_budget_pays_for_what_is_new_and_the_result_is_that_of_a_cold_store(
    sample_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the plain assessor, whose judgements are kept."""
    monkeypatch.setenv("MONJYU_ROLES__ASSESS__ENGINE", "extractive")
    monkeypatch.setattr(engine, "open_judgements", lambda *_: JudgementStore(tmp_path))
    searcher = Searcher(DataFolder(sample_data), "samples")
    cold = ask(searcher, budget=10)
    warm = ask(searcher, budget=25)
    assert (cold.usage.cache_hits, warm.usage.cache_hits, warm.usage.relevance_tests) == (0, 10, 25)
    again = ask(searcher, budget=25)
    assert again.usage.cache_hits == again.usage.relevance_tests == 25
    monkeypatch.setattr(engine, "open_judgements", lambda *_: JudgementStore(tmp_path / "other"))
    alone = ask(Searcher(DataFolder(sample_data), "samples"), budget=25)
    assert alone.usage.cache_hits == 0
    assert content(alone) == content(warm) == content(again)


def test_a_store_that_fails_costs_nothing_but_time(searcher: Searcher, tmp_path: Path) -> None:
    before = ask(searcher, budget=12)
    for file in tmp_path.glob("judgements.sqlite*"):
        file.write_bytes(b"no database" * 1000)
    after = ask(searcher, budget=12)
    assert content(after) == content(before) and after.usage.cache_hits == 0


def test_the_store_holds_no_text(sample_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_ROLES__ASSESS__ENGINE", "extractive")
    monkeypatch.setattr(engine, "open_judgements", lambda *_: JudgementStore(tmp_path))
    ask(Searcher(DataFolder(sample_data), "samples"), budget=5)
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("judgements.sqlite*"))
    assert stored and b"relevance" not in stored and b"communit" not in stored.lower()


def test_a_budget_of_0_is_the_answer_of_vector(reading: Searcher) -> None:
    nothing = ask(reading, budget=0)
    vector = reading.search(make_request(query=QUESTION, collection="samples", mode="vector"))
    assert nothing.answer == vector.answer and nothing.usage.relevance_tests == 0
    assert any("budget of 0" in warning for warning in nothing.warnings)
    assert [hit.chunk_id for hit in nothing.hits[:5]] == [hit.chunk_id for hit in vector.hits[:5]]


@pytest.mark.parametrize("query", ["best pizza recipe", "?"])
def test_it_abstains(reading: Searcher, query: str) -> None:
    result = ask(reading, query, budget=20)
    assert result.status == "abstained" and len(result.citations) <= 1


def test_filters_hold(searcher: Searcher) -> None:
    usual = ask(searcher)
    paper = usual.hits[0].paper_id
    assert 20 < usual.usage.relevance_tests <= usual.usage.budget_total == 100
    result = ask(searcher, filters={"paper_ids": [paper]})
    assert result.hits and {hit.paper_id for hit in result.hits} == {paper}


def test_events_tell_what_happens(searcher: Searcher) -> None:
    events: list[dict[str, Any]] = []
    result = searcher.search(make_request(query=QUESTION, collection="samples", mode="lazy", budget=9), events.append)
    kinds = [event["event"] for event in events]
    assert kinds.count("test") == 9 and kinds.count("claim") == len(result.claims)
    assert [event["text"] for event in events if event["event"] == "subquery"] == result.subqueries
    assert [e for e in events if e["event"] == "budget"][-1] == {"event": "budget", "used": 9, "total": 9}
    phases = [event["name"] for event in events if event["event"] == "phase"]
    assert phases == ["refine", "match", "map", "reduce"] and set(phases) < set(result.phases)
    told = [(event["event"], event["name"]) for event in events if event["event"].startswith("phase")]
    assert told == [(kind, name) for name in phases for kind in ("phase_start", "phase")][1:]
    first_test, matching = kinds.index("test"), events.index({"event": "phase_start", "name": "match"})
    assert matching < first_test
    tested = [event["chunk_id"] for event in events if event["event"] == "test"]
    assert len(set(tested)) == 9
    json.dumps(events)


def test_cancelling_gives_what_there_is(searcher: Searcher) -> None:
    cancel = threading.Event()

    def listen(event: dict[str, Any]) -> None:
        if event["event"] == "budget":
            cancel.set()

    result = searcher.search(make_request(query=QUESTION, collection="samples", mode="lazy"), listen, cancel)
    assert result.status == "partial" and any("cancelled" in warning for warning in result.warnings)
    assert 0 < result.usage.relevance_tests <= 25 and result.hits
    assert result.lazy is not None and result.lazy.ended == "cancelled"


@pytest.fixture
def communities(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], duckdb.DuckDBPyConnection]]:
    """Level 1 as a DuckDB beside the snapshot's: a community a paper, with one child, the last paper in none."""
    index = searcher.current()
    corpus = index.corpus
    database = duckdb.connect(":memory:")
    database.execute("CREATE TABLE communities (community_id VARCHAR, level INT, parent_id VARCHAR, size INT)")
    database.execute("ALTER TABLE communities ADD COLUMN top_phrases VARCHAR[]")
    database.execute("CREATE TABLE chunk_communities (chunk_id VARCHAR, community_id VARCHAR, level INT, share FLOAT)")
    database.execute("CREATE TABLE graph_nodes (phrase VARCHAR, surface VARCHAR, df INT, papers INT, tfidf DOUBLE)")
    database.execute("CREATE TABLE graph_edges (source VARCHAR, target VARCHAR, cooccurrences INT, weight DOUBLE)")
    for place, paper in enumerate(corpus.paper_ids[:-1]):
        database.execute(
            "INSERT INTO communities VALUES (?, 0, NULL, 5, NULL), (?, 1, ?, 2, NULL)", [paper, f"{paper}/1", paper]
        )
        for order, row in enumerate((corpus.paper == place).nonzero()[0]):
            chunk = corpus.chunk_ids[row]
            database.execute("INSERT INTO chunk_communities VALUES (?, ?, 0, 1)", [chunk, paper])
            if order % 2:
                database.execute("INSERT INTO chunk_communities VALUES (?, ?, 1, 1)", [chunk, f"{paper}/1"])
    nodes = [("relevance budget", "relevance budget", 9, 1, 2.0), ("community", "communities", 20, 3, 1.0)]
    nodes += [("assessor", "assessor", 4, 2, 3.0), ("sentence", "sentences", 9, 3, 1.0)]
    database.executemany("INSERT INTO graph_nodes VALUES (?, ?, ?, ?, ?)", nodes)
    edges = [("assessor", "relevance budget", 3, 0.5), ("community", "sentence", 2, 0.1)]
    database.executemany("INSERT INTO graph_edges VALUES (?, ?, ?, ?)", edges)
    database.execute("CREATE TABLE phrase_mentions (chunk_id VARCHAR, phrase VARCHAR, surface VARCHAR)")
    for chunk, text in index.snapshot.cursor().execute("SELECT chunk_id, lower(text) FROM chunks").fetchall():
        held = [(chunk, phrase, surface) for phrase, surface, *_ in nodes if surface.lower() in text]
        for mention in held:
            database.execute("INSERT INTO phrase_mentions VALUES (?, ?, ?)", mention)
    monkeypatch.setattr(refining, "level_of", lambda _: 1)
    monkeypatch.setattr(engine, "read_tree", lambda _, corpus: read_tree(database.cursor(), corpus))
    monkeypatch.setattr(ConceptGraph, "of", classmethod(lambda cls, _: cls(database.cursor(), True)))
    yield database.cursor
    database.close()


def test_communities_are_visited_and_concepts_expand_the_question(
    reading: Searcher, communities: Callable[[], duckdb.DuckDBPyConnection]
) -> None:
    result = ask(reading, budget=20)
    papers = reading.current().corpus.paper_ids
    assert result.communities_visited and {name.split("/")[0] for name in result.communities_visited} <= set(papers)
    assert result.lazy is not None
    assert any(one.id.startswith("relevance-budget") and one.relevant for one in result.lazy.communities)
    assert not any("Level 1" in warning for warning in result.warnings)
    assert result.status == "complete" and result.citations


def test_the_graph_is_read(communities: Callable[[], duckdb.DuckDBPyConnection]) -> None:
    graph = ConceptGraph(communities(), True)
    assert [concept.phrase for concept in graph.neighbours(["relevance budget"], 3)["relevance budget"]] == ["assessor"]
    assert [concept.surface for concept in graph.candidates(["communit"])] == ["communities"]
    assert graph.subgraph(["assessor", "relevance budget", "community"]) == [("assessor", "relevance budget", 0.5)]


def test_the_command_streams_events_and_the_result_last(sample_data: Path) -> None:
    command = ["search", QUESTION, "-c", "samples", "--mode", "lazy", "--budget", "12", "--stream", "--json"]
    done = call_monjyu(sample_data, *command)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds[0] == "subquery" and kinds[-2:] == ["answer", "done"] and kinds.count("test") == 12
    assert events[-1]["usage"]["budget_total"] == 12 and events[-1]["claims"]


def test_a_wrong_line_of_questions_is_named(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"id": 1, "text": "x"}\n')
    with pytest.raises(ConfigurationError, match="line 1"):
        read_questions(tmp_path / "q.jsonl")


def test_a_lowest_score_holds_for_hits_and_evidence(searcher: Searcher) -> None:
    scores = [hit.score for hit in ask(searcher).hits]
    found = ask(searcher, min_score=scores[1])
    assert [hit.score for hit in found.hits] == [score for score in scores if score >= scores[1]]
    chunks = {hit.chunk_id for hit in found.hits}
    assert {citation.chunk_id for citation in found.citations} <= chunks
    assert {claim["chunk_id"] for claim in found.claims} <= chunks
    nothing = ask(searcher, min_score=11)
    assert (nothing.status, nothing.hits, nothing.citations, nothing.claims) == ("abstained", [], [], [])
    assert "reaches the score 11" in nothing.answer
