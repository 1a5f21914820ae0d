"""What one collection may not tell another: kept results are given by scope, and a model that obeys a hostile paper
reaches no other collection."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import reading
from monjyu_core.storage.state_store import StateStore
from monjyu_query.asking.request import make_request
from monjyu_query.search.searcher import Searcher
from monjyu_query.service.access.keys import create_key
from tests.core.models import fake_server as server
from tests.core.models.fake_server import FakeModels
from tests.core.models.test_cache import needs_redis, redis_url  # noqa: F401
from tests.query.service.conftest import Serving
from tests.waiting import wait_until

OWN, OTHER, UNKNOWN = "samples", "hostile", "absent9"
QUESTION = "How many relevance tests did the zebrafish measure in a week?"


def kept_by_scope(serve_with: Serving, data: Path, cache: str) -> None:
    store = StateStore(data / "state")
    keys = {"all": create_key(store, "", "reader")[0], "own": create_key(store, "", "reader", collections=[OWN])[0]}
    with serve_with(require_key=True, cache=cache) as (served, _):
        held = replace(served, keys=keys)
        with held.client("all") as everybody, held.client("own") as scoped:
            asked = {"query": QUESTION, "collection": OTHER, "mode": "keyword"}
            assert everybody.post("/search", json=asked).headers["x-monjyu-cache"] == "miss"
            wait_until(lambda: everybody.post("/search", json=asked).headers["x-monjyu-cache"] == "hit")
            trace_id = everybody.post("/search", json=asked).json()["trace_id"]
            refused = scoped.post("/search", json=asked)
            unknown = scoped.post("/search", json=asked | {"collection": UNKNOWN})
            assert refused.status_code == unknown.status_code == 404
            assert refused.json()["error"]["message"].replace(OTHER, UNKNOWN) == unknown.json()["error"]["message"]
            assert scoped.get(f"/traces/{trace_id}").status_code == 404
            for form in ("ro-crate", "markdown"):
                path = f"/answers/{trace_id}/export"
                assert scoped.get(path, params={"format": form}).status_code == 404
                assert everybody.get(path, params={"format": form}).status_code == 200
            own = scoped.post("/search", json=asked | {"collection": OWN})
            assert own.headers["x-monjyu-cache"] == "miss" and "measured forty-two" not in own.text


def test_kept_results_are_given_by_scope(serve_with: Serving, service_data: Path, published: list[str]) -> None:
    kept_by_scope(serve_with, service_data, "memory")


@needs_redis
def test_results_kept_in_redis_are_given_by_scope(
    serve_with: Serving,
    service_data: Path,
    published: list[str],
    redis_url: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MONJYU_CACHE__REDIS_URL", redis_url)
    kept_by_scope(serve_with, service_data, "redis")


@pytest.fixture
def obeying(service_data: Path, published: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModels]:
    """A model that obeys what it reads, in every role that a question asks, with the cache of answers on."""
    monkeypatch.setenv("MONJYU_DATA", str(service_data))
    with FakeModels() as fake:
        for name, value in fake.environment("EXPAND", "ASSESS", "CLAIMS", "ANSWER", "VERIFY").items():
            monkeypatch.setenv(name, value)
        fake.default = lambda request: server.say("PWNED" if "zebrafish" in request.prompt else request.prompt)
        yield fake


@pytest.mark.parametrize("mode", ["hybrid", "lazy"])
def test_an_obeying_model_sees_and_spoils_one_collection(obeying: FakeModels, service_data: Path, mode: str) -> None:
    data = DataFolder(service_data)

    def sentences(name: str) -> list[str]:
        with reading(data.collection(name)) as snapshot:
            rows = snapshot.cursor().execute("SELECT DISTINCT text FROM sentences WHERE length(text) > 60").fetchall()
        return [" ".join(text.split()) for (text,) in rows]

    query = "What do relevance tests of a budget measure?"
    texts = {name: set(sentences(name)) for name in (OWN, OTHER)}
    assert not texts[OWN] & texts[OTHER]
    shown: dict[str, str] = {}
    for name in (OTHER, OWN, OTHER):  # the hostile one first, and again: its answers are kept by then
        before = len(obeying.requests)
        request = make_request(query=query, collection=name, mode=mode)
        shown[name] = json.dumps(Searcher(data, name).search(request).model_dump(), ensure_ascii=False)
        prompts = " ".join(" ".join(one.prompt.split()) for one in obeying.requests[before:])
        foreign = texts[OTHER if name == OWN else OWN]
        assert not [text for text in foreign if text in prompts or text in " ".join(shown[name].split())], name
    assert "PWNED" not in shown[OWN] and "zebrafish" not in shown[OWN]
    assert obeying.requests and obeying.problems == []
