"""Adds limits on headers to uvicorn's HTTP protocol: their size, their number, and the time until they have arrived."""

from __future__ import annotations

import asyncio
import json
from asyncio.events import TimerHandle
from functools import partial
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from monjyu_core.settings.service import ServiceSettings
from monjyu_query.service.server.error_responses import body_of, name_of

MOST_HEADERS = 100
READ_AHEAD = 1 << 18
"""The maximum number of bytes of a read, including a body that arrives with its headers."""


def server_config(app: Any, settings: ServiceSettings, stop_seconds: int, **more: Any) -> uvicorn.Config:
    """Return uvicorn's configuration with the settings' limits on headers; `stop_seconds` after a stop request, running
    work is abandoned.

    The protocol is a `partial`, which can be pickled for worker processes; a class defined here could not.
    """
    limits = {"most_bytes": settings.max_header_kb << 10, "most_seconds": settings.header_seconds}
    return uvicorn.Config(
        app,
        http=partial(LimitedProtocol, **limits),  # type: ignore[arg-type]
        ws="none",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=stop_seconds,
        **more,
    )


class LimitedProtocol(HttpToolsProtocol):
    def __init__(self, *arguments: Any, most_bytes: int, most_seconds: float, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._most_bytes = most_bytes
        self._most_seconds = most_seconds
        self._bytes = 0
        self._raw = 0
        self._late: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._headers_are_there()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._bytes = 0
        self._await_headers()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        super().on_header(name, value)
        if len(self.headers) > MOST_HEADERS:
            self._count(self._most_bytes)

    def on_headers_complete(self) -> None:
        self._headers_are_there()
        if self._bytes <= self._most_bytes:
            super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        # An endless header reaches no callback, so the bytes until all headers have arrived are counted here.
        if self._late is not None:
            self._raw += len(data)
            if self._raw > self._most_bytes + READ_AHEAD:
                self._refuse(431, "The headers are too large.")
        if not self.transport.is_closing():
            super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > self._most_bytes:
            self._refuse(431, "The headers are too large.")

    def _await_headers(self) -> None:
        self._headers_are_there()
        self._late = self.loop.call_later(self._most_seconds, self._refuse, 408, "The headers arrived too slowly.")

    def _headers_are_there(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
        self._raw = 0

    def _refuse(self, status: int, message: str) -> None:
        """Answer with an error and close the connection, unless it is already closing."""
        self._headers_are_there()
        if self.transport.is_closing():
            return
        content = json.dumps(body_of(name_of(status), message, "")).encode()
        lines: list[Any] = [
            STATUS_LINE[status],
            b"content-type: application/json\r\n",
            b"content-length: %d\r\n" % len(content),
            b"connection: close\r\n\r\n",
            content,
        ]
        self.transport.write(b"".join(lines))
        self.transport.close()
