"""GET /traces/{trace_id}: how a search went, for whoever asked."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from starlette.requests import Request

from monjyu_core.errors import QueryError
from monjyu_query.service.access.principals import Principal
from monjyu_query.service.server.error_responses import COMMON, NotFound
from monjyu_query.service.server.request_parts import Shared
from monjyu_query.service.worker_state import Service
from monjyu_query.traces.shown_trace import ShownTrace, show_trace
from monjyu_query.traces.traces import NAMESPACE, may_see, read_trace

router = APIRouter(tags=["search"], responses=COMMON)


@router.get("/traces/{trace_id}", summary="How a search went")
def trace(
    trace_id: Annotated[str, Path(description="`trace_id` of a result.", pattern="^[0-9a-f]{16}$")],
    request: Request,
    service: Shared,
) -> ShownTrace:
    """Only for your own searches; administrators may see all. A cached result has the trace of the first search,
    shown without `asked_by`. Texts are those of the current collection."""
    kept = trace_for(service, trace_id, request.scope["state"]["principal"])
    return show_trace(service.snapshot(kept["collection"]), trace_id, kept)


def trace_for(service: Service, trace_id: str, principal: Principal) -> dict[str, Any]:
    """The trace, where whoever asks may see it; who asked first only administrators and they themselves are shown.
    NotFound for all others alike."""
    try:
        kept = _kept(service, trace_id, principal.asker)
        if principal.role != "admin" and not may_see(kept, principal.asker):
            raise NotFound("It belongs to someone else.")
        service.folder(kept["collection"])
    except (QueryError, NotFound):  # which of them it was is nobody's business
        hint = "They are kept as traces.newest and traces.days say, until a purge. Ask the question again."
        raise NotFound(f"You have no trace {trace_id!r}.", hint) from None
    own = principal.role == "admin" or kept.get("asked_by") == principal.asker
    return kept if own else kept | {"asked_by": None}


def _kept(service: Service, trace_id: str, asker: str | None) -> dict[str, Any]:
    """One of a search that has just ended may not be written yet, nor that its kept result was given to `asker`."""
    kept = service.store.get(NAMESPACE, trace_id)
    if not isinstance(kept, dict) or not may_see(kept, asker):
        service.traces.flush()
    return read_trace(service.store, trace_id)
