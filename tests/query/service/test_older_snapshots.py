"""Questions to older snapshots and searches that are stopped: what is kept answers, what was purged never does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2

from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.state_store import StateStore
from monjyu_query.service.access.keys import create_key
from monjyu_query.service.searches.cancellation import Stoppable, Stops
from tests.query.service.conftest import EVIL, Served, Serving

QUESTION = {"query": "What was measured once?", "collection": "hostile", "mode": "keyword"}


def kind(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["type"]


def test_the_snapshot_that_is_named_answers(serve_with: Serving, published: list[str]) -> None:
    with serve_with() as (served, running), served.client() as client:
        answers = [client.post("/search", json={**QUESTION, "snapshot": name}).json() for name in (*published, None)]
        assert [one["snapshot_id"] for one in answers] == [*published, published[-1]]
        quiet = [any("quiet" in hit["text"] for hit in one["hits"]) for one in answers]
        assert quiet == [False, True, True]
        again = client.post("/search", json={**QUESTION, "snapshot": published[0]}).json()
        assert (again["answer"], again["citations"]) == (answers[0]["answer"], answers[0]["citations"])
        lines = client.post("/search/stream", json={**QUESTION, "snapshot": published[0]}).text.splitlines()
        assert json.loads(lines[-2].removeprefix("data: "))["snapshot_id"] == published[0]
        assert running.snapshot("hostile").id == published[-1]
        for path in ("/search", "/search/stream"):
            gone = client.post(path, json={**QUESTION, "snapshot": "20200101T000000000000Z-00000000"})
            assert kind(gone) == (404, "SnapshotGone")
            assert client.post(path, json={**QUESTION, "snapshot": "../samples"}).status_code == 422


def test_a_snapshot_with_a_purged_paper_is_not_asked(serve_with: Serving, published: list[str]) -> None:
    with serve_with() as (served, _), served.client() as client:
        asked = {**QUESTION, "query": "Which zebrafish swims?", "snapshot": published[0]}
        assert client.post("/search", json=asked).json()["hits"]
        with excluded(served.data, client):
            assert kind(client.post("/search", json=asked)) == (404, "SnapshotGone")
        assert client.post("/search", json=asked).status_code == 200


@contextmanager
def excluded(data: Path, client: httpx2.Client) -> Iterator[None]:
    """The collection's record as a purge that has only begun leaves it."""
    papers = client.get("/papers", params={"collection": "hostile"}).json()["papers"]
    evil = [one["paper_id"] for one in papers if one["title"] == EVIL["title"]]
    record = DataFolder(data).collection("hostile").record
    before = record.read_text()
    record.write_text(json.dumps(json.loads(before) | {"excluded": evil}))
    try:
        yield
    finally:
        record.write_text(before)


def test_who_may_not_see_the_collection_is_told_nothing_of_its_snapshots(
    serve_with: Serving, published: list[str]
) -> None:
    with serve_with(require_key=True) as (served, _):
        keys = {"samples": create_key(StateStore(served.data / "state"), "", "reader", collections=["samples"])[0]}
        with Served.client(replace(served, keys=keys), "samples") as client:
            told = [
                client.post("/search", json={**QUESTION, "collection": name, "snapshot": snapshot})
                for name in ("hostile", "absent9")
                for snapshot in (published[0], "20200101T000000000000Z-00000000")
            ]
            assert {kind(answer) for answer in told} == {(404, "NotFound")}


def test_only_who_asked_stops_a_search_from_whichever_worker(tmp_path: Path) -> None:
    async def stopped(stops: Stops, other: Stops, *askers: str | None) -> list[bool]:
        search, heard = Stoppable(stops, "key:a"), list[bool]()
        search.listen()
        for asker in askers:
            other.stop(search.id, asker)
            await asyncio.sleep(0 if other is stops else 1.3)
            heard.append(search.cancel.is_set())
        search.leave()
        return heard

    here, there = Stops(StateStore(tmp_path)), Stops(StateStore(tmp_path))
    asked: Any = ("key:b", None, "key:a")
    assert asyncio.run(stopped(here, here, *asked)) == [False, False, True]
    assert asyncio.run(stopped(here, there, "key:b", "key:a")) == [False, True]
    assert not here.under_way
