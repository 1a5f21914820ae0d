"""POST /search and /search/stream, POST /embed and /search/vector, GET /traces/{trace_id}."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request
from fastapi.responses import Response, StreamingResponse
from fastapi.sse import EventSourceResponse
from pydantic import BaseModel, Field

from monjyu_core.errors import QueryError
from monjyu_core.values import Values
from monjyu_query.api.vector_search import embedded, search_by_vector
from monjyu_query.asking.fields import CollectionBody
from monjyu_query.asking.request import LONGEST_QUERY, NUMBER, Filters, SearchQuestion, SearchRequest, make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.search.shown_trace import ShownTrace, show_trace
from monjyu_query.search.traces import NAMESPACE, may_see, read_trace
from monjyu_query.service.access import audit
from monjyu_query.service.access.principals import Principal
from monjyu_query.service.searches.cancellation import SEARCH_ID, Stoppable
from monjyu_query.service.searches.running_search import SNAPSHOT, CachedResult, Search, look_up
from monjyu_query.service.searches.streaming import stream_events
from monjyu_query.service.server.error_responses import COMMON, ClientDisconnected, NotFound, request_id_of
from monjyu_query.service.server.request_parts import Shared, examples, json_response, principal_of
from monjyu_query.service.worker_state import Served, Service

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
    """A question, and the snapshot that must answer it, by default the published one. If that snapshot no longer
    exists, the error is a 404 of type `SnapshotGone`."""

    snapshot: Annotated[str, Field(pattern=SNAPSHOT)] | None = None

    @property
    def question(self) -> SearchRequest:
        return SearchRequest.model_validate(self.model_dump(exclude={"snapshot"}))


class Stopped(BaseModel):
    """The id of the search that is stopped if it is still running."""

    search_id: str


Asked = Annotated[SearchOfSnapshot, Body(openapi_examples=EXAMPLES)]


@router.post("/search", response_model=SearchResult, summary="Ask a collection a question")
async def search(asked: Asked, service: Shared, request: Request) -> Response:
    """Returns hits and, unless `answer` is false, an answer in which every sentence is cited."""
    note(asked, service, request)
    found = _look_up(service, asked)
    if isinstance(found, CachedResult):
        return _json(found.content, kept=True)
    content = await watched(found.run(), request)
    return _json(content, kept=found.was_kept)


@router.post(
    "/search/stream",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {"text/event-stream": {"schema": EVENT}},
            "description": "Server-sent events, each with a JSON object as data. The last event is `done`, with the "
            "result of POST /search, or `error`.",
        }
    },
)
async def search_stream(asked: Asked, service: Shared, request: Request) -> Response:
    """The search ends when the client disconnects. POST /search/{search_id}/stop, with the id of the header
    `X-Monjyu-Search`, ends it with the result so far."""
    note(asked, service, request)
    stoppable = Stoppable(service.stops, principal_of(request).asker)
    return EventSourceResponse(
        stream_events(_look_up(service, asked), request_id_of(request), stoppable),
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Monjyu-Search": stoppable.id},
    )


@router.post("/search/{search_id}/stop", status_code=202, summary="End a search with its result so far")
def stop(
    search_id: Annotated[str, Path(description="`X-Monjyu-Search` of POST /search/stream.", pattern=SEARCH_ID)],
    service: Shared,
    request: Request,
) -> Stopped:
    """Only for your own searches; the response does not show whether it was still running. The stream of the search
    then ends with a partial result."""
    service.stops.stop(search_id, principal_of(request).asker)
    return Stopped(search_id=search_id)


def _look_up(service: Service, asked: SearchOfSnapshot) -> CachedResult | Search:
    return look_up(service, asked.question, asked.snapshot)


def note(asked: SearchQuestion, service: Service, request: Request) -> None:
    """Record the request in the audit log; the question only if a setting allows it."""
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
    """Run `work(cancel)` in the queue of long or of quick searches, and return its result. `cancel` is set after
    `seconds`, by default service.search_seconds."""
    cancel, turns = threading.Event(), service.long_turns if long else service.turns
    most = seconds or service.settings.service.search_seconds
    return await watched(turns.take(lambda: work(cancel), cancel, most), request)


async def watched(search: Coroutine[Any, Any, bytes], request: Request) -> bytes:
    """Return the result of a search. Raises ClientDisconnected when the client disconnects: a waiting search is then
    not started, and a running one is ended."""
    running, gone = asyncio.create_task(search), asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait((running, gone), return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            return running.result()
        raise ClientDisconnected("The client has disconnected.")
    finally:  # also when the service stops meanwhile
        running.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _json(content: bytes, *, kept: bool) -> Response:
    return json_response(content, {"X-Monjyu-Cache": "hit" if kept else "miss"})


MOST_DIMENSIONS = 16_384


class TextToEmbed(CollectionBody):
    """A text to embed as a question."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY, examples=["How are citations checked?"])]


class Embedded(BaseModel):
    """An embedded text: `vector` (d,) of unit length, from the collection's model."""

    collection: str
    model: str
    dimensions: int
    vector: list[float]


class VectorQuestion(CollectionBody):
    """A search by vector. `vector` must come from the collection's model; its norm does not matter. `min_score` is a
    cosine similarity."""

    vector: Annotated[list[Annotated[float, Field(allow_inf_nan=False), NUMBER]], Field(max_length=MOST_DIMENSIONS)]
    top_k: Annotated[int, Field(ge=1, le=1000), NUMBER] | None = None
    min_score: Annotated[float, Field(allow_inf_nan=False), NUMBER] | None = None
    filters: Filters = Filters()


@router.post("/embed", summary="Embed a text with a collection's model")
def embed(asked: TextToEmbed, service: Shared, request: Request) -> Embedded:
    """Returns a vector for POST /search/vector. Calls of a remote model are recorded in the ledger."""
    served = _served(service, asked.collection, request)
    text = make_request(query=asked.text, collection=served.searcher.collection).query
    vector = embedded(served.searcher, text)
    model = served.searcher.current().snapshot.manifest.embedding.model
    return Embedded(collection=served.searcher.collection, model=model, dimensions=len(vector), vector=vector)


@router.post("/search/vector", summary="Find the passages nearest to a vector")
def search_vector(asked: VectorQuestion, service: Shared, request: Request) -> SearchResult:
    """Returns the passages by cosine similarity, without an answer, because there is no question. Stores no trace."""
    searcher = _served(service, asked.collection, request).searcher
    return search_by_vector(searcher, asked.vector, asked.top_k, asked.min_score, asked.filters)


def _served(service: Service, collection: str | None, request: Request) -> Served:
    name = service.only_collection(collection)
    audit.note(request.scope, collection=name, mode="vector")
    return service.served(name)


@router.get("/traces/{trace_id}", summary="How a search went")
def trace(
    trace_id: Annotated[str, Path(description="`trace_id` of a result.", pattern="^[0-9a-f]{16}$")],
    request: Request,
    service: Shared,
) -> ShownTrace:
    """Only for your own searches; administrators may see all. A cached result has the trace of the first search,
    shown without `asked_by`. Texts are those of the published snapshot."""
    kept = trace_for(service, trace_id, principal_of(request))
    return show_trace(service.snapshot(kept["collection"]), trace_id, kept)


def trace_for(service: Service, trace_id: str, principal: Principal) -> Values:
    """Return a trace that the caller may see. `asked_by` is included only for administrators and for the first caller.
    Raises NotFound if the trace does not exist or the caller may not see it."""
    hint = "Traces are kept up to traces.newest and traces.days, until a purge. Ask the question again."
    missing = NotFound(f"You have no trace {trace_id!r}.", hint)  # the same for a trace that the caller may not see
    try:
        kept = _stored_trace(service, trace_id, principal.asker)
        service.folder(kept["collection"])
    except (QueryError, NotFound):
        raise missing from None
    if principal.role != "admin" and not may_see(kept, principal.asker):
        raise missing
    own = principal.role == "admin" or kept.get("asked_by") == principal.asker
    return kept if own else kept | {"asked_by": None}


def _stored_trace(service: Service, trace_id: str, asker: str | None) -> Values:
    """Return the trace of a search. Pending writes are flushed if it is missing, or if `asker` may not see it yet."""
    kept = service.store.get(NAMESPACE, trace_id)
    if not isinstance(kept, dict) or not may_see(kept, asker):
        service.traces.flush()
    return read_trace(service.store, trace_id)
