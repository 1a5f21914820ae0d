"""Who calls: over stdio the person who started the server, over HTTP whom the gate has let in."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import Context

from monjyu_core.errors import QueryError


def require_admin(context: Context[Any, Any]) -> None:
    """QueryError for a caller over HTTP without an administrator's key."""
    request = context.request_context.request
    if request is None:
        return
    principal = request.scope.get("state", {}).get("principal")
    if getattr(principal, "role", None) != "admin":
        raise QueryError(
            "Indexing over HTTP needs an administrator's key.",
            "A person makes one with `monjyu keys create --role admin`, or runs `monjyu index` in a shell.",
        )
