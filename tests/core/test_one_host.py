"""Servers that the settings name may not send a client on to another host: no redirect is followed, by any client."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from monjyu_core.observability import one_host_session
from monjyu_query.service.access.addresses import answer_of
from tests.import_graph import PACKAGES, ROOT

CLIENTS = {"httpx2", "urllib.request", "requests", "http.client", "aiohttp", "urllib3", "httpx"}
KNOWN = {
    "monjyu_core/models/clients/model_server.py",
    "monjyu_core/observability.py",
    "monjyu_assets/orchestration/up.py",
    "monjyu_assets/scholarly/service_client.py",
    "monjyu_query/saved/changes/digest.py",
    "monjyu_query/service/access/addresses.py",
    "monjyu_query/service/operations/dagster_runs.py",
}
"""Modules that open connections themselves; their requests go to addresses of the settings, and follow no redirect
(`up.py` asks the servers that it has started itself)."""


@pytest.fixture
def lured() -> Iterator[tuple[str, list[str]]]:
    """A server that sends everything on to a second one, and what the second one was asked."""
    asked: list[str] = []

    class Target(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    target = HTTPServer(("127.0.0.1", 0), Target)

    class Luring(Target):
        def do_GET(self) -> None:
            self.send_response(307)
            self.send_header("Location", f"http://localhost:{target.server_port}/stolen")
            self.end_headers()

        do_POST = do_GET

    luring = HTTPServer(("127.0.0.1", 0), Luring)
    for server in (target, luring):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{luring.server_port}/", asked
    for server in (target, luring):
        server.shutdown()
        server.server_close()


def test_no_redirect_is_followed(lured: tuple[str, list[str]]) -> None:
    address, asked = lured
    with pytest.raises(OSError, match="307"):
        answer_of(address, 5, 100)
    assert one_host_session().post(address, data=b"events", timeout=5).status_code == 307
    assert asked == []


def test_every_module_that_opens_connections_is_known() -> None:
    found = set()
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
                if CLIENTS & set(names):
                    found.add(str(path.relative_to(ROOT)))
    assert found <= KNOWN, found - KNOWN
