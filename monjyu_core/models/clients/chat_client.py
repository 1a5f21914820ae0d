"""Chat with any server that has OpenAI's API (OpenAI, Azure, vLLM, llama.cpp, LM Studio, …), and with Ollama through
its own API.

Ollama's OpenAI route cannot set the context length (4096 tokens or less otherwise), so its own API is used:
https://github.com/ollama/ollama/blob/main/docs/api.md.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from monjyu_core.models.clients.learned_options import CHAT_OPTIONS, learned_of, schema_in_prompt
from monjyu_core.models.clients.model_server import Server
from monjyu_core.models.clients.replies import Collected, JsonHttp
from monjyu_core.models.types import ChatReply, ChatRequest
from monjyu_core.settings.models import ModelSettings
from monjyu_core.values import Values


class HttpChat:
    """One model on one server. Raises the errors of `monjyu_core.models.call_errors`; never retries by itself.

    `identity` is provider, address and model: what a cached answer depends on. It contains no secret."""

    def __init__(self, http: JsonHttp, server: Server, model: ModelSettings) -> None:
        self.identity = f"{model.provider} {server.address} {server.model}"
        self._native_schema = model.native_schema
        self._http = http
        self._server = server
        self._window = model.context_tokens if model.provider == "ollama" else None
        self.identity += f" {self._window}" if self._window else ""
        self._path = "/api/chat" if self._window else "/chat/completions"

    async def chat(self, request: ChatRequest) -> ChatReply:
        reply: ChatReply | None = None
        async with aclosing(self._ask(request, self._call(request))) as items:
            async for item in items:
                reply = item if isinstance(item, ChatReply) else reply
        assert reply is not None
        return reply

    def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply, None]:
        """Yield pieces of text as they arrive, then the whole reply. Closing the iterator ends the call."""
        call = self._call(request) | {"stream": True}
        if not self._window:
            call["stream_options"] = {"include_usage": True}
        return self._ask(request, call)

    async def _ask(self, request: ChatRequest, call: Values) -> AsyncGenerator[str | ChatReply, None]:
        """Send the request; yield pieces, then the reply. Servers may stream unasked, or not when asked."""
        collected = Collected(self._server)

        async def send(call: Values) -> tuple[AsyncGenerator[Any, None], str]:
            """The rest of the reply and its first piece, so that a refusal is raised before any output."""
            items = self._http.events(self._path, call)
            try:
                return items, collected.add(await anext(items))
            except StopAsyncIteration:
                return items, ""
            except BaseException:
                await items.aclose()
                raise

        items, piece = await learned_of(self._server).ask(self._server, CHAT_OPTIONS, call, send)
        async with aclosing(items):
            if piece:
                yield piece
            async for item in items:
                if piece := collected.add(item):
                    yield piece
        if rest := collected.rest():
            yield rest
        yield collected.reply(request)

    async def close(self) -> None:
        await self._http.close()

    def _call(self, request: ChatRequest) -> Values:
        call: Values = {
            "model": self._server.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        }
        seed = {} if request.seed is None else {"seed": request.seed}
        schema = request.schema
        if not self._window:
            call |= {"max_tokens": request.max_tokens, "temperature": request.temperature} | seed
            named = {"name": "answer", "schema": schema, "strict": is_strict(schema)}
            call |= {"response_format": {"type": "json_schema", "json_schema": named}} if schema else {}
        else:
            options = {"num_ctx": self._window, "num_predict": request.max_tokens}
            # With `truncate`, Ollama would cut the beginning of a prompt that does not fit; without it, it refuses.
            call |= {"stream": False, "truncate": False}
            call["options"] = options | {"temperature": request.temperature} | seed
            call |= {"format": schema} if schema else {}
        in_prompt = None if self._native_schema else schema_in_prompt(call)
        return in_prompt(call) if in_prompt else call


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
