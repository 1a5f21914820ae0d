"""Reads the replies of servers with OpenAI's or Ollama's API, in any form: whole, or in the chunks of a stream."""

import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import Any

import httpx2

from monjyu_core.models.clients.model_server import Server
from monjyu_core.models.clients.reasoning import AnswerStream
from monjyu_core.models.clients.refusals import status_in
from monjyu_core.models.estimate import estimated_usage
from monjyu_core.models.types import ChatReply, ChatRequest, Finish, TokenUsage
from monjyu_core.values import Values

MOST_OF_ANSWER = 256 * 2**20
"""Maximum bytes of a reply: 2,048 vectors of 3,072 dimensions as text take half of it."""
MOST_OF_LINE = 8 * 2**20
"""Maximum characters of one event of a stream."""
DONE = "[DONE]"
"""The last event of OpenAI's streams."""


class JsonHttp:
    """Posts JSON to one server. Raises the errors of `monjyu_core.models.call_errors`."""

    def __init__(self, server: Server, timeout: float) -> None:
        self._server = server
        self._url = server.address + server.path
        self._http = server.http_client(timeout)

    async def post(self, path: str, body: Mapping[str, object]) -> Any:
        """The parsed reply."""
        with _our_errors(self._server):
            async with self._http.stream("POST", self._url + path, json=body) as response:
                return json.loads(await self._read_content(response))

    async def events(self, path: str, body: Mapping[str, object]) -> AsyncGenerator[Any, None]:
        """Yield the parsed events or lines of a streamed reply as they arrive, `DONE` included; the reply of a server
        that does not stream is one value. Closing the iterator closes the connection."""
        with _our_errors(self._server):
            async with self._http.stream("POST", self._url + path, json=body) as response:
                kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
                if not response.is_success or kind == "application/json":
                    yield json.loads(await self._read_content(response))
                    return
                async with aclosing(_lines(response)) as lines:
                    async for line in lines:
                        if (data := _data_of(line)) is not None:
                            yield DONE if data == DONE else json.loads(data)

    async def close(self) -> None:
        await self._http.aclose()

    async def _read_content(self, response: httpx2.Response) -> bytes:
        content = bytearray()
        async for piece in response.aiter_bytes():
            content += piece
            if len(content) > MOST_OF_ANSWER:
                raise ValueError(f"more than {MOST_OF_ANSWER >> 20} MiB")
        if not response.is_success:
            text = content.decode("utf-8", "replace")
            try:
                said = json.loads(text)
            except (ValueError, RecursionError):
                said = text
            raise self._server.refusal(response.status_code, response.headers, said)
        return bytes(content)


async def _lines(response: httpx2.Response) -> AsyncGenerator[str, None]:
    """Yield the lines as they arrive. Raises ValueError for a line longer than `MOST_OF_LINE`."""
    held = ""
    async for text in response.aiter_text():
        *lines, held = (held + text).split("\n")
        for line in lines:
            yield line
        if len(held) > MOST_OF_LINE:
            raise ValueError(f"a line of more than {MOST_OF_LINE >> 20} million characters")
    yield held


def _data_of(line: str) -> str | None:
    """The data of a line of an event, or a line of JSON; None for comments, event names and empty lines."""
    line = line.strip().removeprefix("\ufeff")
    if line.startswith("data:"):
        return line.removeprefix("data:").strip() or None
    return line if line[:1] in ("{", "[", "<") else None


@contextmanager
def _our_errors(server: Server) -> Iterator[None]:
    """Raise Monjyu's errors instead of the library's, which are not chained because they contain requests with keys."""
    try:
        yield
    except httpx2.TimeoutException:
        raise server.late() from None
    except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as error:
        raise server.unreachable(error) from None
    except (ValueError, RecursionError) as error:
        raise server.malformed(f"{type(error).__name__}: {error}") from None


_LENGTH = ("length", "max_tokens", "model_length", "max_output_tokens", "token_limit")
_FILTERED = (
    *("content_filter", "content-filter", "safety", "recitation", "prohibited_content", "blocklist", "refusal"),
    "sensitive",
)
_FAILED = ("error", "network_error", "insufficient_system_resource", "abort", "failed")
_REASONING = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
_MOST_OF_REFUSAL = 300


class Collected:
    """A reply that is being received."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._answer = AnswerStream()
        self._usage: TokenUsage | None = None
        self._model = server.model
        self._refusal = ""
        self._reasoned = self._ended = self._begun = False
        self._finish: str | None = None

    def add(self, body: object) -> str:
        """Add a chunk, or the whole answer; return the part of the answer that is certain by now.

        Raises the errors of `monjyu_core.models.call_errors` if the body is an error or not a chat API's reply.
        """
        if body == DONE:
            self._ended = True
            return ""
        if not isinstance(body, dict):
            raise self._server.malformed(f"no JSON object but {str(body)[:80]!r}")
        choice = _first(body)
        finish = choice.get("finish_reason") or (body.get("done_reason") or "stop" if body.get("done") else None)
        failed = str(finish).lower() in _FAILED or str(choice.get("native_finish_reason")).lower() in _FAILED
        error = body.get("error") or choice.get("error")
        if error or failed:
            said = {"error": error or f"it ended with finish_reason {finish!r}"}
            raise self._server.refusal(status_in(error), {}, said)
        message = _message(choice, body)
        self._begun |= message is not None
        self._finish = str(finish) if finish else self._finish
        self._model = str(body.get("model") or self._model)
        self._usage = usage_in(body) or usage_in(choice) or self._usage
        self._ended |= bool(body.get("done")) or ("message" in choice and "delta" not in choice)
        return self._answer.feed("".join(self._texts(message or {})))

    def rest(self) -> str:
        """The remaining text when the reply has ended. Raises ModelServerError if it contained no message, and
        ModelUnreachable if it ended too early."""
        if not self._begun:
            raise self._server.malformed("there is no message in it")
        if not self._finish and not self._ended:
            raise self._server.unreachable(EOFError("the stream ended before the answer did"))
        return self._answer.end()

    def reply(self, request: ChatRequest) -> ChatReply:
        text, reasoned = self._answer.whole
        usage = self._usage or estimated_usage(request, text)
        return ChatReply(
            text,
            _finish(self._finish),
            usage,
            self._model,
            refusal=" ".join(self._refusal.split())[:_MOST_OF_REFUSAL],
            reasoned=self._reasoned or reasoned,
        )

    def _texts(self, message: Mapping[str, object]) -> Iterator[str]:
        """The text of a message; reasoning, refusals and tool calls in it are recorded."""
        self._reasoned |= any(message.get(name) for name in _REASONING)
        refusal = message.get("refusal")
        self._refusal += refusal if isinstance(refusal, str) else ""
        if message.get("tool_calls") and not self._refusal:
            self._refusal = "it called a tool, but none is offered"
        content = message.get("content")
        yield from self._parts(content if isinstance(content, list) else [content])

    def _parts(self, parts: Iterable[object]) -> Iterator[str]:
        for part in parts:
            if isinstance(part, str):
                yield part
            elif isinstance(part, dict):
                kind, text = str(part.get("type") or "text"), part.get("text")
                text = text.get("value") if isinstance(text, dict) else text
                if kind in ("text", "output_text"):
                    yield text if isinstance(text, str) else ""
                elif kind == "refusal":
                    self._refusal += str(part.get("refusal") or text or "")
                else:
                    self._reasoned |= kind in ("thinking", "reasoning", "redacted_thinking")


def _first(body: Mapping[str, object]) -> Values:
    choices = body.get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def _message(choice: Mapping[str, object], body: Mapping[str, object]) -> Values | None:
    """The message or a piece of it, from OpenAI's or Ollama's API, or as the plain text of older servers."""
    for found in (choice.get("delta"), choice.get("message"), body.get("message")):
        if isinstance(found, dict) and found:
            return found
    if isinstance(choice.get("text"), str):
        return {"content": choice["text"]}
    return {} if choice or body.get("done") else None


def _finish(reason: str | None) -> Finish:
    """Why the reply ended; other reasons (`eos`, `tool_calls`, none) count as an ordinary end."""
    said = (reason or "").lower()
    if said in _LENGTH:
        return "length"
    return "content_filter" if said.startswith(_FILTERED) else "stop"


def usage_in(body: Mapping[str, object]) -> TokenUsage | None:
    """The tokens by the server's count, or None. Ollama omits `prompt_eval_count` for a cached prompt."""
    counts = body.get("usage") if isinstance(body.get("usage"), dict) else body
    prompt = counts.get("prompt_tokens", counts.get("prompt_eval_count")) if isinstance(counts, dict) else None
    if not isinstance(counts, dict) or not isinstance(prompt, int):
        return None
    completion = counts.get("completion_tokens", counts.get("eval_count"))
    if counts is body and not isinstance(completion, int):
        return None
    return TokenUsage(prompt, completion if isinstance(completion, int) else 0)
