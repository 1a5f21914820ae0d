"""The router: kinds of questions, modes by level, refusals that say what to do."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from monjyu_core.errors import QueryError
from monjyu_core.settings.settings import SearchSettings
from monjyu_query.asking.request import Mode, SearchRequest, make_request
from monjyu_query.asking.topic import sides_of, topic_of
from monjyu_query.search.routing.choose import BEST, NEEDS, best_mode, refuse, route, served
from monjyu_query.search.routing.question_kinds import QUERY_TYPES, Kind, kind_of
from tests.limits import ends

QUESTIONS = [json.loads(line) for line in (Path(__file__).parent / "router_questions.jsonl").open(encoding="utf-8")]
"""Written before the patterns; 15 of each kind in each language."""
EXPLORES = Kind("exploration", "it is")


def ask(**more: Any) -> SearchRequest:
    return make_request(**({"query": "graphs", "collection": "samples"} | more))


def test_the_questions_are_as_they_should_be() -> None:
    assert len(QUESTIONS) == len({question["text"] for question in QUESTIONS}) == 120
    assert set(Counter((q["type"], q["language"]) for q in QUESTIONS).values()) == {15}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_nine_of_ten_questions_are_told_right(language: str) -> None:
    own = [question for question in QUESTIONS if question["language"] == language]
    wrong = [(q["type"], kind_of(q["text"]), q["text"]) for q in own if kind_of(q["text"]).name != q["type"]]
    assert len(wrong) <= 0.1 * len(own), wrong


def test_reasons_name_what_decided() -> None:
    assert kind_of("How does A compare with B?") == Kind("comparison", "it says “compare”")
    assert kind_of("ideas").reason == "no other pattern matches"
    assert "yes or no" in kind_of("受講にプログラミング経験は必要ですか").reason


@pytest.mark.parametrize(
    "query", ["what " * 2000, "a" * 10_000, "which methods " + "x " * 4000, "as " * 3000, "か" * 9000]
)
def test_long_questions_take_no_time(query: str) -> None:
    ends(lambda: (kind_of(query), topic_of(query)))


@pytest.mark.parametrize("level", range(5))
def test_every_kind_has_a_served_mode_at_every_level(level: int) -> None:
    for kind in QUERY_TYPES:
        assert best_mode(kind, level) in served(level)
        mode, routing = route(ask(), SearchSettings(), level, Kind(kind, "so it is"))
        assert mode in served(level) and mode in routing.reason and "so it is" in routing.reason
    assert set(served(level)) <= set(NEEDS)


def test_the_best_mode_of_a_kind_comes_with_its_level() -> None:
    assert [best_mode("survey", level) for level in range(5)] == ["hybrid", "lazy", "lazy", "lazy", "lazy"]
    assert best_mode("survey", 3, written_reports=True) == "global" != best_mode("survey", 2, written_reports=True)
    for kind in ("exploration", "comparison"):
        assert [best_mode(kind, level) for level in range(3)] == ["hybrid", "hybrid", "local"]
    assert all(choices[-1][0] == 0 for choices in BEST.values())
    _, routing = route(ask(), SearchSettings(), 3, Kind("survey", "it is"))
    assert "global from level 3 on where a model wrote the reports" in routing.reason
    assert route(ask(), SearchSettings(), 3, Kind("survey", "it is"), written_reports=True)[0] == "global"
    assert route(ask(), SearchSettings(), 3, Kind("survey", "it is"), unread=True)[0] == "hybrid"


def test_an_unsure_survey_gets_the_mode_of_the_second_kind() -> None:
    for chance, level, mode in ((0.49, 1, "hybrid"), (0.49, 2, "local"), (0.61, 1, "lazy")):
        kind = Kind("survey", "it is", chance, "exploration")
        chosen, routing = route(ask(), SearchSettings(), level, kind)
        assert chosen == mode and routing.query_type == "survey"
        assert routing.reason.startswith("survey or exploration: " if chance < 0.5 else "survey: ")
    number = ask(query="How many people have taken part so far?")
    assert route(number, SearchSettings(), 1, Kind("survey", "it is", 0.9, "factoid"))[0] == "hybrid"


@pytest.mark.parametrize(("mode", "needs"), [("local", 2), ("global", 3)])
def test_a_mode_whose_level_is_missing_says_what_builds_it_and_what_serves(mode: str, needs: int) -> None:
    for level in range(needs):
        with pytest.raises(QueryError) as refusal:
            route(ask(mode=mode), SearchSettings(), level, EXPLORES)
        said = str(refusal.value)
        assert f"at level {level}" in said and f"`monjyu upgrade samples --level {needs}`" in said
        offered = next(name for name in served(level) if f"mode {name!r} serves" in said)
        assert route(ask(mode=offered), SearchSettings(), level, EXPLORES)[0] == offered
    assert route(ask(mode=mode), SearchSettings(), needs, EXPLORES)[0] == mode


def test_a_setting_of_a_missing_level_is_refused_too() -> None:
    with pytest.raises(QueryError, match="level 3"):
        route(ask(), SearchSettings(mode="global"), 2, EXPLORES)


def test_the_setting_and_the_request_win_over_the_router() -> None:
    mode, routing = route(ask(), SearchSettings(mode="keyword"), 4, EXPLORES)
    assert mode == "keyword" and "search.mode" in routing.reason
    assert route(ask(mode="vector"), SearchSettings(mode="keyword"), 4, EXPLORES)[0] == "vector"
    assert route(ask(budget=10), SearchSettings(), 4, EXPLORES)[0] == "lazy"


def test_every_mode_of_the_interface_is_known() -> None:
    assert set(NEEDS) | {"auto"} == set(get_args(Mode))


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"mode": "vector", "budget": 50}, "mode lazy"),
        ({"mode": "vector", "controller": "progressive"}, "chooses the modes itself"),
        ({"mode": "lazy", "controller": "hybrid"}, "chooses the modes itself"),
        ({"mode": "lazy", "expand": 2}, "itself"),
        ({"mode": "global", "expand": 2}, "itself"),
        ({"mode": "lazy", "rerank": True}, "has its own order"),
        ({"mode": "hybrid", "modes": ["hybrid", "lazy"]}, "modes: lists the modes"),
        ({"modes": ["hybrid"], "controller": "progressive"}, "modes: lists the modes"),
    ],
)
def test_what_does_not_go_together_is_refused(wrong: dict[str, Any], word: str) -> None:
    with pytest.raises(QueryError, match=word):
        refuse(ask(**wrong))


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("What are the main themes of these papers?", ""),
        ("これらの論文の主なテーマは何ですか", ""),
        ("Give me an overview of signal processing", "signal processing"),
        ("文字バイグラムについて教えてください", "文字 バイグラム"),
    ],
)
def test_the_topic_of_a_question(query: str, topic: str) -> None:
    assert topic_of(query).split() == topic.split() or topic_of(query).replace(" ", "") == topic.replace(" ", "")


@pytest.mark.parametrize(
    ("query", "sides"),
    [
        ("Compare Leiden and Louvain.", ["Leiden", "Louvain"]),
        ("Is R better than Python?", ["R", "Python"]),
        ("How does BM25 differ from dense retrieval?", ["BM25", "dense retrieval"]),
        ("What does nbgrader do?", ["nbgrader"]),
        ("How do grades differ between schools and universities?", ["schools", "universities"]),
        ("Are boys at ten taller than girls?", []),
    ],
)
def test_the_sides_of_a_comparison(query: str, sides: list[str]) -> None:
    assert [side.replace(" ", "") for side in sides_of(query)] == [side.replace(" ", "") for side in sides]
