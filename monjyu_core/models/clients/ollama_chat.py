"""Chat through Ollama's own API, for its OpenAI route cannot set the context length (4096 tokens or less otherwise).

The API: https://github.com/ollama/ollama/blob/main/docs/api.md. Not through the ollama library: it drops Retry-After
and takes a key from the environment.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from monjyu_core.models.accounting.counting import estimated_usage
from monjyu_core.models.clients.json_http import JsonHttp
from monjyu_core.models.clients.model_server import Server
from monjyu_core.models.clients.thinking import Unthinking, without_thinking
from monjyu_core.models.types import ChatReply, ChatRequest, Finish, TokenUsage

_PATH = "/api/chat"


class OllamaChat:
    """`ChatClient` for Ollama. `context_tokens` is the window that the model is loaded with."""

    def __init__(self, http: JsonHttp, server: Server, context_tokens: int, native_schema: bool) -> None:
        self.identity = f"ollama {server.address} {server.model} {context_tokens}"
        self.native_schema = native_schema
        self._http = http
        self._server = server
        self._context_tokens = context_tokens

    async def chat(self, request: ChatRequest) -> ChatReply:
        body = self._checked(await self._http.post(_PATH, self._call(request, stream=False)))
        return self._reply(request, without_thinking(_content(body)), body)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply, None]:
        text, filtered, body = "", Unthinking(), {}
        async with aclosing(self._http.lines(_PATH, self._call(request, stream=True))) as lines:
            async for line in lines:
                body = self._checked(line)
                piece = filtered.feed(_content(body)) + (filtered.end() if body.get("done") else "")
                if piece:
                    text += piece
                    yield piece
                if body.get("done"):
                    yield self._reply(request, text, body)
                    return
        if not body:
            raise self._server.malformed("the stream is empty")
        raise self._server.unreachable(EOFError("the stream ended before the answer did"))

    async def close(self) -> None:
        await self._http.close()

    def _call(self, request: ChatRequest, *, stream: bool) -> dict[str, Any]:
        options = {
            "num_ctx": self._context_tokens,
            "num_predict": request.max_tokens,
            "temperature": request.temperature,
        }
        call: dict[str, Any] = {
            "model": self._server.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "stream": stream,
            "truncate": False,  # a prompt that does not fit is an error, not a prompt without its beginning
            "options": options if request.seed is None else options | {"seed": request.seed},
        }
        if request.schema is not None and self.native_schema:
            call["format"] = request.schema
        return call

    def _checked(self, body: object) -> dict[str, Any]:
        if not isinstance(body, dict):
            raise self._server.malformed(f"no JSON object but {str(body)[:80]!r}")
        if body.get("error"):
            raise self._server.refusal(500, {}, body)
        if not isinstance(body.get("message"), dict) and not body.get("done"):
            raise self._server.malformed("there is no message in it")
        return body

    def _reply(self, request: ChatRequest, text: str, body: Mapping[str, Any]) -> ChatReply:
        finish: Finish = "length" if body.get("done_reason") == "length" else "stop"
        usage = _usage(body) or estimated_usage(request, text)
        return ChatReply(text, finish, usage, str(body.get("model") or self._server.model))


def _content(body: Mapping[str, Any]) -> str:
    """The answer's text; `thinking` is a field of its own."""
    message = body.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) else ""


def _usage(body: Mapping[str, Any]) -> TokenUsage | None:
    """Ollama leaves `prompt_eval_count` out where the whole prompt was in its cache."""
    prompt, completion = body.get("prompt_eval_count"), body.get("eval_count")
    return TokenUsage(prompt, completion) if isinstance(prompt, int) and isinstance(completion, int) else None
