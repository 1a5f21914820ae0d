"""A model server that does what a test tells it: OpenAI's API, Azure OpenAI's, Ollama's, embeddings and rerank.

    with FakeModels() as fake:
        fake.script(say("first"), rate_limited(0.01), closing("stream"))   # for the next requests, in order
        fake.default = say("whenever nothing is scripted")                   # or a function of the request
        ... a client with base_url=fake.openai ...
        assert [request.path for request in fake.requests] == [...]
        assert fake.problems == []                                           # what a real server would have refused

It listens on 127.0.0.1 at a free port, in a thread of its own. A request that a real server would refuse (path,
api-version, key, unknown or missing fields) is refused with the same status and noted in `problems`.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import ssl
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self
from urllib.parse import parse_qs, urlsplit

from monjyu_core.models.clients import learned_options

KEY = "test-key-7f3a9"
API_VERSION = re.compile(r"\d{4}-\d{2}-\d{2}(-preview)?")
DIMENSIONS = 64
STATUS_TEXT = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}

Place = Literal["before", "body", "stream"]


@dataclass
class Request:
    """A request as it came. `abandoned` is set when the client hung up before it had its answer."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any
    at: float
    abandoned: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def prompt(self) -> str:
        """All messages' text, or all texts to embed."""
        if "messages" in self.body:
            return "\n".join(message["content"] for message in self.body["messages"])
        texts = self.body.get("input", "")
        return texts if isinstance(texts, str) else "\n".join(texts)


@dataclass(frozen=True)
class Provider:
    """How a provider's server speaks, where that is not as OpenAI's does."""

    name: str = "OpenAI"
    kind: Literal["openai", "azure", "ollama"] = "openai"
    """The `provider` of the settings."""
    base: str = "/v1"
    """The path of its base_url."""
    serves: tuple[Literal["chat", "embed", "rerank"], ...] = ("chat", "embed")
    reasons_in: Literal["reasoning_content", "reasoning", "thinking", "parts", "<think>"] = "reasoning_content"
    """Where reasoning is: a field, parts of the content, or the text between marks."""
    empty: Literal["", "null", "missing"] = "null"
    """What the content is where a model says nothing."""
    ends: Mapping[str, str] = field(default_factory=dict)
    """Its own words for why an answer ended."""
    refuses: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """Parts of a request with what it says to them: fields, a `system` message, `base64` vectors, a `whole` answer."""
    most_texts: int = 2048
    too_many: tuple[int, str] = (400, "Invalid 'input': array too long. Expected an array with maximum length 2048.")
    index: Literal["right", "none first", "none", "constant"] = "right"
    base64: bool = True
    """Whether it gives vectors in base64 where that is asked for; else it gives numbers and says nothing."""
    nested: bool = False
    """Vectors in a list of one."""
    comments: str = ""
    """Lines between the events of its streams."""
    first: Mapping[str, Any] | None = None
    """A chunk before all others."""
    done: bool = True
    """Whether its streams end with [DONE]."""
    error: Callable[[int, str, str], Any] = lambda status, message, code: {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": code or None}
    }
    """The body of a refusal: of a status, words and a code."""
    troubles: Mapping[str, tuple[int, str, str]] = field(default_factory=dict)
    """What it says in the troubles of `TROUBLES`: status, words, code."""

    def refusal(self, status: int, message: str, code: str = "", **more: Any) -> Reply:
        return Reply(status=status, body=json.dumps(self.error(status, message, code)).encode(), **more)

    def trouble(self, kind: str, **more: Any) -> Reply:
        return self.refusal(*(self.troubles.get(kind) or TROUBLES[kind]), **more)


TROUBLES: dict[str, tuple[int, str, str]] = {
    "wrong key": (401, "Incorrect API key provided: sk-x.", "invalid_api_key"),
    "no model": (404, "The model `fake-model-1` does not exist or you do not have access to it.", "model_not_found"),
    "quota": (429, "You exceeded your current quota, please check your plan.", "insufficient_quota"),
    "too fast": (429, "Rate limit reached for requests", "rate_limit_exceeded"),
    "too long": (400, "This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
    "filtered": (400, "The prompt was flagged by our safety system.", "content_policy_violation"),
    "busy": (503, "The server is overloaded.", ""),
    "bad text": (400, "Invalid value in 'input'.", ""),
}


@dataclass(frozen=True)
class Reply:
    """What the server does with one request."""

    text: str = ""
    finish: str = "stop"
    thinking: str = ""
    """Goes into a field of its own (`reasoning_content`, `thinking`)."""
    refusal: str | None = None
    """OpenAI's words where the model refuses; the text is null then."""
    usage: bool = True
    model: str = "fake-model-1"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent as it is, instead of an answer."""
    delay: float = 0.0
    """Seconds before anything is sent, and in a stream before each piece."""
    close: Place | None = None
    """Hang up before the answer, in the middle of its body, or after some pieces of a stream."""
    never: bool = False
    """Take the request and never answer."""
    vectors: list[list[float]] | None = None
    """Instead of those made from the texts' words."""


Answer = Reply | str | Callable[[Request], "Reply | str"]


def say(text: str, **more: Any) -> Reply:
    return Reply(text, **more)


def fenced(value: object, before: str = "Here it is:", after: str = "I hope this helps.") -> Reply:
    """JSON in a code fence with prose around it."""
    return Reply(f"{before}\n```json\n{json.dumps(value)}\n```\n{after}")


def prose(value: object, before: str = "Sure! The answer is ", after: str = " as you asked.") -> Reply:
    return Reply(before + json.dumps(value) + after)


def cut(value: object, share: float = 0.6) -> Reply:
    """JSON that ends in the middle, as it does at the longest answer."""
    text = json.dumps(value)
    return Reply(text[: int(len(text) * share)], finish="length")


def failing(status: int = 500, message: str = "The server had an error", /, **more: Any) -> Reply:
    body = {"error": {"message": message, "type": "server_error", "code": None, "param": None} | more}
    return Reply(status=status, body=json.dumps(body).encode())


def rate_limited(retry_after: float | str | None = None, header: str = "retry-after") -> Reply:
    headers = {} if retry_after is None else {header: str(retry_after)}
    return replace(failing(429, "Rate limit reached", code="rate_limit_exceeded"), headers=headers)


def out_of_quota() -> Reply:
    return failing(429, "You exceeded your current quota", code="insufficient_quota", type="insufficient_quota")


def filtered() -> Reply:
    """Azure OpenAI's refusal of a prompt."""
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {"filtered": True}}}
    return failing(
        400, "The response was filtered", code="content_filter", param="prompt", innererror=inner, status=400
    )


def closing(place: Place, text: str = "an answer that is never finished because the server hangs up") -> Reply:
    return Reply(text, close=place)


def not_json(text: str = "<html>Sign in to the proxy</html>") -> Reply:
    return Reply(body=text.encode(), headers={"content-type": "text/html"})


def slow(text: str, seconds: float) -> Reply:
    return Reply(text, delay=seconds)


def hanging() -> Reply:
    return Reply(never=True)


class FakeModels:
    """The server. `requests` holds what has come, `problems` what was wrong with it."""

    def __init__(
        self, key: str | None = KEY, tls: ssl.SSLContext | None = None, provider: Provider = Provider()
    ) -> None:
        """`key` None lets every request in; with `tls` it speaks HTTPS. Absolute targets are served too, as by a
        proxy."""
        self.key = key
        self.tls = tls
        self.provider = provider
        self.default: Answer = say("An answer.")
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self.refused_fields: dict[str, str] = {}
        """Fields that this server does not know, with its words for it."""
        self.busy = self.most_busy = 0
        """Requests under way, and the most there ever were at once."""
        self._script: deque[Answer] = deque()
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="fake models", daemon=True)

    def environment(self, *roles: str, **more: str) -> dict[str, str]:
        """Variables that make this server the model of some roles, without retries; `more` without `MONJYU_`."""
        values = {
            "MODELS__DEFAULT__MODEL": "fake-model-1",
            "MODELS__DEFAULT__BASE_URL": self.openai,
            "MODELS__DEFAULT__API_KEY": KEY,
        }
        for role in roles:
            values |= {f"ROLES__{role}__ENGINE": "llm", f"ROLES__{role}__RETRIES": "0"}
        return {f"MONJYU_{name}": value for name, value in (values | more).items()}

    def __enter__(self) -> Self:
        learned_options._known.clear()  # another server may have had this port
        self._thread.start()
        assert self._started.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        assert not self._thread.is_alive()

    def script(self, *answers: Answer) -> None:
        """For the next requests, in the order in which they come."""
        self._script.extend(answers)

    @property
    def left(self) -> int:
        """How much of the script was not played."""
        return len(self._script)

    @property
    def openai(self) -> str:
        return f"{self.url}/v1"

    azure = ollama = property(lambda self: self.url)

    def models(self, **more: Any) -> dict[str, dict[str, Any]]:
        """`models` for settings, by provider: `openai`, `azure`, `ollama`, all on this server."""
        common = {"model": "fake-model-1", "api_key": self.key} | more
        bases = {"openai": self.openai, "azure": self.url, "ollama": self.url}
        return {name: common | {"provider": name, "base_url": base} for name, base in bases.items()}

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._connection(reader, writer)
            writer.transport.abort()

        server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=1 << 24, ssl=self.tls)
        self.url = f"http{'s' if self.tls else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._started.set()
        await self._stop.wait()
        server.close()
        while tasks:  # again and again: a task may swallow one cancellation, when it just cancels a wait of its own
            for task in list(tasks):
                task.cancel()
            await asyncio.wait(tasks, timeout=0.1)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (request := await _read(reader)) is not None:
            self.requests.append(request)
            problem = self._wrong(request)
            reply = problem or self._reply(request)
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
            try:
                if not await self._answer(request, reply, reader, writer):
                    return
            finally:
                self.busy -= 1

    def _reply(self, request: Request) -> Reply:
        answer = self._script.popleft() if self._script else self.default
        answer = answer(request) if callable(answer) else answer
        return say(answer) if isinstance(answer, str) else answer

    async def _answer(
        self, request: Request, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer, while listening for the client to hang up. False ends the connection."""
        gone = asyncio.create_task(reader.read(1))
        work = asyncio.create_task(self._send(request, reply, writer))
        await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            request.abandoned.set()
            work.cancel()
            return False
        gone.cancel()
        with suppress(asyncio.CancelledError):
            await gone
        return work.result()

    async def _send(self, request: Request, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        if reply.never:
            await asyncio.Event().wait()
        await asyncio.sleep(reply.delay)
        if reply.close == "before":
            return False
        streamed = request.body.get("stream") if isinstance(request.body, dict) else False
        if streamed and reply.body is None and reply.status == 200:
            return await self._send_stream(request, reply, writer)
        body = reply.body if reply.body is not None else json.dumps(self._whole(request, reply)).encode()
        writer.write(_head(reply, {"content-length": str(len(body))}))
        writer.write(body[: len(body) // 2] if reply.close else body)
        await writer.drain()
        return reply.close is None

    async def _send_stream(self, request: Request, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        kind = "application/x-ndjson" if _is_ollama(request) else "text/event-stream"
        writer.write(_head(reply, {"content-type": kind, "transfer-encoding": "chunked"}))
        pieces = list(_pieces(self.provider, request, reply))
        for number, piece in enumerate(pieces):
            if reply.close and number >= len(pieces) // 2:
                return False
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
            await asyncio.sleep(reply.delay)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    def _wrong(self, request: Request) -> Reply | None:
        """The refusal that a real server would give, if it would."""
        fault = self._fault(request)
        if fault is None:
            return None
        status, message = fault
        self.problems.append(f"{request.method} {request.path}: {message}")
        return self.provider.refusal(status, message)

    def _whole(self, request: Request, reply: Reply) -> Any:
        if request.path.endswith(("/embeddings", "/embed")):
            return _embeddings(self.provider, request, reply)
        return _ranking(request) if request.path.endswith("/rerank") else _whole(self.provider, request, reply)

    def _fault(self, request: Request) -> tuple[int, str] | None:
        known = next((fields for pattern, fields in FIELDS.items() if re.fullmatch(pattern, request.path)), None)
        own = self.provider == Provider() or request.path.startswith(self.provider.base)
        if known is None or request.method != "POST" or not own:
            return 404, "no such path"
        azure = request.path.startswith("/openai/")
        versioned = request.path.startswith("/openai/deployments/")
        given = request.headers.get("api-key" if azure else "authorization", "")
        given = given or request.headers.get("authorization", "")  # Azure takes the token of an identity too
        if self.key and given.removeprefix("Bearer ") != self.key:
            return 401, f"Incorrect API key provided: {given or 'none'}"
        if versioned != bool(API_VERSION.fullmatch(request.query.get("api-version", ""))):
            return 404, "api-version is missing, wrong or out of place"
        if not isinstance(request.body, dict) or request.headers.get("content-type") != "application/json":
            return 400, "the body is no JSON object"
        required, optional = known
        unknown = request.body.keys() - required - optional
        if unknown or required - request.body.keys():
            return 400, f"unknown fields {sorted(unknown)}, missing fields {sorted(required - request.body.keys())}"
        refused = [field for field in self.refused_fields if field in request.body]
        if refused:
            return 400, self.refused_fields[refused[0]]
        parts = set(parts_of(request))
        said = next((said for part, said in self.provider.refuses.items() if part in parts), None)
        texts = request.body.get("input") or request.body.get("documents") or request.body.get("texts") or []
        too_many = isinstance(texts, list) and len(texts) > self.provider.most_texts
        return said or (self.provider.too_many if too_many else None)


_CHAT = (
    {"model", "messages"},
    {"max_tokens", "max_completion_tokens", "temperature", "seed", "response_format", "stream", "stream_options"},
)
_EMBED = ({"model", "input"}, {"dimensions", "encoding_format"})
FIELDS: dict[str, tuple[set[str], set[str]]] = {
    r"(?:/openai|/api|/compatible-mode)?/v1/chat/completions|/v1beta/openai/chat/completions": _CHAT,
    r"/openai/deployments/[\w.-]+/chat/completions": _CHAT,
    r"/api/chat": ({"model", "messages", "stream", "options"}, {"format", "truncate"}),
    r"(?:(?:/openai|/api|/compatible-mode)?/v1|/v1beta/openai)?/embeddings": _EMBED,
    r"/openai/deployments/[\w.-]+/embeddings": _EMBED,
    r"/api/embed": ({"model", "input"}, {"truncate", "options", "dimensions"}),
    r"(?:/v1)?/rerank": ({"model", "query"}, {"documents", "texts", "top_n"}),
}
"""Path to the fields that must be and may be in a request."""


def parts_of(request: Request) -> Iterator[str]:
    """What a server may refuse of a request."""
    yield from request.body
    yield from request.body.get("options") or ()
    if any(message["role"] == "system" for message in request.body.get("messages", ())):
        yield "system"
    if request.body.get("encoding_format") == "base64":
        yield "base64"
    if "messages" in request.body and not request.body.get("stream"):
        yield "whole"


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    try:
        body = json.loads(raw or b"null")
    except ValueError:
        body = raw
    url = urlsplit(target)
    query = {name: values[0] for name, values in parse_qs(url.query).items()}
    return Request(method, url.path, query, headers, body, time.monotonic())


def _head(reply: Reply, headers: dict[str, str]) -> bytes:
    named = {"content-type": "application/json"} | headers | reply.headers
    lines = [f"HTTP/1.1 {reply.status} {STATUS_TEXT.get(reply.status, 'Other')}"]
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in named.items()), "", ""]).encode()


def _is_ollama(request: Request) -> bool:
    return request.path.startswith("/api/")


def tokens_in(text: str) -> int:
    """This server's count, unlike any real tokenizer's, so that a test sees whose count it has."""
    return 1000 + len(text)


def _usage(request: Request, reply: Reply) -> dict[str, int]:
    prompt, completion = tokens_in(request.prompt), tokens_in(reply.text)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _message(provider: Provider, reply: Reply) -> dict[str, Any]:
    """The answer as this provider says it, with its reasoning."""
    text, thinking, where = reply.text, reply.thinking, provider.reasons_in
    message: dict[str, Any] = {"role": "assistant"}
    if where == "<think>":
        text = f"<think>\n{thinking}\n</think>\n\n{text}" if thinking and text else thinking and f"<think>\n{thinking}"
        text = text or reply.text
    elif where != "parts":
        message |= {where: thinking} if thinking or provider.kind != "ollama" else {}
    content: Any = text or ("" if provider.empty == "" or (thinking and provider.kind == "ollama") else None)
    if where == "parts" and thinking:
        content = [{"type": "thinking", "thinking": [{"type": "text", "text": thinking}]}]
        content += [{"type": "text", "text": text}] if text else []
    if content is not None or provider.empty != "missing":
        message["content"] = content
    return message | ({"content": None, "refusal": reply.refusal} if reply.refusal else {})


def _whole(provider: Provider, request: Request, reply: Reply) -> dict[str, Any]:
    message = _message(provider, reply)
    if _is_ollama(request):
        return {"model": reply.model, "message": message} | _ollama_end(request, reply)
    choice = {"index": 0, "message": message, "finish_reason": provider.ends.get(reply.finish, reply.finish)}
    whole = {"id": "c1", "object": "chat.completion", "created": 1, "model": reply.model, "choices": [choice]}
    return whole | ({"usage": _usage(request, reply)} if reply.usage else {})


def _ollama_end(request: Request, reply: Reply) -> dict[str, Any]:
    counts = {"prompt_eval_count": tokens_in(request.prompt), "eval_count": tokens_in(reply.text)}
    return {"done": True, "done_reason": reply.finish} | (counts if reply.usage else {})


def _in_pieces(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A message, a few characters a piece; what is no text comes whole and first."""
    text = message.get("content")
    yield {name: value for name, value in message.items() if name != "content" and value} | {"content": ""}
    if isinstance(text, list):
        yield from ({"content": [part]} for part in text if part["type"] != "text")
        text = "".join(part["text"] for part in text if part["type"] == "text")
    elif text is None:
        yield {"content": None}
    yield from ({"content": (text or "")[start : start + 7]} for start in range(0, len(text or ""), 7))


def _pieces(provider: Provider, request: Request, reply: Reply) -> Iterator[bytes]:
    """The streamed answer."""
    pieces = _in_pieces(_message(provider, reply))
    if _is_ollama(request):
        for piece in pieces:
            yield json.dumps({"model": reply.model, "message": piece, "done": False}).encode() + b"\n"
        end = {"model": reply.model, "message": {"content": ""}} | _ollama_end(request, reply)
        yield json.dumps(end).encode() + b"\n"
        return
    comments = provider.comments.encode()
    if provider.first is not None:
        yield comments + f"data: {json.dumps(provider.first)}\n\n".encode()
    for delta in pieces:
        yield comments + _event(reply, [{"index": 0, "delta": delta, "finish_reason": None}])
    if reply.finish:
        end = provider.ends.get(reply.finish, reply.finish)
        yield _event(reply, [{"index": 0, "delta": {}, "finish_reason": end}])
    if reply.usage and (request.body.get("stream_options") or {}).get("include_usage"):
        yield _event(reply, [], usage=_usage(request, reply))
    if provider.done:
        yield b"data: [DONE]\n\n"


def _event(reply: Reply, choices: list[Any], **more: Any) -> bytes:
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": reply.model, "choices": choices}
    return f"data: {json.dumps(chunk | more)}\n\n".encode()


def _embeddings(provider: Provider, request: Request, reply: Reply) -> dict[str, Any]:
    texts = request.body["input"] if isinstance(request.body["input"], list) else [request.body["input"]]
    size = request.body.get("dimensions", DIMENSIONS)
    vectors = reply.vectors if reply.vectors is not None else [word_vector(text, size) for text in texts]
    if _is_ollama(request):
        return {"model": reply.model, "embeddings": vectors, "prompt_eval_count": tokens_in(request.prompt)}
    packed: list[Any] = [[vector] if provider.nested else vector for vector in vectors]
    if request.body.get("encoding_format") == "base64" and provider.base64:
        packed = [base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode() for vector in vectors]
    rows: list[dict[str, Any]] = [{"object": "embedding", "embedding": one} for one in packed]
    for place, row in enumerate(rows):
        row |= {} if provider.index == "none" or (provider.index == "none first" and not place) else {"index": place}
        row |= {"index": 0} if provider.index == "constant" else {}
    usage = {"prompt_tokens": tokens_in(request.prompt), "total_tokens": tokens_in(request.prompt)}
    # Last first: a client must go by the index.
    data = rows[::-1] if provider.index == "right" else rows
    return {"object": "list", "model": reply.model, "data": data} | ({"usage": usage} if reply.usage else {})


def word_vector(text: str, size: int = DIMENSIONS) -> list[float]:
    """Words counted in `size` places by their hash: texts that share words are near. Not of length 1."""
    vector = [0.01] * size
    for word in re.findall(r"\w{3,}", text.lower()):
        vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % size] += 1.0
    return vector


def _ranking(request: Request) -> Any:
    """The share of the query's words in each text, best first; Text Embeddings Inference gives the list alone."""
    texts = request.body.get("documents") or request.body.get("texts")
    wanted = set(request.body["query"].lower().split())
    scores = [len(wanted & set(text.lower().split())) / max(1, len(wanted)) for text in texts]
    ranked = sorted(enumerate(scores), key=lambda pair: -pair[1])
    if "texts" in request.body:
        return [{"index": place, "score": score} for place, score in ranked]
    return {"model": "fake-rerank", "results": [{"index": n, "relevance_score": score} for n, score in ranked]}
