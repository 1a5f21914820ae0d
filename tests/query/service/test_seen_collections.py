"""Route × role × collection: what a key of one collection is told of another is what it is told of none at all.

The routes are the application's own list: one that is new fails here until it is decided who may see what of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import httpx2
import pytest
from fastapi import APIRouter
from starlette.routing import BaseRoute, Mount, Route

from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.state_store import StateStore
from monjyu_query.service.access.keys import create_key
from monjyu_query.service.app import create_app
from tests.query.service.conftest import Served, Serving, upload

OWN, OTHER, UNKNOWN = "samples", "hostile", "absent9"
"""The last two are of one length: answers to them are compared byte by byte."""
TRAITS = (OTHER, "zebrafish", "evil<", "A quiet paper")
"""What would tell of the other collection."""
PAPER, OTHER_PAPER = "relevance-budget-438725c6", "answer-provenance-ac1d5330"
QUESTION = {"query": "What did the zebrafish measure?", "mode": "keyword"}
ROLES = ("reader", "admin", "reader of samples", "admin of samples")

_NUMBERS = count()

Ask = Callable[[httpx2.Client, str], httpx2.Response]
"""A call that is about a collection."""


@dataclass(frozen=True)
class Public:
    """Anyone may read it, and all are told the same."""

    path: str = ""


@dataclass(frozen=True)
class Lists:
    """It shows what whoever asks may see, without being given a name."""

    path: str = ""


@dataclass(frozen=True)
class Whole:
    """It tells of all collections, so that who may not see them all may not ask."""

    path: str = ""


@dataclass(frozen=True)
class OfOne:
    """It is given a collection. `own`: what it answers to who may see that one, `role`: who that must be."""

    ask: Ask
    own: int = 200
    role: str = "reader"


@dataclass(frozen=True)
class ByRole:
    """What it answers to each of `ROLES`, which says nothing of a collection."""

    ask: Callable[[httpx2.Client], httpx2.Response]
    statuses: tuple[int, int, int, int]
    path: str = ""


def _get(path: str) -> Ask:
    return lambda client, name: client.get(path, params={"collection": name})


def _post(path: str, **values: Any) -> Ask:
    return lambda client, name: client.post(path, json={"collection": name, **values})


def _with(path: str, **values: Any) -> Ask:
    return lambda client, name: client.get(path, params={"collection": name, **values})


def _speaking(client: httpx2.Client, name: str) -> httpx2.Response:
    return client.get("/map/papers", params={"collection": name, "phrase": "x"})


def _chat(client: httpx2.Client, name: str) -> httpx2.Response:
    values = {"model": f"{name}:keyword", "messages": [{"role": "user", "content": QUESTION["query"]}]}
    return client.post("/v1/chat/completions", json=values)


def _embeddings(client: httpx2.Client, name: str) -> httpx2.Response:
    return client.post("/v1/embeddings", json={"model": name, "input": "leases"})


def _model(client: httpx2.Client, name: str) -> httpx2.Response:
    return client.get(f"/v1/models/{name}")


def _trace(client: httpx2.Client, name: str) -> httpx2.Response:
    """Of a question that the same key has just asked, and nobody before; of none where it may not ask."""
    query = f"{QUESTION['query']} {next(_NUMBERS)}"
    asked = client.post("/search", json={"collection": name, **QUESTION, "query": query})
    return client.get(f"/traces/{asked.json().get('trace_id', '0' * 16)}")


def _export(client: httpx2.Client, name: str) -> httpx2.Response:
    query = f"{QUESTION['query']} {next(_NUMBERS)}"
    asked = client.post("/search", json={"collection": name, **QUESTION, "query": query})
    return client.get(f"/answers/{asked.json().get('trace_id', '0' * 16)}/export")


def _removed(client: httpx2.Client, name: str) -> httpx2.Response:
    return client.delete("/questions/none", params={"collection": name})


def _upload(client: httpx2.Client, name: str) -> httpx2.Response:
    return upload(client, name, ("a.exe", b"x"))  # refused, so that nothing is stored


DECIDED: dict[str, Public | Lists | Whole | OfOne | ByRole] = {
    "GET /": Public(),
    "GET /health": Public(),
    "GET /docs": Public(),
    "GET /openapi.json": Public(),
    "GET /favicon.ico": Public(),
    "GET /static": Public("/static/main.js"),
    "GET /ready": Lists(),
    "GET /collections": Lists(),
    "GET /v1/models": Lists(),
    "GET /metrics": Whole(),
    "POST /search": OfOne(_post("/search", **QUESTION)),
    "POST /search/stream": OfOne(_post("/search/stream", **QUESTION)),
    "POST /search/vector": OfOne(_post("/search/vector", vector=[0.5] * 384)),
    "POST /embed": OfOne(_post("/embed", text="What is a budget?")),
    "POST /search/{search_id}/stop": ByRole(lambda client: client.post(f"/search/{'0' * 32}/stop"), (202,) * 4),
    "POST /summarize": OfOne(_post("/summarize", paper_id=PAPER)),
    "POST /compare": OfOne(_post("/compare", paper_ids=[PAPER, OTHER_PAPER])),
    "POST /survey": OfOne(_post("/survey", topic="graphs")),
    "POST /table": OfOne(_post("/table", columns=["method"])),
    "POST /v1/chat/completions": OfOne(_chat),
    "POST /v1/embeddings": OfOne(_embeddings),
    "GET /v1/models/{model}": OfOne(_model),
    "GET /traces/{trace_id}": OfOne(_trace),
    "GET /answers/{trace_id}/export": OfOne(_export),
    "GET /papers": OfOne(_get("/papers")),
    "GET /bibliography": OfOne(_get("/bibliography")),
    "GET /missing": OfOne(_get("/missing")),
    "GET /papers/{paper_id:path}": OfOne(_get(f"/papers/{PAPER}")),
    "GET /papers/{paper_id:path}/citations": OfOne(_get(f"/papers/{PAPER}/citations")),
    "GET /papers/{paper_id:path}/pages/{number}.png": OfOne(_get(f"/papers/{PAPER}/pages/1.png")),
    "GET /papers/{paper_id:path}/details": OfOne(_get(f"/papers/{PAPER}/details")),
    "GET /papers/{paper_id:path}/sentences": OfOne(_with(f"/papers/{PAPER}/sentences", text="budget")),
    "GET /library": OfOne(_get("/library")),
    "GET /library/problems": OfOne(_get("/library/problems")),
    "GET /library/values": OfOne(_with("/library/values", kind="authors")),
    "GET /corrections": OfOne(_with("/corrections", paper_id=PAPER)),
    "POST /corrections": OfOne(_post("/corrections", paper_id=PAPER, field="title", value=None), 200, "admin"),
    "POST /locate": OfOne(_post("/locate", quote="a budget of relevance tests")),
    "POST /check-citations": OfOne(_post("/check-citations", text="Budgets are spent on tests (Sato, 2023).")),
    "GET /questions": OfOne(_get("/questions")),
    "GET /questions/changes": OfOne(_get("/questions/changes"), 409),
    "POST /questions": OfOne(_post("/questions", text="What is a budget?", mode="keyword"), 200, "admin"),
    "POST /questions/run": OfOne(_post("/questions/run", ids=["none"]), 404, "admin"),
    "DELETE /questions/{question_id}": OfOne(_removed, 404, "admin"),
    "GET /tensions": OfOne(_get("/tensions")),
    "GET /reviews": OfOne(_get("/reviews")),
    "POST /reviews": OfOne(_post("/reviews", protocol="name: [x"), 409, "admin"),
    "GET /reviews/{name}": OfOne(_get("/reviews/none"), 404),
    "POST /reviews/{name}/run": OfOne(_post("/reviews/none/run"), 404, "admin"),
    "POST /reviews/{name}/decide": OfOne(_post("/reviews/none/decide", paper_id=PAPER), 404, "admin"),
    "GET /reviews/{name}/evidence": OfOne(_get("/reviews/none/evidence"), 404),
    "GET /reviews/{name}/export": OfOne(_get("/reviews/none/export"), 404),
    "GET /whoami": ByRole(lambda client: client.get("/whoami"), (200, 200, 200, 200)),
    "GET /graph": OfOne(_get("/graph")),
    "GET /map": OfOne(_get("/map")),
    "GET /map/papers": OfOne(_speaking, 409),  # this and themes need level 1
    "GET /themes": OfOne(_get("/themes"), 409),
    "GET /themes/{theme_id:path}": OfOne(_get("/themes/x"), 409),
    "POST /page/session": Public(),
    "POST /admin/index": OfOne(_post("/admin/index"), 409, "admin"),  # there is no Dagster here
    "POST /admin/upgrade": OfOne(_post("/admin/upgrade", level=0), 409, "admin"),
    "POST /admin/rollback": OfOne(_post("/admin/rollback", snapshot_id="x", release=True), 409, "admin"),
    "POST /admin/papers": OfOne(_upload, 409, "admin"),
    "GET /admin/index": OfOne(_with("/admin/index", backfill_id="abcdefgh"), 409, "admin"),
    "POST /admin/estimate": OfOne(_post("/admin/estimate", level=0), 200, "admin"),
    "GET /admin/snapshots": OfOne(_get("/admin/snapshots"), 200, "admin"),
    "GET /admin/snapshots/diff": OfOne(_with("/admin/snapshots/diff", older="x", newer="y"), 404, "admin"),
    "GET /admin/runs": ByRole(lambda client: client.get("/admin/runs"), (403, 200, 403, 403)),
    "GET /admin/keys": ByRole(lambda client: client.get("/admin/keys"), (403, 200, 403, 403)),
    "POST /admin/keys": ByRole(lambda client: client.post("/admin/keys", json={"name": "x"}), (403, 201, 403, 403)),
    "POST /admin/keys/revoke": ByRole(
        lambda client: client.post("/admin/keys/revoke", json={"id": "00000000"}), (403, 404, 403, 403)
    ),
    "POST /admin/samples": ByRole(lambda client: client.post("/admin/samples"), (403, 409, 403, 409)),
}


def _routes(routes: list[BaseRoute]) -> Iterator[str]:
    for route in routes:
        inside = getattr(route, "original_router", None)
        if isinstance(inside, APIRouter):
            yield from _routes(inside.routes)
        elif isinstance(route, Mount):
            yield f"GET {route.path}"
        else:
            assert isinstance(route, Route) and route.methods, route
            yield from (f"{method} {route.path}" for method in route.methods - {"HEAD"})


def test_every_route_is_decided(service_data: Any) -> None:
    app = create_app(DataFolder(service_data), Settings())
    assert set(_routes(app.routes)) == set(DECIDED)
    app.state.service.close()


@pytest.fixture(scope="module")
def holders(service_data: Any) -> dict[str, str]:
    """Keys by who holds them."""
    store = StateStore(service_data / "state")
    past = datetime.now(UTC) - timedelta(seconds=1)
    return {
        "reader": create_key(store, "", "reader")[0],
        "admin": create_key(store, "", "admin")[0],
        "reader of samples": create_key(store, "", "reader", collections=[OWN])[0],
        "admin of samples": create_key(store, "", "admin", collections=[OWN])[0],
        "admin until now": create_key(store, "", "admin", past)[0],
    }


@pytest.fixture
def asking(
    serve_with: Serving, holders: dict[str, str], published: list[str]
) -> Iterator[Callable[[str | None], httpx2.Client]]:
    """Clients of a service that needs a key, by who asks."""
    with serve_with(require_key=True) as (served, _):
        held = replace(served, keys=holders)
        clients: list[httpx2.Client] = []

        def client(role: str | None) -> httpx2.Client:
            clients.append(Served.client(held, role))
            return clients[-1]

        yield client
        for one in clients:
            one.close()


def told(answer: httpx2.Response, name: str) -> tuple[object, ...]:
    """All of an answer but when and under which number it was given, and the name that was asked about."""
    shown = {key: value for key, value in answer.headers.items() if key not in ("date", "x-request-id")}
    text = re.sub(r'"request_id": ?"[^"]*"', "", answer.text).replace(name, "NAME")
    return answer.status_code, shown, text


def test_a_key_of_one_collection_is_told_nothing_of_another(asking: Callable[[str | None], httpx2.Client]) -> None:
    nobody, late = asking(None), asking("admin until now")
    clients = {role: asking(role) for role in ROLES}
    of_samples = [clients["reader of samples"], clients["admin of samples"]]
    for name, decided in DECIDED.items():
        path = name.split()[1] if isinstance(decided, OfOne) or not decided.path else decided.path
        if isinstance(decided, Public):
            (same,) = {told(client.get(path), path)[2] for client in (nobody, late, *clients.values())}
            assert not any(trait in same for trait in TRAITS), name
            continue

        def ask(client: httpx2.Client, about: str, decided: Any = decided, path: str = path) -> httpx2.Response:
            if isinstance(decided, ByRole):
                return decided.ask(client)
            answer: httpx2.Response = decided.ask(client, about) if isinstance(decided, OfOne) else client.get(path)
            return answer

        assert [ask(client, OWN).status_code for client in (nobody, late)] == [401, 401], name
        assert "The key expired at" in ask(late, OWN).text, name
        if isinstance(decided, ByRole):
            answers = [ask(client, "") for client in clients.values()]
            assert tuple(answer.status_code for answer in answers) == decided.statuses, name
            assert not any(trait in answer.text for answer in answers[2:] for trait in TRAITS), name
            continue
        if isinstance(decided, Whole):
            assert [ask(client, "").status_code for client in clients.values()] == [200, 200, 403, 403], name
            continue
        if isinstance(decided, Lists):
            assert all(OTHER in ask(clients[role], "").text for role in ("reader", "admin")), name
            for client in of_samples:
                answer = ask(client, "")
                assert answer.status_code == 200 and OWN in answer.text, name
                assert not any(trait in answer.text for trait in TRAITS), name
            continue
        for role, client in clients.items():
            admitted = decided.role == "reader" or role.startswith("admin")
            own = ask(client, OWN)
            assert own.status_code == (decided.own if admitted else 403), (name, role, own.text)
            if client not in of_samples:
                continue
            other, unknown = ask(client, OTHER), ask(client, UNKNOWN)
            assert other.status_code == (404 if admitted else 403), (name, role)
            assert told(other, OTHER) == told(unknown, UNKNOWN), (name, role)
            for answer in (own, other):
                known = answer.text.replace(OTHER, "") if answer is other else answer.text
                assert not any(trait in known for trait in TRAITS if trait not in QUESTION["query"]), (name, role)


def test_what_is_not_named_is_the_only_collection_that_is_seen(asking: Callable[[str | None], httpx2.Client]) -> None:
    mine, everyones = asking("reader of samples"), asking("reader")
    assert mine.get("/papers").json()["collection"] == OWN
    assert mine.get(f"/papers/{PAPER}/pages/1.png").status_code == 200
    assert everyones.get("/papers").status_code == 409
    assert OTHER in everyones.get("/papers").text  # which there are, is told to who may see them
    foreign = everyones.get("/papers", params={"collection": OTHER}).json()["papers"][0]["paper_id"]
    assert mine.get(f"/papers/{foreign}").status_code == mine.get("/papers/none").status_code == 404


def test_a_kept_answer_is_for_those_who_may_see_its_collection(asking: Callable[[str | None], httpx2.Client]) -> None:
    asked = {**QUESTION, "collection": OTHER}
    kept = [asking("reader").post("/search", json=asked).headers["x-monjyu-cache"] for _ in range(2)]
    assert kept[1] == "hit"
    refused = asking("reader of samples").post("/search", json=asked)
    assert refused.status_code == 404 and "x-monjyu-cache" not in refused.headers


def test_a_key_limits_also_where_none_is_needed(serve_with: Serving, holders: dict[str, str]) -> None:
    with serve_with() as (served, _), replace(served, keys=holders).client("reader of samples") as client:
        assert client.get("/papers", params={"collection": OTHER}).status_code == 404
        assert client.get("/metrics").status_code == 403
