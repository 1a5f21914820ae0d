"""An HTTP proxy that hands requests on and loses some answers: the server has done what the client never hears."""

from __future__ import annotations

import http.client
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE")
NOT_OURS = ("transfer-encoding", "connection", "keep-alive")


class LosingProxy(ThreadingHTTPServer):
    """`share` of the answers to writes are lost, and that to request `lose_at` from now; `lost` counts them, `asked`
    requests."""

    daemon_threads = True

    def __init__(self, server: str, share: float, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.host = urlsplit(server).netloc
        self.share, self.chance, self.lost = share, random.Random(seed), 0
        self.asked, self.at = 0, 0
        self.counting = threading.Lock()

    def lose_at(self, number: int) -> None:
        self.asked, self.at = 0, number

    def loses(self, method: str) -> bool:
        with self.counting:
            self.asked += 1
            lost = self.asked == self.at or (method != "GET" and self.chance.random() < self.share)
            self.lost += lost
        return lost

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away are what this is about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self) -> None:
        proxy = self.server
        assert isinstance(proxy, LosingProxy)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        connection = http.client.HTTPConnection(proxy.host, timeout=30)
        connection.request(self.command, self.path, body, dict(self.headers))
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if proxy.loses(self.command):
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in NOT_OURS and not (name.lower() == "content-length" and self.command != "HEAD"):
                self.send_header(name, value)
        if self.command != "HEAD":
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


for _method in METHODS:
    setattr(_Handler, f"do_{_method}", _Handler.handle_any)


@contextmanager
def losing(server: str, share: float = 0.0, seed: int = 0) -> Iterator[tuple[str, LosingProxy]]:
    """The address of such a proxy before a server, and the proxy."""
    proxy = LosingProxy(server, share, seed)
    thread = threading.Thread(target=proxy.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_address[1]}", proxy
    finally:
        proxy.shutdown()
        proxy.server_close()
        thread.join()
