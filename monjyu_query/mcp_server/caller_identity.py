"""Identifies callers: over stdio the person who started the server, over HTTP the caller that the gate admitted."""

import contextvars
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context

from monjyu_core.errors import QueryError
from monjyu_core.values import Values
from monjyu_query.api.facade import Monjyu
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.search.traces import asked_by, may_see

NONE: frozenset[str] = frozenset()
_seen: contextvars.ContextVar[frozenset[str] | None] = contextvars.ContextVar("collections seen", default=NONE)
"""The collections that the current caller may see, None = all; an empty set while no caller is known."""


class CallersMonjyu(AsyncMonjyu):
    """An `AsyncMonjyu` that sees only the current caller's collections."""

    @property
    def blocking(self) -> Monjyu:
        return super().blocking.seen_by(_seen.get())


async def know_caller(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Set the caller, and the collections that the caller may see, while a message to the server is answered."""
    request = ctx.request
    principal = None if request is None else _principal(request)
    seen = _seen.set(None if request is None else getattr(principal, "collections", NONE))
    asker = asked_by.set(getattr(principal, "asker", None))
    try:
        return await call_next(ctx)
    finally:
        asked_by.reset(asker)
        _seen.reset(seen)


def require_admin(context: Context[Any, Any]) -> None:
    """Raise QueryError for an HTTP caller without an administrator's key."""
    request = context.request_context.request
    if request is None:
        return
    if getattr(_principal(request), "role", None) != "admin":
        raise QueryError(
            "Indexing over HTTP needs an administrator's key.",
            "A person creates one with `monjyu keys create --role admin`, or runs `monjyu index` in a shell.",
        )


def may_see_trace(context: Context[Any, Any], trace: Values) -> bool:
    """Whether the caller may see a trace: over stdio any trace, over HTTP only the caller's own, unless the caller is
    an administrator."""
    request = context.request_context.request
    if request is None:
        return True
    principal = _principal(request)
    return getattr(principal, "role", None) == "admin" or may_see(trace, getattr(principal, "asker", None))


def _principal(request: Any) -> object:
    return request.scope.get("state", {}).get("principal")
