"""POST /v1/chat/completions, POST /v1/embeddings and GET /v1/models: a collection as a model of OpenAI's API."""

import base64
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Body
from fastapi.responses import Response
from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from numpy.typing import NDArray
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from monjyu_core.errors import QueryError, StorageError
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.text.tokens import count_many
from monjyu_core.values import Values
from monjyu_query.answers.render import safe
from monjyu_query.answers.segments import markdown, table_markdown
from monjyu_query.api.vector_search import embedded
from monjyu_query.asking.result import Citation, SearchResult, Segment
from monjyu_query.service.access import audit
from monjyu_query.service.chat_api.openai_models import (
    AnswerMessage,
    ChatCompletion,
    ChatRequest,
    Choice,
    Embedding,
    EmbeddingList,
    EmbeddingRequest,
    EmbeddingUsage,
    ModelCard,
    ModelList,
    chore_reply,
    search_request,
    usage_of,
)
from monjyu_query.service.routes.search import note, watched
from monjyu_query.service.searches.running_search import CachedResult, Search, look_up
from monjyu_query.service.searches.streaming import Running
from monjyu_query.service.server.error_responses import (
    COMMON,
    ErrorBody,
    NotFound,
    ServiceError,
    described,
    openai_body,
    request_id_of,
)
from monjyu_query.service.server.request_parts import Shared, examples
from monjyu_query.service.worker_state import Service

# Answers for chat programs are Markdown with [n] marks and a list of sources, in which text of papers is inert.
_MARKUP = re.compile(r"(\\*)([\[\]<`]|(?<=\])\()")
"""Characters that Markdown would read as a citation mark, an image (which programs fetch), a link, or markup."""


def inert(text: str) -> str:
    """Return the text on one line, escaped so that a chat program reads no mark, image, link or HTML in it."""
    return _MARKUP.sub(r"\1\1\\\2", safe(text))


def sentences_of(result: SearchResult) -> list[str]:
    """Return the pieces of a streamed answer, with the white space between them: its sentences, then its tables."""
    tables = [f"\n\n{table_markdown(table, inert)}" for table in result.tables]
    return [markdown([segment], inert) for segment in result.segments] + tables


def sources_of(result: SearchResult) -> str:
    """Return the list of sources below the answer, with their quotes unless the answer itself consists of quotes; empty
    if nothing is cited."""
    if not result.citations:
        return ""
    quotes = result.answer_engine != "extractive"
    return "\n\nSources:\n" + "\n".join(f"- {_source(citation, quotes=quotes)}" for citation in result.citations)


def _source(citation: Citation, *, quotes: bool) -> str:
    quote = f": “{inert(citation.quote)}”" if quotes else ""
    page = f", p. {citation.page}" if citation.page else ""
    retracted = " (retracted)" if citation.retracted else ""
    return f"[{citation.n}] {inert(citation.paper_title or citation.paper_id)}{page}{retracted}{quote}"


def chat_text(result: SearchResult) -> str:
    """The whole answer as text."""
    return "".join(sentences_of(result)) + sources_of(result)


_log = logging.getLogger(__name__)


async def stream_chunks(found: CachedResult | Search, asked: ChatRequest, request_id: str) -> AsyncIterator[bytes]:
    """Yield the chunks of an answer as server-sent events: a model's sentences as they are written and checked; an
    extractive answer, sentence by sentence, after the search.

    The chunk with the finish reason contains the whole result as `monjyu`. Closing the stream early cancels the search.
    """
    chunks = _Chunks(f"chatcmpl-{request_id}", asked.model)
    yield chunks.delta({"role": "assistant", "content": ""})
    running = Running(found) if isinstance(found, Search) else None
    try:
        has_text = False
        if running is not None:
            async for event in running.events():
                if event is None:
                    yield KEEPALIVE_COMMENT
                elif event["event"] == "answer":
                    segments = [Segment.model_validate(one) for one in event["segments"]]
                    yield chunks.delta({"content": markdown(segments, inert)})
                    has_text = True
        content = found.content if isinstance(found, CachedResult) else await _result(running)
        result = SearchResult.model_validate_json(content)
        if not has_text:
            for piece in sentences_of(result):
                yield chunks.delta({"content": piece})
        for chunk in chunks.last(result, asked):
            yield chunk
    except Exception as error:
        _log.info("Chat %s: %s", request_id, error)
        status, kind, message, _ = described(error)
        yield _data(openai_body(status, kind, message, request_id))
    finally:
        if running is not None:
            running.leave()


async def chunks_of_answer(said: str, asked: ChatRequest, request_id: str) -> AsyncIterator[bytes]:
    """Yield the chunks of an answer that needs no search."""
    chunks = _Chunks(f"chatcmpl-{request_id}", asked.model)
    yield chunks.delta({"role": "assistant", "content": said})
    for chunk in chunks.last(None, asked):
        yield chunk


async def _result(running: Running | None) -> bytes:
    assert running is not None
    return await running.result()


class _Chunks:
    def __init__(self, completion_id: str, model: str) -> None:
        self._head = {"id": completion_id, "object": "chat.completion.chunk", "created": int(time.time())}
        self._head["model"] = model

    def delta(self, delta: dict[str, str]) -> bytes:
        return _data({**self._head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})

    def last(self, result: SearchResult | None, asked: ChatRequest) -> list[bytes]:
        """Return the last chunks: the sources, the finish reason with the result, usage if requested, and `[DONE]`."""
        sources = "" if result is None else sources_of(result)
        chunks = [self.delta({"content": sources})] if sources else []
        end = {
            "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
            "monjyu": None if result is None else result.model_dump(mode="json"),
        }
        chunks.append(_data({**self._head, **end}))
        if asked.stream_options is not None and asked.stream_options.include_usage:
            chunks.append(_data({**self._head, "choices": [], "usage": usage_of(result).model_dump()}))
        return [*chunks, format_sse_event(data_str="[DONE]")]


def _data(value: Values) -> bytes:
    return format_sse_event(data_str=json.dumps(value, ensure_ascii=False))


router = APIRouter(prefix="/v1", tags=["chat"], responses=COMMON)

_TURNS = [
    {"role": "user", "content": "What are incremental indexes?"},
    {"role": "assistant", "content": "Indexes that follow changes [1]."},
    {"role": "user", "content": "How do they stay equal to full rebuilds?"},
]
_STREAMED = {"model": "samples:lazy:z100", "messages": _TURNS, "stream": True}
EXAMPLES = examples(
    ("A question to a collection", {"model": "samples", "messages": _TURNS[:1]}),
    ("A follow-up, by lazy search, as a stream", _STREAMED),
)
CHUNK = {"type": "object", "required": ["data"], "properties": {"data": {"type": "string"}}}
"""The schema of an event of a stream: a chunk as JSON, or `[DONE]`."""
Asked = Annotated[ChatRequest, Body(openapi_examples=EXAMPLES)]


@router.post(
    "/chat/completions",
    response_model=ChatCompletion,
    summary="Ask a collection as a chat model",
    responses={
        400: {
            "model": ErrorBody,
            "description": "The request cannot be answered: it has no question, or an unknown mode.",
        },
        200: {
            "content": {"text/event-stream": {"schema": CHUNK}},
            "description": "The answer with [n] marks and a list of sources; with `stream`, in chunks, the last of "
            "which is `[DONE]`. The extra field `monjyu` is the result of POST /search.",
        },
    },
)
async def chat(asked: Asked, service: Shared, request: Request) -> Response:
    """The last message with role user is the question; the messages before it are the conversation."""
    if asked.refused:
        told, hint = f"{asked.refused}: is not supported.", "Leave it out: an answer consists of the papers' sentences."
        raise UnsupportedParameter(told, hint, asked.refused)
    turns = [(one.role, one.words) for one in asked.messages]
    if (said := chore_reply(turns, asked.model.partition(":")[0])) is not None:
        return _answer(asked, request, said, None)
    with _as_bad_requests():
        question = search_request(asked)
    with _as_models():
        note(question, service, request)
        found = look_up(service, question)
    if asked.stream:
        return _streamed(stream_chunks(found, asked, request_id_of(request)))
    with _as_bad_requests():
        content = found.content if isinstance(found, CachedResult) else await watched(found.run(), request)
    result = SearchResult.model_validate_json(content)
    return _answer(asked, request, chat_text(result), result)


def _answer(asked: ChatRequest, request: Request, said: str, result: SearchResult | None) -> Response:
    """Return an existing answer, whole or as a stream."""
    request_id = request_id_of(request)
    if asked.stream:
        return _streamed(chunks_of_answer(said, asked, request_id))
    completion = ChatCompletion(
        id=f"chatcmpl-{request_id}",
        created=int(time.time()),
        model=asked.model,
        choices=[Choice(message=AnswerMessage(content=said))],
        usage=usage_of(result),
        monjyu=result,
    )
    return Response(completion.model_dump_json(), media_type="application/json", headers={"Cache-Control": "no-store"})


def _streamed(chunks: AsyncIterator[bytes]) -> Response:
    return EventSourceResponse(chunks, headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})


@router.post("/embeddings", summary="Embed texts with a collection's model", responses={400: {"model": ErrorBody}})
def embeddings(asked: EmbeddingRequest, service: Shared, request: Request) -> EmbeddingList:
    """Embed texts as questions. Calls of a remote model are recorded in the ledger."""
    name = asked.model.partition(":")[0]
    with _as_models():
        audit.note(request.scope, collection=name, mode="vector")
        searcher = service.served(name).searcher
    size = searcher.current().snapshot.manifest.embedding.dimensions
    if asked.dimensions not in (None, size):
        raise BadRequest(f"dimensions: must be {size}, as in the model of {name!r}.", param="dimensions")
    found = [np.asarray(embedded(searcher, text), "<f4") for text in asked.input]
    tokens = sum(count_many(asked.input))
    return EmbeddingList(
        data=[Embedding(index=n, embedding=_packed(one, asked.encoding_format)) for n, one in enumerate(found)],
        model=asked.model,
        usage=EmbeddingUsage(prompt_tokens=tokens, total_tokens=tokens),
    )


def _packed(vector: NDArray[np.float32], form: str) -> list[float] | str:
    return base64.b64encode(vector.tobytes()).decode() if form == "base64" else vector.tolist()


@router.get("/models", summary="The collections as models")
async def models(service: Shared) -> ModelList:
    """Every published collection is listed as two models: `NAME` and, with mode lazy, `NAME:lazy`."""
    return ModelList(data=await run_in_threadpool(_cards, service))


@router.get("/models/{model}", summary="One collection as a model")
async def model(model: str, service: Shared) -> ModelCard:
    """Look up a model by an id that /v1/models lists."""
    found = {card.id: card for card in await run_in_threadpool(_cards, service)}
    if model not in found:
        raise ModelNotFound(f"There is no model {model!r}.", f"Known: {', '.join(found) or 'none'}.", "model")
    return found[model]


class _OpenAIError(ServiceError):
    def __init__(self, message: str, hint: str = "", param: str | None = None) -> None:
        super().__init__(message, hint)
        self.param = param


class BadRequest(_OpenAIError):
    status = 400


class UnsupportedParameter(BadRequest):
    pass


class ModelNotFound(_OpenAIError):
    status = 404


@contextmanager
def _as_models() -> Iterator[None]:
    """Report a missing collection in the block as a missing model."""
    try:
        yield
    except NotFound as error:
        raise ModelNotFound(error.message, error.hint, "model") from error


@contextmanager
def _as_bad_requests() -> Iterator[None]:
    """Report a QueryError in the block as 400 instead of 409, which OpenAI's clients would retry in vain."""
    try:
        yield
    except QueryError as error:
        raise BadRequest(error.message, error.hint) from error


def _cards(service: Service) -> list[ModelCard]:
    cards = []
    for name in service.published():
        try:
            manifest = read_manifest(service.folder(name), service.current_id(name))
        except (NotFound, StorageError):
            continue  # the collection or its snapshot was just deleted, or another version wrote it
        created = int(datetime.fromisoformat(manifest.created_at).timestamp())
        cards += [ModelCard(id=model, created=created) for model in (name, f"{name}:lazy")]
    return cards
