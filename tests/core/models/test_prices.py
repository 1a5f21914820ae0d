"""Prices by model name, and the estimate of planned calls."""

from __future__ import annotations

import logging

import pytest

from monjyu_core.models.estimate import (
    Cost,
    Estimate,
    PlannedCall,
    PriceTable,
    completion_tokens,
    estimate,
    prompt_tokens,
    worst_cost,
)
from monjyu_core.models.types import ChatRequest, Message, TokenUsage
from monjyu_core.settings.models import PriceSettings
from monjyu_core.text.tokens import count_tokens
from tests.properties import given, st

TABLE = {
    "gpt-4o": PriceSettings(prompt=2.5, completion=10),
    "gpt-4o-mini": PriceSettings(prompt=0.15, completion=0.6),
    "Claude-X": PriceSettings(prompt=3, completion=15),
}
MILLION = TokenUsage(1_000_000, 1_000_000)


@pytest.mark.parametrize(
    ("name", "dollars"),
    [
        ("gpt-4o", 12.5),
        ("gpt-4o-mini", 0.75),
        ("gpt-4o-2024-08-06", 12.5),
        ("gpt-4o-mini-2024-07-18", 0.75),
        ("GPT-4o-mini", 0.75),
        ("claude-x-20250219", 18),
        ("claude-x-latest", 18),
    ],
)
def test_the_price_of_a_model_or_a_dated_version_of_it(name: str, dollars: float) -> None:
    assert PriceTable(TABLE).cost(MILLION, name) == Cost(pytest.approx(dollars), priced=True)


@pytest.mark.parametrize("name", ["gpt-4o-audio-preview", "gpt-4o-mini-tts", "gpt-4", "gpt-4ob", "llama3.1:8b", ""])
def test_another_model_has_no_price_and_that_is_said_once(name: str, caplog: pytest.LogCaptureFixture) -> None:
    table = PriceTable(TABLE)
    with caplog.at_level(logging.WARNING):
        assert table.cost(MILLION, name) == Cost(0.0, priced=False)
        table.cost(MILLION, name)
    assert len(caplog.records) == 1
    assert name in caplog.text


def test_a_price_of_zero_is_a_price() -> None:
    table = PriceTable({"local": PriceSettings()})
    assert table.cost(MILLION, "local") == Cost(0.0, priced=True)


def _request(*contents: str, max_tokens: int = 100) -> ChatRequest:
    return ChatRequest(tuple(Message("user", content) for content in contents), max_tokens)


def test_tokens_of_messages_as_openai_counts_them() -> None:
    assert prompt_tokens([_request("hello")]) == [1 + 4 + 3]
    three = _request("You are a helpful assistant.", "What is a claim?")
    expected = count_tokens("You are a helpful assistant.") + count_tokens("What is a claim?") + 2 * 4 + 3
    assert prompt_tokens([three, _request()]) == [expected, 3]
    schema = ChatRequest(three.messages, 100, schema={"type": "object", "properties": {"claims": {"type": "array"}}})
    assert prompt_tokens([schema]) == [expected]
    assert prompt_tokens([schema], schema_is_sent=True)[0] > expected + 10


@given(st.lists(st.lists(st.text(max_size=50), max_size=4), max_size=6))
def test_many_requests_count_as_each_alone(contents: list[list[str]]) -> None:
    requests = [_request(*texts) for texts in contents]
    assert prompt_tokens(requests) == [prompt_tokens([request])[0] for request in requests]


def _calls(number: int) -> list[PlannedCall]:
    return [PlannedCall("extract", "gpt-4o-mini", _request(f"chunk {one}"), f"k{one}") for one in range(number)]


def test_an_estimate_adds_up_over_many_calls() -> None:
    calls = _calls(2500)
    prompts = sum(prompt_tokens([call.request for call in calls]))
    found = estimate(calls, PriceTable(TABLE))
    assert found == Estimate(2500, prompts, 250_000, pytest.approx((prompts * 0.15 + 250_000 * 0.6) / 1e6))
    measured = estimate(calls, PriceTable(TABLE), completions={("extract", "gpt-4o-mini"): 30.4})
    assert measured.completion_tokens == 75_000
    assert completion_tokens(calls[0], {("extract", "gpt-4o-mini"): 300.0}) == 100, "never more than allowed"
    assert completion_tokens(calls[0], {("answer", "gpt-4o-mini"): 3.0}) == 100, "another role says nothing"


def test_what_is_cached_or_asked_twice_is_not_paid_twice() -> None:
    calls = _calls(1500)
    found = estimate([*calls, *calls], PriceTable(TABLE), cached=lambda keys: {"k0", "k1400"} & set(keys))
    assert found.llm_calls == 1498
    unkeyed = PlannedCall("extract", "gpt-4o-mini", _request("a"))
    assert estimate([unkeyed, unkeyed], PriceTable(TABLE)).llm_calls == 2
    assert estimate([], PriceTable(TABLE)) == Estimate()


def test_the_worst_cost_takes_the_longest_answer() -> None:
    [tokens] = prompt_tokens([_request("chunk")])
    expected = (tokens * 0.15 + 100 * 0.6) / 1e6
    assert worst_cost(_request("chunk"), PriceTable(TABLE), "gpt-4o-mini") == pytest.approx(expected)
    assert worst_cost(_request("chunk"), PriceTable({}), "gpt-4o-mini") == 0
