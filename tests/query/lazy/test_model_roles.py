"""Lazy search with models for its roles: a fake server that judges, claims, errs and lies."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.modes.lazy import lazy_search as engine
from monjyu_query.modes.lazy.judgements import JudgementStore
from monjyu_query.search.searcher import Searcher
from tests.core.models import fake_server as server
from tests.core.models.fake_server import FakeModels, Reply, Request

QUESTION = "What does the Leiden algorithm guarantee that Louvain does not?"


@pytest.fixture
def fake(sample_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModels]:
    with FakeModels() as started:
        values = started.environment("EXPAND", "ASSESS", "CLAIMS", "ANSWER", CACHE__ENABLED="false")
        monkeypatch.setenv("MONJYU_DATA", str(sample_data))
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(engine, "open_judgements", lambda *_: JudgementStore(tmp_path))
        yield started


def ask(data: Path, events: list[dict[str, Any]] | None = None, **more: Any) -> SearchResult:
    request = make_request(**({"query": QUESTION, "collection": "samples", "mode": "lazy", "budget": 10} | more))
    return Searcher(DataFolder(data), "samples").search(request, events.append if events is not None else None)


def role(request: Request) -> str:
    starts = {"You prepare": "expand", "You rate": "assess", "You extract": "extract", "You judge": "sufficient"}
    text = request.body["messages"][0]["content"]
    return next((name for start, name in starts.items() if text.startswith(start)), "answer")


def quote_of(request: Request) -> str:
    found = re.search(r"The Leiden algorithm repairs this[^.]*\.", request.prompt)
    return " ".join(found.group().split()) if found else ""


def good(request: Request) -> Reply:
    """A model that finds the sentences on Leiden and claims one thing that no source says."""
    kind = role(request)
    if kind == "expand":
        return server.say(json.dumps({"subqueries": ["Leiden guarantee", "Louvain fault"], "expanded_query": QUESTION}))
    if kind == "assess":
        lines = re.findall(r"^(\d+)\. (.*Leiden.*)$", request.prompt, re.M)
        return server.say(json.dumps({"scores": [{"sentence": int(n), "score": 9} for n, _ in lines]}))
    if kind == "extract":
        quote = quote_of(request)
        claims = [{"statement": "Cows fly at night.", "source": 1, "quote": "Cows fly at night.", "score": 10}]
        if quote:
            sources = re.findall(r"<source (\d+) \w+>\n(.*?)\n</source", request.prompt, re.DOTALL)
            number = next(n for n, text in sources if "repairs this" in text)
            claims.append({"statement": quote, "source": int(number), "quote": quote, "score": 9})
        return server.say(json.dumps({"claims": claims}))
    return server.say(f"{quote_of(request)} [1] Cows fly at night [1].")


def test_all_roles_by_a_model(sample_data: Path, fake: FakeModels) -> None:
    fake.default = good
    events: list[dict[str, Any]] = []
    result = ask(sample_data, events)
    assert (result.status, result.answer_engine, result.verified) == ("complete", "llm", True)
    assert result.subqueries == ["Leiden guarantee", "Louvain fault"]
    assert "connected" in result.answer and "Cows" not in result.answer
    assert result.claims and all("Cows" not in claim["statement"] for claim in result.claims)
    assert {claim["engine"] for claim in result.claims} == {"llm"}
    assert any("quote no source" in warning for warning in result.warnings)
    assert result.usage.relevance_tests == 10 and result.usage.llm_calls == len(fake.requests)
    assert sum(role(request) == "assess" for request in fake.requests) == 2, "five chunks a call"
    assert fake.problems == [] and any(event["event"] == "answer" for event in events)


def test_judgements_are_paid_for_once(sample_data: Path, fake: FakeModels) -> None:
    fake.default = good
    first = ask(sample_data, budget=6)
    fake.requests.clear()
    second = ask(sample_data, budget=10)
    assert (first.usage.cache_hits, second.usage.cache_hits, second.usage.relevance_tests) == (0, 10, 10)
    assert not any(role(request) == "assess" for request in fake.requests), "both batches were judged whole"


def test_a_judgement_depends_on_no_budget_and_no_cache(sample_data: Path, fake: FakeModels, tmp_path: Path) -> None:
    """The fake gives a chunk more the more stands beside it in a call, so a batch that was cut short would show."""

    def by_company(request: Request) -> Reply:
        if role(request) != "assess":
            return good(request)
        lines = re.findall(r"^(\d+)\. (.*)$", request.prompt, re.M)
        score = min(9.0, 4.0 + len(lines) / 10)
        return server.say(json.dumps({"scores": [{"sentence": int(n), "score": score} for n, _ in lines]}))

    fake.default = by_company
    scores = {}
    for budget in (7, 12, 18):
        events: list[dict[str, Any]] = []
        ask(sample_data, events, budget=budget, sufficiency="off")
        scores[budget] = [(e["chunk_id"], e["score"]) for e in events if e["event"] == "test"]
        for file in tmp_path.glob("judgements.sqlite*"):
            file.unlink()
    assert scores[7] == scores[18][:7] and scores[12] == scores[18][:12]


def test_a_test_is_a_passage_that_the_model_has_read(sample_data: Path, fake: FakeModels) -> None:
    fake.default = good
    result = ask(sample_data, budget=500, sufficiency="off", subqueries=1)
    read = sum(len(re.findall(r"<source \d+", r.prompt)) for r in fake.requests if role(r) == "assess")
    assert result.usage.relevance_tests == read and result.usage.held_back > 0
    assert result.lazy is not None and result.lazy.ended == "everything" and result.lazy.frontier_left == 0
    [told] = [warning for warning in result.warnings if "exceeds the collection" in warning]
    assert f"{read + result.usage.held_back} passages" in told and str(result.usage.held_back) in told
    assert {claim["confidence"] is not None and claim["extracted_at"][:2] for claim in result.claims} == {"20"}


def test_claims_are_asked_for_by_subquery(sample_data: Path, fake: FakeModels) -> None:
    fake.default = good
    result = ask(sample_data, budget=30, sufficiency="off")
    assert result.lazy is not None
    asked = [r.prompt.rsplit("Question:", 1)[1].strip() for r in fake.requests if role(r) == "extract"]
    assert set(asked) == {one.text for one in result.lazy.subqueries if one.relevant} and len(asked) < 5


def test_reasons_are_given_where_they_are_asked_for(sample_data: Path, fake: FakeModels) -> None:
    def reasoned(request: Request) -> Reply:
        if role(request) == "expand" and "`reasoning`" in request.prompt:
            told = {
                "subqueries": ["Leiden guarantee"],
                "expanded_query": QUESTION,
                "reasoning": "It asks for one thing.",
            }
            return server.say(json.dumps(told))
        if role(request) != "assess":
            return good(request)
        lines = re.findall(r"^(\d+)\. (.*Leiden.*)$", request.prompt, re.M)
        return server.say(
            json.dumps({"scores": [{"sentence": int(n), "score": 9, "reason": "names it"} for n, _ in lines]})
        )

    fake.default = reasoned
    told = ask(sample_data, reasons=True).lazy
    assert told is not None and {one.reason for one in told.sentences} == {"names it"}
    assert told.reasoning == "It asks for one thing." and [one.origin for one in told.subqueries] == ["model"]
    untold = ask(sample_data).lazy
    assert untold is not None and {one.reason for one in untold.sentences} == {None}
    assert untold.reasoning is None and len(untold.subqueries) == 2


def test_passages_are_judged_five_a_call_and_several_calls_at_once(sample_data: Path, fake: FakeModels) -> None:
    fake.default = lambda request: replace(good(request), delay=0.3 if role(request) == "assess" else 0.0)
    ask(sample_data, budget=50, sufficiency="off", answer=False)
    sizes = [len(re.findall(r"^<source \d+", one.prompt, re.M)) for one in fake.requests if role(one) == "assess"]
    assert max(sizes) == 5
    assert 2 <= fake.most_busy <= 4, "roles.assess.concurrency"


def test_the_concepts_of_what_is_relevant_are_given_to_the_claims(
    level_1_data: Path, fake: FakeModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    def all_relevant(request: Request) -> Reply:
        if role(request) != "assess":
            return good(request)
        numbers = re.findall(r"^(\d+)\. ", request.prompt, re.M)
        return server.say(json.dumps({"scores": [{"sentence": int(n), "score": 9} for n in numbers]}))

    monkeypatch.setenv("MONJYU_DATA", str(level_1_data))
    fake.default = all_relevant
    told = ask(level_1_data).lazy
    assert told is not None and told.graph.nodes
    asked = [one.prompt for one in fake.requests if role(one) == "extract"]
    named = {name for prompt in asked for name in fenced_last(prompt).split(", ")}
    assert asked and {node.name for node in told.graph.nodes} & named


def fenced_last(prompt: str) -> str:
    return re.findall(r"<source (\d+ \w+)>\n(.*?)\n</source \1>", prompt, re.DOTALL)[-1][1]


def test_all_claims_reach_the_writer(sample_data: Path, fake: FakeModels, monkeypatch: pytest.MonkeyPatch) -> None:
    def all_relevant(request: Request) -> Reply:
        if role(request) == "assess":
            lines = re.findall(r"^(\d+)\. ", request.prompt, re.M)
            return server.say(json.dumps({"scores": [{"sentence": int(n), "score": 9} for n in lines]}))
        if role(request) == "extract":
            return server.failing(500)
        return good(request)

    fake.default = all_relevant
    monkeypatch.setenv("MONJYU_SEARCH__LAZY__WORTH_READING", "0")
    sources: dict[int, int] = {}
    for budget in (10, 40):
        fake.requests.clear()
        ask(sample_data, budget=budget, sufficiency="off")
        told = [request for request in fake.requests if role(request) == "answer"]
        sources[budget] = sum(len(re.findall(r"^<source \d+", request.prompt, re.M)) for request in told)
    assert sources[10] >= 9 and sources[40] >= 36, sources


@pytest.mark.parametrize(
    "wrong",
    [
        server.say("They are all very relevant, 10 out of 10!"),
        server.say('{"scores": [{"sentence": 99, "score": 10}]}'),
        server.say('{"scores": [{"sentence": 1, "score": 1000}]}'),
        server.failing(500),
    ],
)
def test_a_judgement_that_cannot_be_read_is_an_error_and_not_relevant(
    sample_data: Path, fake: FakeModels, wrong: Reply, tmp_path: Path
) -> None:
    fake.default = lambda request: wrong if role(request) == "assess" else good(request)
    events: list[dict[str, Any]] = []
    result = ask(sample_data, events)
    assert result.claims == [] and not any(event.get("relevant") for event in events)
    tests = [event for event in events if event["event"] == "test"]
    assert len(tests) == result.usage.relevance_tests <= 10 and all(event["error"] for event in tests)
    assert result.status == "partial" and any("gave no judgement" in warning for warning in result.warnings)
    assert JudgementStore(tmp_path).get_many(["x"]) == {} and server.KEY not in result.model_dump_json()


def test_one_bad_judgement_among_good_ones(sample_data: Path, fake: FakeModels) -> None:
    def reply(request: Request) -> Reply:
        broken = role(request) == "assess" and "Leiden" not in request.prompt.split("Question:")[0]
        return server.say("no idea") if broken else good(request)

    fake.default = reply
    result = ask(sample_data)
    assert result.status == "complete" and "connected" in result.answer
    assert any("gave no judgement" in warning for warning in result.warnings)


def test_a_failing_model_leaves_the_extractive_parts(sample_data: Path, fake: FakeModels) -> None:
    fake.default = lambda request: good(request) if role(request) == "assess" else server.failing(500)
    result = ask(sample_data, query=QUESTION)
    assert result.status == "partial" and result.answer_engine == "extractive" and result.citations
    assert {claim["engine"] for claim in result.claims} == {"extractive"}
    assert any("expanded without a model" in warning for warning in result.warnings)


def test_roles_can_be_mixed(sample_data: Path, fake: FakeModels, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EXPAND", "CLAIMS", "ANSWER"):
        monkeypatch.setenv(f"MONJYU_ROLES__{name}__ENGINE", "extractive")
    fake.default = good
    result = ask(sample_data)
    assert {role(request) for request in fake.requests} == {"assess"} and result.answer_engine == "extractive"
    assert result.status == "complete" and result.citations


def test_a_model_can_say_that_it_suffices(sample_data: Path, fake: FakeModels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_SEARCH__LAZY__SUFFICIENCY", "model")
    fake.default = lambda request: (
        server.say('{"sufficient": true}') if role(request) == "sufficient" else good(request)
    )
    result = ask(sample_data, budget=50)
    assert result.usage.relevance_tests <= 25 and result.status == "complete"
    assert result.lazy is not None and result.lazy.ended == "enough"


def test_a_cap_ends_it_with_what_there_is(sample_data: Path, fake: FakeModels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_SPENDING__MAX_CALLS_PER_QUERY", "8")
    fake.default = good
    result = ask(sample_data, budget=50)
    assert result.status == "partial" and result.usage.llm_calls <= 8 and result.citations
    assert len(fake.requests) <= 8


def test_cancelling_hangs_up(sample_data: Path, fake: FakeModels) -> None:
    fake.default = lambda request: Reply(never=True) if role(request) == "assess" else good(request)
    cancel = threading.Event()
    threading.Timer(1.0, cancel.set).start()
    request = make_request(query=QUESTION, collection="samples", mode="lazy", budget=5)
    result = Searcher(DataFolder(sample_data), "samples").search(request, None, cancel)
    assert result.status == "partial"


def test_japanese_has_its_prompts(sample_data: Path, fake: FakeModels) -> None:
    fake.default = server.say('{"scores": [], "claims": [], "subqueries": ["漢字"], "expanded_query": "漢字"}')
    ask(sample_data, query="漢字を一文字でも索引に入れるのはなぜか。", budget=2)
    assert "検索を準備" in fake.requests[0].prompt and "点をつけて" in fake.requests[1].prompt


def test_a_model_rewords_a_question_and_hits_say_what_found_them(sample_data: Path, fake: FakeModels) -> None:
    other = "Which community detection method gives connected communities?"

    def reply(request: Request) -> Reply:
        reworded = request.body["messages"][0]["content"].startswith("You reword")
        return server.say(json.dumps({"rewordings": [other, QUESTION, other]})) if reworded else good(request)

    fake.default = reply
    result = ask(sample_data, mode="hybrid", budget=None, expand=2)
    assert result.subqueries == [other] and result.answer_engine == "llm" and result.model
    assert {text for hit in result.hits for text in hit.found_by} == {QUESTION, other}
    fake.default = lambda request: server.failing(500)
    failed = ask(sample_data, mode="hybrid", budget=None, expand=2, answer=False)
    assert any("expanded without a model" in warning for warning in failed.warnings) and failed.hits
