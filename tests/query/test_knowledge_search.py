"""Modes local, global and multi and the controllers over levels 2 to 4, without a model."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from monjyu_core.errors import QueryError
from monjyu_core.storage.folders import DataFolder
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import Citation, SearchResult
from monjyu_query.knowledge.reports import Report, Reports
from monjyu_query.modes.global_question import dynamic_selection, static_selection
from monjyu_query.search.searcher import Searcher
from tests.conftest import call_monjyu

LEIDEN = "What does the Leiden algorithm guarantee that Louvain does not?"
WHOLE = "What are the main themes of these papers?"


@pytest.fixture(scope="module")
def searcher(known_data: Path) -> Searcher:
    return Searcher(DataFolder(known_data), "samples")


def ask(searcher: Searcher, query: str, emit: Any = None, cancel: Any = None, **more: Any) -> SearchResult:
    return searcher.search(make_request(query=query, collection="samples", **more), emit, cancel)


def stands(searcher: Searcher, citation: Citation) -> bool:
    """Whether the quote is, letter by letter, what stands in the paper from the first of its sentences to the last."""
    rows = (
        searcher.current()
        .snapshot.cursor()
        .execute(
            "SELECT s.text, s.paper_id, t.text FROM sentences s JOIN sections t USING (paper_id, section_ord) "
            "WHERE list_contains(?, sentence_id) ORDER BY s.ord",
            [citation.sentence_ids],
        )
        .fetchall()
    )
    ends = citation.quote.startswith(rows[0][0]) and citation.quote.endswith(rows[-1][0])
    return ends and {row[1] for row in rows} == {citation.paper_id} and all(citation.quote in row[2] for row in rows)


@pytest.mark.parametrize("mode", ["local", "global", "multi"])
def test_every_sentence_is_followed_to_its_source(searcher: Searcher, mode: str) -> None:
    result = ask(searcher, LEIDEN, mode=mode)
    assert (result.mode, result.status, result.verified, result.level) == (mode, "complete", True, 4)
    assert result.citations and all(stands(searcher, citation) for citation in result.citations)
    assert result.answer.count("[") >= len(result.citations)
    assert result.usage.llm_calls == 0


def test_local_answers_from_the_neighbourhood_of_entities(searcher: Searcher) -> None:
    result = ask(searcher, LEIDEN, mode="local")
    assert "guarantees that communities are connected" in result.answer
    assert {claim["engine"] for claim in result.claims} == {"extractive-1", "llm-1"}
    assert any(claim["statement"].startswith("Leiden algorithm (method): ") for claim in result.claims)
    assert any("improves on Louvain" in claim["statement"] for claim in result.claims)
    assert "graph/leiden" in result.communities_visited and "storage" not in result.communities_visited
    scores = [claim["score"] for claim in result.claims]
    assert scores == sorted(scores, reverse=True)


def test_local_finds_passages_that_only_name_an_entity(searcher: Searcher) -> None:
    """Its hits are in another order than those of hybrid: names count."""
    local, hybrid = (ask(searcher, "reader leases", mode=mode) for mode in ("local", "hybrid"))
    assert {hit.chunk_id for hit in local.hits} & {hit.chunk_id for hit in hybrid.hits}
    assert [hit.chunk_id for hit in local.hits] != [hit.chunk_id for hit in hybrid.hits]


@pytest.mark.parametrize(("share", "some"), [("text_share", "reports"), ("report_share", "reports")])
def test_shares_of_the_context_are_kept(
    known_data: Path, monkeypatch: pytest.MonkeyPatch, share: str, some: str
) -> None:
    whole = ask(Searcher(DataFolder(known_data), "samples"), LEIDEN, mode="local")
    for name, value in {"text_share": 0.0, "report_share": 0.0, share: 1.0}.items():
        monkeypatch.setenv(f"MONJYU_SEARCH__LOCAL__{name.upper()}", str(value))
    cut = ask(Searcher(DataFolder(known_data), "samples"), LEIDEN, mode="local")
    reported = [claim for claim in cut.claims if claim["community_id"]]
    assert len(cut.claims) == len(reported) < len(whole.claims)
    assert bool(reported) == (share == "report_share")


def test_local_abstains_and_says_that_no_entity_is_near(searcher: Searcher) -> None:
    result = ask(searcher, "zzzz qqqq", mode="local")
    assert (result.status, result.citations) == ("abstained", [])


def test_global_tells_what_the_whole_collection_is_about(searcher: Searcher) -> None:
    result = ask(searcher, WHOLE, mode="global")
    assert result.status == "complete" and len({citation.paper_id for citation in result.citations}) >= 3
    assert set(result.communities_visited) == {"graph", "search", "storage"}
    assert result.claims and {claim["community_id"] for claim in result.claims} <= {"graph", "search", "storage"}


def test_global_goes_down_to_the_community_that_answers(searcher: Searcher) -> None:
    result = ask(searcher, "What may the Louvain method return?", mode="global")
    assert result.communities_visited == ["graph/leiden"] and "disconnected" in result.answer


def test_global_static_reads_a_level(known_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_SEARCH__REPORTS__SELECTION", "static")
    monkeypatch.setenv("MONJYU_SEARCH__REPORTS__LEVEL", "1")
    result = ask(Searcher(DataFolder(known_data), "samples"), WHOLE, mode="global")
    assert set(result.communities_visited) == {"graph/leiden", "search/fusion", "search/budget", "storage"}


@pytest.mark.parametrize("mode", ["global", "local", "multi"])
def test_filters_hold(searcher: Searcher, mode: str) -> None:
    paper = ask(searcher, "reader leases", mode="hybrid").hits[0].paper_id
    result = ask(searcher, "What is said of leases and provenance?", mode=mode, filters={"paper_ids": [paper]})
    assert result.hits and {hit.paper_id for hit in result.hits} == {paper}
    assert {claim["paper_id"] for claim in result.claims} <= {paper}
    assert {citation.paper_id for citation in result.citations} <= {paper}


@pytest.mark.parametrize("mode", ["local", "global", "multi"])
@pytest.mark.parametrize("query", ["best pizza recipe", "🦆"])
def test_what_the_papers_do_not_answer(searcher: Searcher, mode: str, query: str) -> None:
    result = ask(searcher, query, mode=mode, **({"budget": 20} if mode == "multi" else {}))
    assert result.status == "abstained" or all(stands(searcher, citation) for citation in result.citations)
    if query.startswith("best"):
        assert result.status == "abstained"


def test_multi_fuses_and_its_events_say_of_which_mode_they_are(searcher: Searcher) -> None:
    events: list[dict[str, Any]] = []
    result = ask(searcher, LEIDEN, events.append, mode="multi", budget=10)
    assert result.usage.relevance_tests == 10 and result.subqueries
    assert {event["mode"] for event in events if event["event"] == "community"} == {"local", "global"}
    assert {event["mode"] for event in events if event["event"] == "test"} == {"lazy"}
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True) and scores[0] > 1 / 21
    assert {claim["statement"] for claim in result.claims} >= {
        event["statement"] for event in events if event["event"] == "claim" and event["mode"] == "global"
    }
    json.dumps(events)


def test_multi_leaves_out_what_the_level_does_not_serve(sample_data: Path) -> None:
    result = ask(Searcher(DataFolder(sample_data), "samples"), LEIDEN, mode="multi", budget=5)
    assert result.status == "complete" and any("local, global" in warning for warning in result.warnings)


def test_a_question_names_the_modes_that_multi_joins(searcher: Searcher, sample_data: Path) -> None:
    events: list[dict[str, Any]] = []
    result = ask(searcher, LEIDEN, events.append, modes=["keyword", "global", "keyword"])
    assert result.mode == "multi" and "modes were named" in result.routing.reason
    assert {event["mode"] for event in events if "mode" in event} == {"global"}, "and no lazy search"
    assert len(result.hits) > 3 and result.hits[0].score <= 2 / 21 and not result.usage.relevance_tests
    low = Searcher(DataFolder(sample_data), "samples")
    with pytest.raises(QueryError, match="level 3"):
        ask(low, LEIDEN, modes=["hybrid", "global"])


def test_progressive_stops_where_the_answer_suffices(searcher: Searcher) -> None:
    easy = ask(searcher, "What is a reader lease?", controller="progressive")
    assert easy.mode == "hybrid" and easy.routing.reason.count("added") == 1 and easy.status == "complete"
    whole = ask(searcher, WHOLE, controller="progressive")
    assert whole.mode == "global" and whole.routing.reason.count("added") == 1
    assert len({citation.paper_id for citation in whole.citations}) >= 3


def test_progressive_climbs_to_the_end_and_abstains(searcher: Searcher) -> None:
    result = ask(searcher, "How are zebras fed?", controller="progressive", budget=5)
    assert result.status == "abstained" and result.routing.reason.count("added") == 3


def test_side_by_side_joins_the_modes_of_the_kind(searcher: Searcher) -> None:
    result = ask(searcher, "Compare the Leiden algorithm and the Louvain method.", controller="hybrid", budget=8)
    assert "Leiden" in result.answer and "Louvain" in result.answer
    assert result.mode == "multi" and "side by side" in result.routing.reason
    assert "local" in result.routing.reason and "hybrid" in result.routing.reason and result.status == "complete"


@pytest.mark.parametrize("how", [{"mode": "multi"}, {"controller": "progressive"}, {"controller": "hybrid"}])
def test_cancelling_gives_what_there_is(searcher: Searcher, how: dict[str, str]) -> None:
    cancel = threading.Event()
    cancel.set()
    result = ask(searcher, "How is relevance tested under a budget?", None, cancel, **how)
    assert result.status in ("partial", "abstained") and result.usage.relevance_tests == 0


def test_one_trace_for_all_modes(searcher: Searcher) -> None:
    first, second = (ask(searcher, LEIDEN, mode="multi", budget=5) for _ in range(2))
    assert first.trace_id != second.trace_id
    assert first.model_dump(exclude={"trace_id", "usage", "phases"}) == second.model_dump(
        exclude={"trace_id", "usage", "phases"}
    )


def test_the_command_knows_controllers(known_data: Path) -> None:
    done = call_monjyu(known_data, "search", LEIDEN, "-c", "samples", "--controller", "progressive", "--json")
    assert done.returncode == 0, done.stderr
    assert "controller progressive" in json.loads(done.stdout)["routing"]["reason"]


def tree(*shape: tuple[str, int, str | None]) -> Reports:
    import numpy as np

    made = tuple(Report(name, level, parent, name, "", (), 5.0, name, "x") for name, level, parent in shape)
    return Reports(made, np.zeros((0, 0), np.float32))


SHAPE = tree(("a", 0, None), ("b", 0, None), ("aa", 1, "a"), ("ab", 1, "a"), ("ba", 1, "b"), ("aaa", 2, "aa"))


@pytest.mark.parametrize(
    ("relevant", "kept", "rated"),
    [
        ("a aa", ["aa"], "a b aa ab aaa"),
        ("a", ["a"], "a b aa ab"),
        ("a aa aaa", ["aaa"], "a b aa ab aaa"),
        ("a aa ab", ["aa", "ab"], "a b aa ab aaa"),
        ("ba", ["ba"], "a b aa ab ba"),
        ("", [], "a b aa ab ba aaa"),
    ],
)
def test_dynamic_selection_follows_what_is_relevant(relevant: str, kept: list[str], rated: str) -> None:
    names = [report.id for report in SHAPE.all]
    asked: list[str] = []

    def rate(places: Any) -> list[float]:
        asked.extend(names[place] for place in places)
        return [9.0 if names[place] in relevant.split() else 0.0 for place in places]

    found = dynamic_selection(SHAPE, rate, 3.0)
    assert [names[place] for place in found] == kept
    assert sorted(asked) == sorted(rated.split())


def test_static_selection_takes_leaves_above_the_level() -> None:
    names = [report.id for report in SHAPE.all]
    assert [names[place] for place in static_selection(SHAPE, 2)] == ["ab", "ba", "aaa"]
    assert [names[place] for place in static_selection(SHAPE, 0)] == ["a", "b"]


def test_a_lowest_score_holds_in_global_and_is_refused_of_ranks(searcher: Searcher) -> None:
    scores = [claim["score"] for claim in ask(searcher, LEIDEN, mode="global").claims]
    found = ask(searcher, LEIDEN, mode="global", min_score=scores[0])
    assert [claim["score"] for claim in found.claims] == [score for score in scores if score >= scores[0]]
    assert found.hits and all(hit.score >= scores[0] for hit in found.hits)
    nothing = ask(searcher, LEIDEN, mode="global", min_score=11)
    assert (nothing.status, nothing.hits, nothing.claims) == ("abstained", [], [])
    for mode in ("local", "multi"):
        with pytest.raises(QueryError, match=f"min_score: mode '{mode}'"):
            ask(searcher, LEIDEN, mode=mode, min_score=1)
