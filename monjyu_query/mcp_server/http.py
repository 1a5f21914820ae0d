"""Serves MCP over streamable HTTP behind the HTTP service's gate: the same keys, checks, rates and limits."""

import json
import socket
import time
import uuid
from typing import Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monjyu_core.settings.service import ServiceSettings
from monjyu_core.storage.state_store import StateStore
from monjyu_query.service.access import audit
from monjyu_query.service.access.addresses import is_loopback
from monjyu_query.service.access.audit import AuditLog
from monjyu_query.service.access.gate import Gate
from monjyu_query.service.access.principals import Authority, check_exposure
from monjyu_query.service.server.http_limits import server_config


# The audit log has a line per request, like that of the HTTP service, with the tool that was called.
def audited(app: ASGIApp, log: AuditLog | None) -> ASGIApp:
    """Log each request of the application, which is the gate, so that refused requests are logged too."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        status, started = 0, time.perf_counter()

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
            await send(message)

        try:
            await app(scope, receive, answer)
        finally:
            if log is not None:
                log.write(scope, PATH, status, time.perf_counter() - started)

    return call


def of_caller(app: ASGIApp) -> ASGIApp:
    """Tell the SDK who the caller is, so that a session serves only the key that opened it, and log the called tool and
    its collection. This runs inside the gate, whose limits apply to the body."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        name, body = scope["state"]["principal"].name, bytearray()
        scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))

        async def heard() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    audit.note(scope, **_called(bytes(body)))
                    body.clear()
            return message

        await app(scope, heard, send)

    return call


def _called(body: bytes) -> dict[str, str]:
    """Return the tool and the collection of a call, but no other argument."""
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


PATH = "/mcp"
STOP_SECONDS = 5
"""Seconds from a stop request until running work is abandoned."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def http_app(server: MCPServer[Any], settings: ServiceSettings, host: str, store: StateStore) -> ASGIApp:
    """Return the ASGI application for a server that listens on `host`.

    Raises ConfigurationError if other machines can reach the address and there is neither a key nor an issuer.
    """
    own = settings.model_copy(update={"host": host})
    check_exposure(own, store)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        transport_security=_names(own),
        max_request_body_size=own.max_body_kb << 10,
    )
    log = AuditLog(store.path.parent / "audit") if own.audit else None
    gate = audited(Gate(of_caller(app), own, Authority(own, store)), log)

    async def gated(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["state"] = {"request_id": uuid.uuid4().hex[:16]}  # the gate adds the caller
            await gate(scope, receive, send)
        else:  # the application's start and end
            await app(scope, receive, send)
            if log is not None:
                log.close()

    return gated


def _names(settings: ServiceSettings) -> TransportSecuritySettings:
    """Return settings for the SDK's own check of Host and Origin, with the names that the gate admits."""
    names = {*LOOPBACK, *settings.allowed_hosts, *([] if is_loopback(settings.host) else [settings.host])}
    return TransportSecuritySettings(
        enable_dns_rebinding_protection="*" not in names,
        allowed_hosts=[form for name in sorted(names) for form in (name, f"{name}:*")],
        allowed_origins=[
            *(
                f"{scheme}://{name}{port}"
                for name in sorted(names)
                for scheme in ("http", "https")
                for port in ("", ":*")
            ),
            *settings.cors_origins,
        ],
    )


def run(app: ASGIApp, bound: socket.socket, settings: ServiceSettings) -> None:
    """Serve until SIGINT or SIGTERM; headers that are too long or arrive too slowly are refused."""
    uvicorn.Server(server_config(app, settings, STOP_SECONDS)).run(sockets=[bound])
