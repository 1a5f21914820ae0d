"""What may be asked, and how a wrong request is refused."""

from __future__ import annotations

from typing import Any

import pytest

from monjyu_core.errors import QueryError
from monjyu_core.settings import SearchSettings
from monjyu_query.request import LONGEST_QUERY, SearchRequest, make_request
from monjyu_query.routing import query_type, route


def ask(**more: Any) -> SearchRequest:
    return make_request(**({"query": "graphs", "collection": "samples"} | more))


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"query": ""}, "empty"),
        ({"query": " \t\n"}, "empty"),
        ({"query": "\x00\x07"}, "empty"),
        ({"query": "x" * (LONGEST_QUERY + 1)}, "10000"),
        ({"top_k": 0}, "top_k"),
        ({"top_k": 1001}, "top_k"),
        ({"alpha": 1.01}, "alpha"),
        ({"alpha": float("nan")}, "alpha"),
        ({"min_score": float("nan")}, "min_score"),
        ({"min_score": float("inf")}, "min_score"),
        ({"budget": "z7"}, "budget"),
        ({"budget": -1}, "budget"),
        ({"expand": -1}, "expand"),
        ({"mode": "magic"}, "mode"),
        ({"filters": {"year_from": 2020, "year_to": 2010}}, "after"),
        ({"filters": {"year_from": 10**12}}, "year_from"),
        ({"filters": {"section_types": ["poem"]}}, "abstract"),
        ({"filters": {"authors": [" "]}}, "authors"),
        ({"filters": {"colour": "red"}}, "colour"),
        ({"history": [{"role": "robot", "content": ""}]}, "role"),
    ],
)
def test_refused_in_plain_words(wrong: dict[str, Any], word: str) -> None:
    with pytest.raises(QueryError) as refusal:
        ask(**wrong)
    assert word in str(refusal.value)
    assert refusal.value.exit_code == 2
    assert "validation error" not in str(refusal.value)


def test_a_query_becomes_one_clean_line() -> None:
    assert ask(query="  what\tis\x1b[31m\n a\udcffcafe\u0301 ").query == "what is [31m a?café"


@pytest.mark.parametrize("mode", ["local", "global", "multi"])
def test_modes_of_later_levels_are_refused(mode: str) -> None:
    with pytest.raises(QueryError, match=f"'{mode}' is not available in this version"):
        route(ask(mode=mode), SearchSettings())


@pytest.mark.parametrize("option", [{"controller": "progressive"}, {"controller": "hybrid"}])
def test_options_of_later_levels_are_refused(option: dict[str, Any]) -> None:
    with pytest.raises(QueryError, match="not available in this version"):
        route(ask(**option), SearchSettings())


def test_a_budget_is_of_mode_lazy() -> None:
    assert route(ask(mode="lazy", budget=50), SearchSettings())[0] == "lazy"
    with pytest.raises(QueryError, match="mode lazy"):
        route(ask(mode="vector", budget=50), SearchSettings())


def test_auto_is_the_setting() -> None:
    assert route(ask(), SearchSettings())[0] == "hybrid"
    assert route(ask(), SearchSettings(mode="keyword"))[0] == "keyword"
    mode, routing = route(ask(mode="vector"), SearchSettings())
    assert (mode, "vector" in routing.reason) == ("vector", True)


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("How do LightRAG and GraphRAG differ?", "comparison"),
        ("Give an overview of graph-based retrieval", "survey"),
        ("What is an inline citation?", "factoid"),
        ("Who proposed reciprocal rank fusion?", "factoid"),
        ("ideas for provenance in pipelines", "exploration"),
        ("知識グラフとは", "factoid"),
        ("手法AとBの違い", "comparison"),
        ("研究動向", "survey"),
    ],
)
def test_query_types(query: str, kind: str) -> None:
    assert query_type(query) == kind
