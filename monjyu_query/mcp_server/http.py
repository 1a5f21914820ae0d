"""Streamable HTTP: on the loopback address only, with the Host and Origin of each request checked."""

from __future__ import annotations

import socket
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette

from monjyu_core.errors import ConfigurationError

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_BODY = 1 << 20
"""Bytes of a request."""


def http_app(server: MCPServer[Any], host: str) -> Starlette:
    """The ASGI application. ConfigurationError for a host that is not the loopback address."""
    if host not in LOOPBACK:
        raise ConfigurationError(
            f"The MCP server listens on the loopback address only, not on {host!r}.",
            "Reach it through an SSH tunnel, or start it on the machine of its client without --http.",
        )
    names = ["127.0.0.1", "localhost", "[::1]"]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:*" for name in names],
        allowed_origins=[f"http://{name}:*" for name in names],
    )
    return server.streamable_http_app(
        streamable_http_path=PATH, host=host, transport_security=security, max_request_body_size=MOST_BODY
    )


def listen(host: str, port: int) -> socket.socket:
    """A bound socket; ConfigurationError where the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise ConfigurationError(
            f"{host}:{port} cannot be listened on: {error.strerror}.", "Choose a --port."
        ) from error
    return bound


def address(bound: socket.socket) -> str:
    """Where clients reach it."""
    host, port = bound.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"
