"""GET /traces/{id}: whoever asked sees how it went; for everyone else, but administrators, there is no such trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from monjyu_core.storage.state_store import StateStore
from monjyu_query.search.shown_trace import ShownTrace
from monjyu_query.search.traces import NAMESPACE
from monjyu_query.service.access.keys import create_key
from monjyu_query.service.worker_state import Service
from tests.query.service.conftest import Served, Serving

OWN, OTHER, NONE = "samples", "hostile", "0" * 16
BUDGET = "relevance-budget-438725c6"
Asking = Callable[[str | None], httpx2.Client]


@pytest.fixture(scope="module")
def holders(service_data: Any) -> dict[str, str]:
    """Keys by who holds them."""
    store = StateStore(service_data / "state")
    return {
        "ada": create_key(store, "", "reader")[0],
        "ben": create_key(store, "", "reader")[0],
        "cleo": create_key(store, "", "reader")[0],
        "admin": create_key(store, "", "admin")[0],
        "admin of samples": create_key(store, "", "admin", collections=[OWN])[0],
    }


@pytest.fixture
def keyed(serve_with: Serving, holders: dict[str, str], published: list[str]) -> Iterator[tuple[Asking, Service]]:
    """Clients of a service that needs a key, by who asks."""
    with serve_with(require_key=True) as (served, running):
        clients: list[httpx2.Client] = []

        def client(who: str | None) -> httpx2.Client:
            clients.append(Served.client(replace(served, keys=holders), who))
            return clients[-1]

        yield client, running
        for one in clients:
            one.close()


def asked(client: httpx2.Client, query: str, collection: str = OWN, **more: Any) -> dict[str, Any]:
    answer = client.post("/search", json={"query": query, "collection": collection, "mode": "keyword", **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def told(answer: httpx2.Response, trace_id: str) -> tuple[int, str]:
    return answer.status_code, re.sub(r'"request_id": ?"[^"]*"', "", answer.text).replace(trace_id, "ID")


def test_a_trace_is_shown_to_the_key_that_asked_and_to_administrators(
    keyed: tuple[Asking, Service], holders: dict[str, str]
) -> None:
    asking, _ = keyed
    ada, ben, admin = asking("ada"), asking("ben"), asking("admin")
    result = asked(ada, "What does a lease of a reader hold?", mode="lazy", budget=7)
    path = f"/traces/{result['trace_id']}"
    answer = ada.get(path)
    assert answer.status_code == 200, answer.text
    trace = ShownTrace.model_validate(answer.json())
    assert trace.asked_by == f"key:{holders['ada'].split('_')[1]}"
    assert trace.lazy is not None and trace.usage.relevance_tests == 7
    assert [hit.text for hit in trace.hits] == [hit["text"] for hit in result["hits"]]
    assert admin.get(path).json() == answer.json()
    assert asking(None).get(path).status_code == 401
    assert told(ben.get(path), result["trace_id"]) == told(ben.get(f"/traces/{NONE}"), NONE)
    assert ben.get(path).status_code == 404
    assert ada.get("/traces/unknown").status_code == 422


def test_who_is_given_a_kept_result_sees_its_trace_and_exports_the_answer(keyed: tuple[Asking, Service]) -> None:
    asking, _ = keyed
    ada, ben, cleo = asking("ada"), asking("ben"), asking("cleo")
    query = "What does a writer's lock keep others from?"
    first, second = asked(ada, query), asked(ben, query)
    assert first["trace_id"] == second["trace_id"], "answered once"
    for _ in range(2):  # before it is written, and after
        assert ben.get(f"/traces/{second['trace_id']}").json()["asked_by"] is None, (
            "who asked first is nobody's business"
        )
        assert ada.get(f"/answers/{first['trace_id']}/export").status_code == 200
    assert ada.get(f"/traces/{first['trace_id']}").json()["asked_by"].startswith("key:")
    assert ben.get(f"/answers/{second['trace_id']}/export").status_code == 200
    assert cleo.get(f"/answers/{second['trace_id']}/export").status_code == 404


def test_a_trace_of_a_collection_that_is_not_seen_is_none(keyed: tuple[Asking, Service]) -> None:
    asking, _ = keyed
    admin, limited = asking("admin"), asking("admin of samples")
    found = asked(admin, "What did the zebrafish swim in?", OTHER)["trace_id"]
    assert admin.get(f"/traces/{found}").status_code == 200
    hidden = limited.get(f"/traces/{found}")
    assert told(hidden, found) == told(limited.get(f"/traces/{NONE}"), NONE) and hidden.status_code == 404
    assert limited.get(f"/traces/{asked(admin, 'What is a hash of content?')['trace_id']}").status_code == 200


def test_every_way_in_says_who_asks(keyed: tuple[Asking, Service], holders: dict[str, str]) -> None:
    """Also where the search runs in another thread than the one that took the request."""
    asking, running = keyed
    ada = asking("ada")
    before = set(running.store.keys(NAMESPACE))
    chat = {"model": f"{OWN}:keyword", "messages": [{"role": "user", "content": "What is early cutoff?"}]}
    for path, body in (
        ("/search/stream", {"query": "What is an edge of the graph?", "collection": OWN, "mode": "lazy", "budget": 3}),
        ("/v1/chat/completions", chat),
        ("/v1/chat/completions", chat | {"stream": True, "model": f"{OWN}:vector"}),
        ("/summarize", {"paper_id": BUDGET, "collection": OWN, "focus": "What does a test cost?"}),
        ("/survey", {"topic": "incremental indexing", "collection": OWN, "papers": 2}),
    ):
        answer = ada.post(path, json=body)
        assert answer.status_code == 200 and answer.text, answer.text
    running.traces.flush()
    made = [running.store.get(NAMESPACE, name) for name in set(running.store.keys(NAMESPACE)) - before]
    assert len(made) == 5
    assert {trace["asked_by"] for trace in made if trace} == {f"key:{holders['ada'].split('_')[1]}"}


def test_where_no_key_is_needed_one_sees_what_was_asked_without_one(
    serve_with: Serving, holders: dict[str, str], published: list[str]
) -> None:
    with serve_with() as (served, running):
        held = replace(served, keys=holders)
        with held.client(None) as anyone, held.client("ada") as ada:
            hers, theirs = asked(ada, "What is a noun phrase?"), asked(anyone, "What is a community?")
            assert ada.get(f"/traces/{hers['trace_id']}").status_code == 200
            assert anyone.get(f"/traces/{hers['trace_id']}").status_code == 404
            assert anyone.get(f"/traces/{theirs['trace_id']}").json()["asked_by"] is None
            assert ada.get(f"/traces/{theirs['trace_id']}").status_code == 404
            old = running.store.get(NAMESPACE, theirs["trace_id"])
            assert old is not None
            running.store.put(NAMESPACE, "a" * 16, {name: one for name, one in old.items() if name != "asked_by"})
            assert anyone.get(f"/traces/{'a' * 16}").status_code == 404, "who asked is not known"
