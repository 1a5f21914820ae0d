"""Clients that go away: their searches give their places back, those that wait without ever being begun."""

from __future__ import annotations

import json
import re
import socket
import time
from typing import Any

import httpx2

from tests.query.service.conftest import Served, Serving
from tests.waiting import wait_until

DROPPED = 100
LAZY = {"collection": "samples", "mode": "lazy", "budget": "z100"}
KEYWORD = {"collection": "samples", "mode": "keyword", "answer": False}
MESSAGE: dict[str, Any] = {"role": "user", "content": ""}


def _asked(path: str, values: dict[str, Any], number: int) -> dict[str, Any]:
    """A question that nobody has asked before: nothing kept answers it."""
    question = f"How is budget {number} of {time.time_ns()} spent on incremental indexes and provenance?"
    if path.startswith("/v1"):
        return {**values, "messages": [{**MESSAGE, "content": question}]}
    return {**values, "query": question}


def _drop(served: Served, path: str, values: dict[str, Any], many: int) -> None:
    """So many clients ask at once and go away without having read a byte."""
    host, port = served.url.removeprefix("http://").split(":")
    sockets = []
    for number in range(many):
        body = json.dumps(_asked(path, values, number)).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection = socket.create_connection((host, int(port)), timeout=20)
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        sockets.append(connection)
    for connection in sockets:
        connection.close()


def _figure(client: httpx2.Client, name: str, line: str) -> float:
    found = re.search(rf'^monjyu_searches_{name}{{line="{line}"}} (.+)$', client.get("/metrics").text, re.MULTILINE)
    assert found is not None
    return float(found[1])


def _ask(client: httpx2.Client) -> None:
    answer = client.post("/search", json=_asked("/search", {**LAZY, "budget": 10}, 0))
    assert answer.status_code == 200 and answer.json()["usage"]["relevance_tests"] > 5


KINDS: list[tuple[str, dict[str, Any], str]] = [
    ("/search/stream", LAZY, "long"),
    ("/search", LAZY, "long"),
    ("/search", KEYWORD, "quick"),
    ("/v1/chat/completions", {"model": "samples:lazy:z100"}, "long"),
    ("/v1/chat/completions", {"model": "samples:lazy:z100", "stream": True}, "long"),
]


def test_searches_that_nobody_waits_for_are_not_begun(serve_with: Serving) -> None:
    """Of 100 searches that are dropped at once all but a few would be begun, one by one."""
    with serve_with(searches=1, long_searches=1) as (served, _), served.client() as client:
        for path, values, line in KINDS:
            before = _figure(client, "begun_total", line)
            _drop(served, path, values, DROPPED)
            wait_until(lambda: _figure(client, "waiting", line) == 0)  # noqa: B023
            _ask(client)
            wait_until(lambda: _figure(client, "running", line) == 0)  # noqa: B023
            assert _figure(client, "begun_total", line) - before < DROPPED / 2, (path, line)
