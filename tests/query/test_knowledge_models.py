"""Local and global search, the router and the controllers with a model: counted at a fake server that also lies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import read_current
from monjyu_query.answers.claims import Claim, claim_passages
from monjyu_query.answers.selection import Question
from monjyu_query.asking.passages import sentences_by_id
from monjyu_query.asking.request import make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.modes.local_context import leads_of
from monjyu_query.search.searcher import Searcher
from tests.copies import copy_data
from tests.core.models import fake_server as server
from tests.core.models.fake_server import FakeModels, Reply, Request

pytestmark = pytest.mark.usefixtures("module_without_reader")

LEIDEN = "What is said about Leiden and Louvain?"
ROOTS, CHILDREN, LEAVES = 8, 3, 7
"""8 + 24 + 168 = 200 reports."""


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModels]:
    with FakeModels() as started:
        values = started.environment("EXPAND", "ASSESS", "CLAIMS", "ANSWER", CACHE__ENABLED="false")
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        started.default = good
        yield started


def ask(data: Path, query: str = LEIDEN, **more: Any) -> SearchResult:
    return Searcher(DataFolder(data), "samples").search(make_request(query=query, collection="samples", **more))


def role(request: Request) -> str:
    starts = {"You rate which": "rate", "You collect": "map", "You sort": "route", "You prepare": "expand"}
    starts |= {"You rate how": "assess", "You extract": "extract", "Some sentences of your answer": "repair"}
    text = request.body["messages"][0]["content"]
    return next((name for start, name in starts.items() if text.startswith(start)), "answer")


def sources(request: Request) -> list[tuple[int, str]]:
    found = re.findall(r"<source (\d+) \w+>\n(.*?)\n</source", request.prompt, re.DOTALL)
    return [(int(number), text) for number, text in found]


def wanted(request: Request) -> set[str]:
    asked = request.prompt.rsplit("Question:", 1)[-1]
    return {word.lower() for word in re.findall(r"[A-Z]\w{4,}|field\d+", asked)}


def good(request: Request) -> Reply:
    """Rates and maps by the names in the question; claims also what no finding says; answers with a source's line."""
    kind, names = role(request), wanted(request)
    near = [(n, text) for n, text in sources(request) if any(name in text.lower() for name in names)]
    if kind == "rate":
        return server.say(json.dumps({"ratings": [{"report": n, "score": 8} for n, _ in near]}))
    if kind == "map":
        points = [{"point": _line(text, names), "score": 80, "report": n, "findings": [1]} for n, text in near]
        points.append({"point": "Cows fly.", "score": 99, "report": 1, "findings": []})
        return server.say(json.dumps({"points": points}))
    if kind == "assess":
        lines = re.findall(r"^(\d+)\. (.*)$", request.prompt, re.MULTILINE)
        scores = [{"sentence": int(n), "score": 9} for n, text in lines if any(name in text.lower() for name in names)]
        return server.say(json.dumps({"scores": scores}))
    if kind == "repair":
        return server.say('{"sentences": []}')
    if kind == "route":
        return server.say(json.dumps({"query_type": "survey", "reason": "it asks for all"}))
    if kind == "expand":
        return server.say(json.dumps({"subqueries": [LEIDEN], "expanded_query": LEIDEN}))
    if kind == "extract":
        quotes = [(n, _line(text, names)) for n, text in near]
        return server.say(
            json.dumps({"claims": [{"statement": q, "source": n, "quote": q, "score": 9} for n, q in quotes]})
        )
    first = near[:1] or sources(request)[:1]
    return server.say(f"{_line(first[0][1], names)} [{first[0][0]}] Cows fly [1].")


def _line(text: str, names: set[str]) -> str:
    """The last sentence of the source that has one of the names."""
    parts = re.split(r"(?<=[.。])\s+", text)
    return next((part for part in reversed(parts) if any(name in part.lower() for name in names)), parts[-1])


def count(fake: FakeModels, kind: str) -> int:
    return sum(role(request) == kind for request in fake.requests)


def test_global_rates_maps_and_reduces(known_data: Path, fake: FakeModels) -> None:
    result = ask(known_data, mode="global")
    assert (result.status, result.answer_engine, result.verified) == ("complete", "llm", True)
    assert count(fake, "rate") == 2 and count(fake, "map") == 1 and count(fake, "answer") == 1
    assert result.communities_visited == ["graph/leiden"]
    assert "Cows" not in result.answer and all("Cows" not in claim["statement"] for claim in result.claims)
    assert any("rest on no finding" in warning for warning in result.warnings)
    assert all(citation.sentence_ids and citation.quote for citation in result.citations)
    assert result.usage.llm_calls == len(fake.requests) and fake.problems == []


@pytest.mark.parametrize("kind", ["rate", "map", "answer"])
@pytest.mark.parametrize(
    "wrong",
    [
        server.say("I would rather not."),
        server.failing(500),
        server.say('{"ratings": 7, "points": "all"}'),
    ],
)
def test_global_goes_on_where_a_model_fails(known_data: Path, fake: FakeModels, kind: str, wrong: Reply) -> None:
    fake.default = lambda request: wrong if role(request) == kind else good(request)
    result = ask(known_data, mode="global")
    assert result.status in ("complete", "partial") and result.citations
    assert any("model" in warning or "failed" in warning for warning in result.warnings)


def test_instructions_in_a_report_are_quoted_not_obeyed(known_data: Path, fake: FakeModels) -> None:
    ask(known_data, mode="global")
    for request in fake.requests:
        assert "never an instruction" in request.prompt
        assert all(text.strip() for _, text in sources(request))


def test_local_gives_the_model_passages_and_statements(known_data: Path, fake: FakeModels) -> None:
    result = ask(known_data, mode="local")
    assert (result.status, result.answer_engine, result.verified) == ("complete", "llm", True)
    assert len(fake.requests) == result.usage.llm_calls == 2 and count(fake, "answer") == count(fake, "repair") == 1
    assert "Leiden" in result.answer and "Cows" not in result.answer


def test_the_router_asks_the_model_where_the_setting_says_so(
    known_data: Path, fake: FakeModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(known_data, "Who is it?", answer=False).routing.query_type == "factoid" and not fake.requests
    monkeypatch.setenv("MONJYU_SEARCH__ROUTER", "model")
    told = ask(known_data, "Who is it?", answer=False)
    assert (told.routing.query_type, told.mode) == ("survey", "lazy") and "it asks for all" in told.routing.reason
    assert count(fake, "route") == 1
    fake.requests.clear()
    ask(known_data, "Who is it?", mode="vector", answer=False)
    assert not fake.requests
    fake.default = server.say("Survey, I guess.")
    failed = ask(known_data, "Who is it?", answer=False)
    assert failed.routing.query_type == "factoid" and "gave no kind" in failed.routing.reason


def test_progressive_keeps_its_caps(known_data: Path, fake: FakeModels, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "Compare Leiden and Louvain on zebras, antelopes, crocodiles."
    free = ask(known_data, query, controller="progressive", budget=4)
    assert count(fake, "assess") == 1 and "lazy 4 added" in free.routing.reason
    fake.requests.clear()
    monkeypatch.setenv("MONJYU_SEARCH__PROGRESSIVE__MAX_CALLS", "2")
    capped = ask(known_data, query, controller="progressive", budget=4)
    assert count(fake, "assess") == 0 and any("Not continued with lazy" in warning for warning in capped.warnings)
    assert capped.usage.llm_calls == len(fake.requests) <= 3


def test_a_cap_per_query_holds_for_all_modes_together(
    known_data: Path, fake: FakeModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONJYU_SPENDING__MAX_CALLS_PER_QUERY", "2")
    result = ask(known_data, mode="multi", budget=10)
    assert len(fake.requests) <= 2 and result.usage.llm_calls <= 2
    assert result.status in ("partial", "abstained") and result.warnings


@pytest.fixture(scope="module")
def many_reports(known_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 reports: eight fields, of each three parts, of each seven leaves, every finding with real sentences."""
    data = tmp_path_factory.mktemp("many") / "data"
    copy_data(known_data, data)
    folder = DataFolder(data).collection("samples")
    with duckdb.connect(str(folder.database(str(read_current(folder))))) as database:
        sentences = database.execute("SELECT sentence_id, text FROM sentences WHERE length(text) > 60").fetchall()
        database.execute("DELETE FROM community_reports")
        database.execute("DELETE FROM entity_communities")
        database.execute("DELETE FROM report_embeddings")
        for n, (name, level, parent) in enumerate(_tree()):
            field = f"field{name.split('.')[0]}"
            cited = [sentences[(12 * n + k) % len(sentences)] for k in range(12)]  # about 500 tokens, as models write
            findings = [{"summary": f"{field} part {name}", "explanation": t, "sentence_ids": [i]} for i, t in cited]
            text = " ".join(t for _, t in cited)
            database.execute("INSERT INTO entity_communities VALUES (?, ?, ?, 3, 3, 3, [])", [name, level, parent])
            database.execute(
                "INSERT INTO community_reports VALUES (?, ?, ?, ?, ?, 5, '', ?, [], 'llm-1')",
                [name, level, f"On {field}, part {name}", f"About {field}. {text[:200]}", findings, text],
            )
    return data


def _tree() -> Iterator[tuple[str, int, str | None]]:
    for root in range(ROOTS):
        yield str(root), 0, None
        for child in range(CHILDREN):
            yield f"{root}.{child}", 1, str(root)
            for leaf in range(LEAVES):
                yield f"{root}.{child}.{leaf}", 2, f"{root}.{child}"


def test_dynamic_selection_spends_much_less_than_static(
    many_reports: Path, fake: FakeModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = "What is said about field3?"
    dynamic = ask(many_reports, query, mode="global")
    calls = {"dynamic": len(fake.requests)}
    fake.requests.clear()
    monkeypatch.setenv("MONJYU_SEARCH__REPORTS__SELECTION", "static")
    static = ask(many_reports, query, mode="global")
    calls["static"] = len(fake.requests)
    assert dynamic.citations and static.citations
    assert all(name.startswith("3") for name in dynamic.communities_visited)
    assert len(static.communities_visited) == ROOTS * CHILDREN * LEAVES
    assert calls["dynamic"] <= 0.4 * calls["static"], calls
    assert dynamic.usage.prompt_tokens <= 0.4 * static.usage.prompt_tokens, (dynamic.usage, static.usage)


def test_lazy_takes_stored_claims_with_fewer_calls_and_no_less_evidence(
    known_data: Path, sample_data: Path, fake: FakeModels
) -> None:
    found = {}
    for name, data in (("extracted", sample_data), ("stored", known_data)):
        fake.requests.clear()
        result = ask(data, mode="lazy", budget=30)
        assert result.lazy is not None and result.lazy.level_reached == (4 if name == "stored" else 0)
        found[name] = count(fake, "extract"), {name for claim in result.claims for name in claim["sentence_ids"]}
        assert all(0 <= claim["confidence"] <= 1 and claim["extracted_at"] for claim in result.claims)
        assert all(claim["chunk_ids"][0] == claim["chunk_id"] for claim in result.claims)
    assert found["extracted"][0] > 0 == found["stored"][0]
    assert found["extracted"][1] and found["extracted"][1] <= found["stored"][1]


def test_levels_2_to_4_lead_to_candidates(known_data: Path) -> None:
    searcher = Searcher(DataFolder(known_data), "samples")
    index = searcher.current()
    terms = Question.of(index.keywords.query_terms("Leiden algorithm communities"), len(index.corpus))
    assert leads_of(index, terms, 1) == {}
    found = {level: leads_of(index, terms, level) for level in (2, 3, 4)}
    assert {of for _, of in found[2].values()} == {2} and max(of for _, of in found[4].values()) == 4
    assert found[2].keys() <= found[3].keys() <= found[4].keys()
    assert all(0.3 <= share <= 1 and row < len(index.corpus) for row, (share, _) in found[4].items())


def test_a_point_of_several_papers_is_held_against_all_of_them(known_data: Path) -> None:
    searcher = Searcher(DataFolder(known_data), "samples")
    cursor = searcher.current().snapshot.cursor()
    ids = [row[0] for row in cursor.execute("SELECT min(sentence_id) FROM sentences GROUP BY paper_id").fetchall()]
    sentences = tuple(sentences_by_id(cursor, ids[:3]).values())
    [*sources] = claim_passages([Claim("All agree.", sentences, 9.0, None, "llm")], every=True)
    assert [source.chunk_id for source in sources] == [sentence.passage.chunk_id for sentence in sentences]
    assert [("All agree." in source.text) for source in sources] == [True, False, False]
    assert all(" ".join(s.text.split()) in source.text for s, source in zip(sentences, sources, strict=True))
