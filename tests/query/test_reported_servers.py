"""The reported cases of servers, with the reports' own papers: what they sent, and what is answered now."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from monjyu_assets.planning.pending import level_failures
from monjyu_core.embedding import load
from monjyu_core.language.packs import Texts
from monjyu_core.models.calls.structured import read_as
from monjyu_core.storage.snapshot import open_current
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.modes.lazy.model_roles import ModelClaims, SentenceScores
from monjyu_query.search.searcher import Searcher
from tests.assets.worlds import World
from tests.conftest import CORPORA, needs_corpora
from tests.core.models import fake_server as server
from tests.core.models.conformance import ANSWER, FAULTS, REASONING
from tests.core.models.fake_server import FakeModels, Provider, Reply, Request

REPORTS = CORPORA.parent / "reports" / "models"
CASES: dict[str, Any] = (
    {one["id"]: one for one in json.loads((REPORTS / "expected.json").read_text())["cases"]} if REPORTS.is_dir() else {}
)
PAPERS = ("lakes.md", "schools.md")
Ask = Callable[..., SearchResult]
pytestmark = needs_corpora


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MONJYU_CACHE__ENABLED", "false")
    return World.of(tmp_path, {name: (REPORTS / name).read_bytes() for name in PAPERS})


@pytest.fixture
def ask(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Provider], tuple[FakeModels, Ask]]]:
    """Starts a server of a provider, and gives it with a search that asks it in these roles."""
    started: list[FakeModels] = []

    def start(provider: Provider, *roles: str) -> tuple[FakeModels, Ask]:
        fake = FakeModels(provider=provider)
        started.append(fake.__enter__())
        for name, value in fake.environment(*(roles or ("ANSWER",))).items():
            monkeypatch.setenv(name, value)
        searcher = Searcher(world.data, "c")

        def search(query: str = CASES["empty_reply"]["ask"], mode: str = "hybrid", **more: Any) -> SearchResult:
            return searcher.search(make_request(query=query, collection="c", mode=mode, **more))

        return fake, search

    yield start  # type: ignore[misc]
    for fake in started:
        fake.__exit__()


def test_no_failed_reply_is_an_answer_about_the_collection(ask: Any) -> None:
    fake, search = ask(Provider())
    for fault in FAULTS:
        fake.default = ANSWER
        assert search().status == "complete", f"before {fault.about}"
        fake.default = fault.reply(fake.provider, ANSWER)
        result = search()
        assert "141 days" in result.answer and result.citations, (fault.about, result.answer)
        assert not any(text in result.answer for text in Texts("answer").every("nothing").values()), fault.about
        assert (result.status, bool(result.warnings)) == (
            ("complete", False) if fault.streamed == "answer" and not fault.once else ("partial", True)
        ), (fault.about, result.warnings)
    for fault, word in (("refuses", "cannot help"), ("says nothing", "empty"), ("reasons until", "max_tokens")):
        fake.default = next(one for one in FAULTS if one.about.startswith(fault)).reply(fake.provider, ANSWER)
        assert word in " ".join(search().warnings)


def test_reasoning_is_no_part_of_an_answer_and_costs_no_repair(ask: Any) -> None:
    fake, search = ask(Provider(reasons_in="parts"))
    streamed = server.say(f"Okay, the user wants days. Let me think. {REASONING}\n</think>\n\n{ANSWER}")
    for reply in (server.say(ANSWER, thinking=REASONING), streamed):
        fake.default = reply
        fake.requests.clear()
        result = search()
        assert result.answer.startswith(ANSWER.removesuffix(" [1].")) and "user" not in result.answer
        assert (result.status, result.warnings, len(fake.requests)) == ("complete", [], 1)


@pytest.mark.parametrize(
    "said",
    [
        "This response_format type is unavailable now",
        "'response_format.type' must be 'text'",
        "Failed to parse grammar: unsupported keyword",
    ],
)
def test_a_refused_schema_keeps_no_passage_from_being_judged(ask: Any, said: str) -> None:
    refuses = {"response_format": (400, said), "system": (400, "System role not supported")}
    fake, search = ask(Provider(refuses=refuses), "ASSESS", "CLAIMS", "ANSWER")

    def reply(request: Request) -> Reply | str:
        if "SentenceScore" in request.prompt:
            return json.dumps({"scores": [{"sentence": n, "score": 9 if n == 1 else 0} for n in range(1, 3)]})
        if "ModelClaim" in request.prompt:
            quote = "The alpine lake Morskie Oko freezes on average for 141 days each winter."
            return json.dumps({"claims": [{"statement": quote, "source": 1, "quote": quote, "score": 9}]})
        return ANSWER

    fake.default = reply
    result = search(mode="lazy", budget=4)
    assert (result.mode, result.status) == ("lazy", "complete") and "141 days" in result.answer
    assert [one for one in result.warnings if "Level 1 is not built" not in one] == []
    assert len(fake.problems) == 2, "each is refused once"


def test_a_draft_before_the_final_object_and_a_quoted_mark() -> None:
    scores = read_as(CASES["draft_then_final"]["text"], SentenceScores).scores
    assert [(one.sentence, one.score) for one in scores] == [(1, 5)]
    quoted = json.loads(CASES["think_quoted"]["text"])["claims"][0]["statement"]
    claim = {"statement": quoted, "source": 1, "quote": quoted, "score": 5}
    assert read_as(f"As [1] says: {json.dumps({'claims': [claim]})}", ModelClaims).claims[0].quote == quoted


def test_a_paper_on_reasoning_keeps_its_tags(world: World, ask: Any) -> None:
    for name in PAPERS:
        (world.papers / name).unlink()
    (world.papers / "reason.txt").write_bytes((REPORTS / "reason.txt").read_bytes())
    world.build()
    fake, search = ask(Provider())
    fake.default = server.failing(500)
    assert "</think>" in search("With which tag does a reasoning model end its hidden reasoning?").answer
    fake.default = "A reasoning model ends its hidden reasoning with the tag </think> and then writes the answer [1]."
    result = search("With which tag does a reasoning model end its hidden reasoning?")
    assert "tag </think> and then writes" in result.answer and result.status == "complete"


def test_a_server_of_small_batches_without_first_index_that_fails_on_one_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "_models", {})
    provider = Provider(
        index="none first", most_texts=10, too_many=(400, "batch size is invalid, it should not be larger than 10")
    )
    with FakeModels(provider=provider) as fake:
        more = {"EMBEDDING__REMOTE": "default", "CACHE__ENABLED": "false", "DATA": str(tmp_path / "data")}
        for name, value in fake.environment("EMBED", **more).items():
            monkeypatch.setenv(name, value)
        fake.default = lambda request: (
            server.failing(500, "failed to encode response: json: unsupported value: NaN")
            if any("alpine lake" in text for text in request.body["input"])
            else server.say("")
        )
        world = World(tmp_path / "data", tmp_path / "papers")
        for name in ("lakes.md", "schools.md"):
            (world.papers / name).write_bytes((REPORTS / name).read_bytes())
        for number in range(12):
            (world.papers / f"{number}.md").write_text(f"# Bees of field {number}\n\nBees fly over field {number}.\n")
        world.build()
        assert open_current(world.data.collection("c")).manifest.rows["papers"] == 14
        failures = level_failures(world.work)
        assert failures and all("lakes" in one.message and "NaN" in one.message for one in failures)
        monkeypatch.setattr(load, "_models", {})
        found = Searcher(world.data, "c").search(make_request(query=CASES["empty_reply"]["ask"], collection="c"))
        assert "141 days" in found.answer
