"""POST /search and POST /search/stream."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path
from fastapi.responses import Response, StreamingResponse
from fastapi.sse import EventSourceResponse
from pydantic import BaseModel, Field
from starlette.requests import Request

from monjyu_query.asking.request import SearchQuestion, SearchRequest
from monjyu_query.asking.result import SearchResult
from monjyu_query.service.access import audit
from monjyu_query.service.access.principals import Principal
from monjyu_query.service.searches.older_snapshot import SNAPSHOT
from monjyu_query.service.searches.running_search import KeptResult, Search, look_up
from monjyu_query.service.searches.stops import SEARCH_ID, Stoppable
from monjyu_query.service.searches.streaming import stream_events
from monjyu_query.service.server.error_responses import COMMON, ClientGone, request_id_of
from monjyu_query.service.server.request_parts import Shared, examples
from monjyu_query.service.worker_state import Service

router = APIRouter(tags=["search"], responses=COMMON)

_ASKED = {"query": "How do incremental indexes stay equal to full rebuilds?", "collection": "samples"}
_PASSAGES = {"mode": "keyword", "top_k": 5, "filters": {"year_from": 2020, "section_types": ["methods", "results"]}}
EXAMPLES = examples(
    ("A question, answered from the best passages", _ASKED),
    ("A lazy search with a budget of 100 relevance tests", {**_ASKED, "mode": "lazy", "budget": "z100"}),
    ("Passages only, of some papers", {**_ASKED, **_PASSAGES, "answer": False}),
)
STEPS = ("subquery", "community", "test", "claim", "budget", "phase_start", "phase")
EVENT = {
    "type": "object",
    "required": ["event", "data"],
    "properties": {
        "event": {"enum": [*STEPS, "answer", "done", "error"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}


class SearchOfSnapshot(SearchQuestion):
    """A question, and the snapshot that is to answer it: the published one where none is named. One that is not kept
    any more is a 404 of type `SnapshotGone`."""

    snapshot: Annotated[str, Field(pattern=SNAPSHOT)] | None = None

    @property
    def question(self) -> SearchRequest:
        return SearchRequest.model_validate(self.model_dump(exclude={"snapshot"}))


class Stopped(BaseModel):
    """The search that is told to stop, if it is still under way."""

    search_id: str


Asked = Annotated[SearchOfSnapshot, Body(openapi_examples=EXAMPLES)]


@router.post("/search", response_model=SearchResult, summary="Ask a collection a question")
async def search(asked: Asked, service: Shared, request: Request) -> Response:
    """Hits and, unless `answer` is false, an answer whose every sentence is cited."""
    note(asked, service, request)
    found = _look_up(service, asked)
    if isinstance(found, KeptResult):
        return _json(found.content, kept=True)
    content = await watched(found.run(), request)
    return _json(content, kept=found.was_kept)


@router.post(
    "/search/stream",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"text/event-stream": {"schema": EVENT}},
            "description": "Server-sent events, each with a JSON object as data: that of the last, `done`, is the "
            "result of POST /search; after an `error` nothing comes.",
        }
    },
)
async def search_stream(asked: Asked, service: Shared, request: Request) -> Response:
    """The search ends when the client disconnects. POST /search/{search_id}/stop, with the id of the header
    `X-Monjyu-Search`, ends it with what it has found."""
    note(asked, service, request)
    stoppable = Stoppable(service.stops, _principal(request).asker)
    return EventSourceResponse(
        stream_events(_look_up(service, asked), request_id_of(request), stoppable),
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Monjyu-Search": stoppable.id},
    )


@router.post("/search/{search_id}/stop", status_code=202, summary="End a search with what it has found")
def stop(
    search_id: Annotated[str, Path(description="`X-Monjyu-Search` of POST /search/stream.", pattern=SEARCH_ID)],
    service: Shared,
    request: Request,
) -> Stopped:
    """Only for your own searches; the response does not show whether it was still running. The stream of the search
    then ends with a partial result."""
    service.stops.stop(search_id, _principal(request).asker)
    return Stopped(search_id=search_id)


def _look_up(service: Service, asked: SearchOfSnapshot) -> KeptResult | Search:
    return look_up(service, asked.question, asked.snapshot)


def _principal(request: Request) -> Principal:
    principal: Principal = request.scope["state"]["principal"]
    return principal


def note(asked: SearchQuestion, service: Service, request: Request) -> None:
    """For the audit log; the question only where a setting says so."""
    query = {"query": asked.query} if service.settings.service.audit_questions else {}
    audit.note(request.scope, collection=asked.collection, mode=asked.mode, **query)


async def in_turn(
    service: Service,
    request: Request,
    work: Callable[[threading.Event], bytes],
    *,
    long: bool = True,
    seconds: float | None = None,
) -> bytes:
    """What `work(cancel)` gives, done when its turn comes; `long`: it takes steps, and waits in the line of those.
    `cancel` is set after `seconds`, by default those of a search."""
    cancel, turns = threading.Event(), service.long_turns if long else service.turns
    most = seconds or service.settings.service.search_seconds
    return await watched(turns.take(lambda: work(cancel), cancel, most), request)


async def watched(search: Coroutine[Any, Any, bytes], request: Request) -> bytes:
    """The result. When the client goes away, a search that waits is never begun, and one that runs is ended."""
    running, gone = asyncio.create_task(search), asyncio.create_task(_gone(request))
    try:
        await asyncio.wait((running, gone), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            return running.result()
        raise ClientGone("The client has disconnected.")
    finally:  # also when the service stops meanwhile
        running.cancel()
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _json(content: bytes, *, kept: bool) -> Response:
    headers = {"X-Monjyu-Cache": "hit" if kept else "miss", "Cache-Control": "no-store"}
    return Response(content, media_type="application/json", headers=headers)
