"""Chat with any server that has OpenAI's API (OpenAI, vLLM, llama.cpp, LM Studio, …) and with Azure OpenAI."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import openai

from monjyu_core.models.accounting.counting import estimated_usage
from monjyu_core.models.clients.model_server import Server
from monjyu_core.models.clients.openai_server import Parameters, our_errors, status_in
from monjyu_core.models.clients.thinking import Unthinking, without_thinking
from monjyu_core.models.types import ChatReply, ChatRequest, Finish, TokenUsage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_OPTIONAL = {"stream_options": None, "seed": None, "temperature": None, "max_tokens": "max_completion_tokens"}
"""Older servers know no `stream_options`; reasoning models refuse a temperature and want the other name of the limit.
The limit comes last: a refusal of it names other parameters too."""


class OpenAIChat:
    """`ChatClient` through the openai library."""

    def __init__(self, library: AsyncOpenAI, server: Server, provider: str, native_schema: bool) -> None:
        self.identity = f"{provider} {server.address} {server.model}"
        self.native_schema = native_schema
        self._library = library
        self._server = server
        self._parameters = Parameters(_OPTIONAL)

    async def chat(self, request: ChatRequest) -> ChatReply:
        with our_errors(self._server):
            return self._reply(request, plain(await self._create(self._call(request))))

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply, None]:
        collected = _Collected(self._server.model)
        with our_errors(self._server):
            call = self._call(request) | {"stream": True, "stream_options": {"include_usage": True}}
            async with await self._create(call) as chunks, aclosing(aiter(chunks)) as each:
                async for chunk in each:
                    if piece := collected.add(plain(chunk)):
                        yield piece
        if not collected.chunks:
            raise self._server.malformed("the stream holds no event")
        if not collected.finish:
            raise self._server.unreachable(EOFError("the stream ended before the answer did"))
        if rest := collected.rest():
            yield rest
        yield ChatReply(collected.text, _finish(collected.finish), collected.usage_of(request), collected.model)

    async def close(self) -> None:
        await self._library.close()

    def _call(self, request: ChatRequest) -> dict[str, Any]:
        call: dict[str, Any] = {
            "model": self._server.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
        }
        if request.seed is not None:
            call["seed"] = request.seed
        if request.schema is not None and self.native_schema:
            schema = {"name": "answer", "schema": request.schema, "strict": is_strict(request.schema)}
            call["response_format"] = {"type": "json_schema", "json_schema": schema}
        return call

    async def _create(self, call: dict[str, Any]) -> Any:
        while True:
            sent = self._parameters.accepted(call)
            try:
                return await self._library.chat.completions.create(**sent)
            except openai.APIStatusError as error:
                if not self._parameters.learned(error, sent):
                    raise

    def _reply(self, request: ChatRequest, body: Mapping[str, Any]) -> ChatReply:
        choice = _first(body)
        if not choice and body.get("error"):
            raise self._server.refusal(status_in(body["error"]), {}, body)
        if not choice:
            raise ValueError("there are no choices in it")
        text = without_thinking(_content(choice.get("message")))
        usage = usage_in(body) or estimated_usage(request, text)
        return ChatReply(
            text, _finish(choice.get("finish_reason")), usage, str(body.get("model") or self._server.model)
        )


class _Collected:
    """What has come of a streamed answer."""

    def __init__(self, model: str) -> None:
        self.text = ""
        self.finish: str | None = None
        self.chunks = 0
        self.model = model
        self._usage: TokenUsage | None = None
        self._filter = Unthinking()

    def add(self, chunk: Mapping[str, Any]) -> str:
        """The chunk's part of the answer."""
        self.chunks += 1
        choice = _first(chunk)
        self.model = str(chunk.get("model") or self.model)
        self.finish = choice.get("finish_reason") or self.finish
        self._usage = usage_in(chunk) or self._usage
        return self._keep(self._filter.feed(_content(choice.get("delta"))))

    def rest(self) -> str:
        return self._keep(self._filter.end())

    def usage_of(self, request: ChatRequest) -> TokenUsage:
        return self._usage or estimated_usage(request, self.text)

    def _keep(self, piece: str) -> str:
        self.text += piece
        return piece


def plain(answer: Any) -> dict[str, Any]:
    """The answer as it came: the library checks nothing, and leaves what is no JSON object as it is."""
    if not isinstance(answer, openai.BaseModel):
        raise ValueError(f"no JSON object but {str(answer)[:80]!r}")
    return answer.to_dict(warnings=False)


def _first(body: Mapping[str, Any]) -> dict[str, Any]:
    choices = body.get("choices")
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}


def _content(message: object) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) else ""


def _finish(reason: object) -> Finish:
    """Reasons of other servers (`eos`, `tool_calls`, none) are ends like any other."""
    return "length" if reason == "length" else "content_filter" if reason == "content_filter" else "stop"


def usage_in(body: Mapping[str, Any]) -> TokenUsage | None:
    usage = body.get("usage")
    if not isinstance(usage, dict) or not isinstance(usage.get("prompt_tokens"), int):
        return None
    completion = usage.get("completion_tokens")
    return TokenUsage(usage["prompt_tokens"], completion if isinstance(completion, int) else 0)


def is_strict(schema: object) -> bool:
    """Whether OpenAI takes the schema as strict: every object closed, all its properties required."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, dict):
        closed = schema.get("additionalProperties") is False
        if not closed or set(schema.get("required", ())) != set(properties or ()):
            return False
    return all(map(is_strict, schema.values()))
