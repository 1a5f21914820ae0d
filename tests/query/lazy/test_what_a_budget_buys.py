"""What larger budgets add, how a lazy search explains itself, and what a question may set."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest

from monjyu_core.errors import QueryError
from monjyu_core.storage.folders import DataFolder
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.knowledge.reports import read_by_models
from monjyu_query.search.searcher import Searcher

QUESTIONS = (
    "How does search under a relevance budget test the passages of communities?",
    "What must hold for an incremental index to equal a full rebuild?",
    "Compare Leiden and Louvain.",
)


@pytest.fixture(scope="module")
def searcher(level_1_data: Path) -> Searcher:
    return Searcher(DataFolder(level_1_data), "samples")


@pytest.fixture(scope="module")
def unread(level_1_data: Path) -> Searcher:
    """The same without the reader: for what is decided before a passage is judged, and by any judge."""
    return Searcher(DataFolder(level_1_data), "samples", instead={"search": {"reader": "off"}})


def ask(searcher: Searcher, query: str = QUESTIONS[0], **more: Any) -> SearchResult:
    return searcher.search(make_request(query=query, collection="samples", mode="lazy", **more))


def test_a_larger_budget_holds_all_that_a_smaller_one_found(searcher: Searcher, unread: Searcher) -> None:
    for judge, query, budgets in ((searcher, QUESTIONS[0], (10, 25, 40)), (unread, QUESTIONS[2], (10, 25, 100, 500))):
        results = [ask(judge, query, budget=budget, sufficiency="off") for budget in budgets]
        told = [result.lazy for result in results]
        found = [{sentence.sentence_id for sentence in one.sentences} for one in told if one is not None]
        assert len(found) == len(budgets) and all(small <= large for small, large in pairwise(found))
        assert all(sentence.score >= 5 for one in told if one for sentence in one.sentences), "at any budget"
    assert told[-1] is not None and told[-1].ended == "everything" and told[-1].frontier_left == 0
    assert any("exceeds the collection: " in warning and "all tested" in warning for warning in results[-1].warnings)


def test_small_budgets_walk_communities(searcher: Searcher) -> None:
    for budget in (10, 25):
        assert ask(searcher, budget=budget).communities_visited


def test_its_evidence_raises_questions_that_the_second_half_asks(
    level_1_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONJYU_SEARCH__LAZY__FOLLOW_UPS", "2")
    result = ask(Searcher(DataFolder(level_1_data), "samples"), budget=40, sufficiency="off")
    assert result.lazy is not None and result.usage.relevance_tests == 40
    raised = [one for one in result.lazy.subqueries if one.origin == "follow_up"]
    assert 0 < len(raised) <= 2 and all(one.tests for one in raised)
    assert result.lazy.subqueries[0].tests >= 20


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("What are the risks and benefits of a relevance budget?", 2),
        ("How do Leiden, Louvain and spectral clustering find communities?", 3),
        ("Compare Leiden and Louvain.", 2),
        ("What does an index hold? Which tests are made?", 2),
        ("How does search under a relevance budget test the passages of communities?", 0),
        ("What is trial and error?", 0),
        ("In short, which communities are found first?", 0),
    ],
)
def test_only_what_a_question_names_is_a_part_of_it(unread: Searcher, query: str, parts: int) -> None:
    assert len(ask(unread, query, budget=5, answer=False).subqueries) == 1 + parts


@pytest.mark.parametrize("query", QUESTIONS)
def test_nothing_that_hybrid_ranks_first_is_left_untested(unread: Searcher, query: str) -> None:
    hybrid = unread.search(make_request(query=query, collection="samples", mode="hybrid", top_k=10, answer=False))
    tested = {hit.chunk_id for hit in ask(unread, query, budget=30, top_k=100, answer=False).hits}
    assert {hit.chunk_id for hit in hybrid.hits} <= tested


def test_the_result_explains_itself(searcher: Searcher) -> None:
    result = ask(searcher, budget=40, sufficiency="off")
    told = result.lazy
    assert told is not None and (told.ended, told.rounds > 1) == ("budget", True)
    assert told.level_reached == 1
    assert sum(one.tests for one in told.subqueries) == 40 == result.usage.relevance_tests
    assert [one.text for one in told.subqueries] == result.subqueries
    assert sum(one.tested for one in told.communities) <= 40 and all(one.title for one in told.communities)
    scores = [sentence.score for sentence in told.sentences]
    assert scores == sorted(scores, reverse=True) and min(scores) >= 5
    origins = [one.origin for one in told.subqueries]
    assert origins[0] == "question" and set(origins[1:]) <= {"part"} and told.reasoning is None
    cursor = searcher.current().snapshot.cursor()
    places = cursor.execute(
        """SELECT ord, CASE WHEN len(spans) > 0 THEN spans[1].page END FROM sentences WHERE sentence_id = ?""",
        [told.sentences[0].sentence_id],
    ).fetchone()
    assert (told.sentences[0].position, told.sentences[0].page) == places
    assert any(sentence.page for sentence in told.sentences)
    names = {node.id for node in told.graph.nodes}
    assert (
        names and told.graph.edges and all(edge.source in names and edge.target in names for edge in told.graph.edges)
    )
    assert set(result.phases) == {"route", "refine", "match", "map", "reduce", "describe"}
    assert any(claim["concepts"] for claim in result.claims)
    best = told.sentences[0]
    assert best.community_id is not None, "what no community led to has the one that it is at home in"


def test_hits_say_why_they_were_found(searcher: Searcher) -> None:
    hit = ask(searcher, budget=40).hits[0]
    assert hit.scores is not None and hit.scores.vector_rank and hit.scores.keyword_rank
    assert "budget" in hit.scores.matched and hit.ord is not None and hit.authors


def test_a_question_sets_its_own_limits(unread: Searcher) -> None:
    flat = ask(unread, max_level=0)
    assert flat.lazy is not None and flat.lazy.level_reached == 0
    assert flat.communities_visited == [] and any("not used" in warning for warning in flat.warnings)
    assert ask(unread, subqueries=1).subqueries == [QUESTIONS[0]]
    enough = ask(unread, budget=500, sufficiency=3).lazy
    assert enough is not None and enough.ended == "enough"
    strict = ask(unread, threshold=8.0).lazy
    assert strict is not None and all(sentence.score >= 8 for sentence in strict.sentences)
    high = ask(unread, threshold="high").lazy
    assert high is not None and {sentence.relevance for sentence in high.sentences} == {"high"}
    with pytest.raises(QueryError, match="threshold: must be a number"):
        ask(unread, threshold="highest")


@pytest.mark.parametrize("option", [{"patience": 2}, {"max_level": 1}, {"sufficiency": "off"}, {"reasons": True}])
def test_what_only_lazy_understands_is_refused_elsewhere(unread: Searcher, option: dict[str, Any]) -> None:
    with pytest.raises(QueryError, match="mode lazy"):
        unread.search(make_request(query="x", collection="samples", mode="hybrid", **option))
    assert unread.search(make_request(query=QUESTIONS[0], collection="samples", **option)).mode == "lazy"


@pytest.mark.parametrize("query", ["What are the main themes of these papers?", "この論文集の主なテーマは何ですか。"])
def test_a_question_about_the_whole_collection_is_answered_paper_by_paper(unread: Searcher, query: str) -> None:
    small, large = (ask(unread, query, budget=budget) for budget in (100, 1500))
    assert small.status == large.status == "complete"
    papers = [len({citation.paper_id for citation in result.citations}) for result in (small, large)]
    assert papers[0] >= 5 and papers[1] >= papers[0]
    assert "### " in large.answer and any(segment.heading for segment in large.segments)


def test_a_report_and_a_table_are_given_where_they_are_asked_for(unread: Searcher) -> None:
    report = ask(unread, budget=100, response_type="report")
    assert len({c.paper_id for c in report.citations}) == 1 or any(segment.heading for segment in report.segments)
    table = ask(unread, budget=100, response_type="table")
    assert table.tables and len(table.tables[0].rows) == len(table.citations)


def test_claims_without_a_model_do_not_stand_in_the_way_of_one() -> None:
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE claims (chunk_id VARCHAR, engine VARCHAR)")
    connection.execute("INSERT INTO claims VALUES ('a', 'extractive-3')")
    assert read_by_models(connection, {"a", "b"}) == set(), "no model has read anything"
    connection.execute("INSERT INTO claims VALUES ('b', 'llm-1')")
    assert read_by_models(connection, {"a", "b", "c"}) == {"b", "c"}
