"""The audit log of MCP over HTTP: a line a request as the HTTP service writes it, with the tool that was called."""

from __future__ import annotations

import json
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monjyu_query.service.access import audit
from monjyu_query.service.access.audit import AuditLog


class Audited:
    """Wraps the gate, so that a refused request gets a line too."""

    def __init__(self, app: ASGIApp, log: AuditLog | None, route: str) -> None:
        self._app = app
        self._log = log
        self._route = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._log is None:
            await self._app(scope, receive, send)
            return
        status, started = 0, time.perf_counter()

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, answer)
        finally:
            self._log.write(scope, self._route, status, time.perf_counter() - started)


class Named:
    """Within the gate, whose limits hold for the body: notes which tool is called, and for which collection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = bytearray()

        async def heard() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    audit.note(scope, **_called(bytes(body)))
                    body.clear()
            return message

        await self._app(scope, heard, send)


def _called(body: bytes) -> dict[str, str]:
    """Name and collection of a tool call; no other argument."""
    try:
        call: Any = json.loads(body)
        if call["method"] != "tools/call":
            return {}
        values = {
            "tool": call["params"]["name"],
            "collection": (call["params"].get("arguments") or {}).get("collection"),
        }
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}
    return {name: value for name, value in values.items() if isinstance(value, str)}
