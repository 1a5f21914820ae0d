"""Clients behind a guard: what the gateway and the embedder call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from monjyu_core.models.calls.resilience import Guard, OnAttempt, ignore_attempt
from monjyu_core.models.estimate import estimated_texts, estimated_usage, prompt_tokens
from monjyu_core.models.types import ChatReply, ChatRequest

if TYPE_CHECKING:
    from monjyu_core.models.clients.chat_client import HttpChat
    from monjyu_core.models.clients.embedding_client import HttpEmbeddings
    from monjyu_core.models.clients.rerank_client import HttpRerank


class Caller:
    """Chat calls of one role. Use it in one event loop; calls may run concurrently. `places` is a semaphore that a call
    whose reply is cached holds until the reply is stored.
    """

    def __init__(self, client: HttpChat, guard: Guard) -> None:
        self.client = client
        self.places = asyncio.Semaphore(guard.concurrency)
        self._guard = guard

    async def chat(self, request: ChatRequest, on_attempt: OnAttempt = ignore_attempt) -> ChatReply:
        """The reply, after up to `retries` retries; `on_attempt` is called after each attempt, including failed ones.

        Raises the errors of `monjyu_core.models.call_errors`. Cancelling closes the connection.
        """
        return await self._guard.call(
            lambda: self.client.chat(request), lambda reply: reply.usage, self._tokens(request), on_attempt
        )

    async def stream(
        self, request: ChatRequest, on_attempt: OnAttempt = ignore_attempt
    ) -> AsyncGenerator[str | ChatReply, None]:
        """Yield pieces of text, then the reply. A failed call is repeated only before the first piece. To stop early,
        close the iterator (`contextlib.aclosing`), which closes the connection."""
        items = self._guard.stream(
            lambda: self.client.stream(request),
            lambda text: estimated_usage(request, text),
            self._tokens(request),
            on_attempt,
        )
        async with aclosing(items):
            async for item in items:
                yield item

    async def close(self) -> None:
        await self.client.close()

    def _tokens(self, request: ChatRequest) -> int:
        return prompt_tokens([request])[0] + request.max_tokens if self._guard.counts_tokens else 0


class EmbeddingCaller:
    """Embedding calls of one role. Each call is one request, so callers pass the texts in batches."""

    def __init__(self, client: HttpEmbeddings, guard: Guard) -> None:
        self.client = client
        self._guard = guard

    async def embed(
        self, texts: Sequence[str], on_attempt: OnAttempt = ignore_attempt, *, input_may_be_wrong: bool = False
    ) -> list[list[float]]:
        """A vector for each text, in order. `input_may_be_wrong`: as for `Guard.call`."""
        tokens = estimated_texts(texts).prompt_tokens if self._guard.counts_tokens else 0
        vectors, _ = await self._guard.call(
            lambda: self.client.embed(texts),
            lambda found: found[1],
            tokens,
            on_attempt,
            input_may_be_wrong=input_may_be_wrong,
        )
        return vectors


class RerankCaller:
    """Rerank calls of one role."""

    def __init__(self, client: HttpRerank, guard: Guard) -> None:
        self.client = client
        self._guard = guard

    async def rerank(self, query: str, texts: Sequence[str], on_attempt: OnAttempt = ignore_attempt) -> list[float]:
        """A score for each text, in order. The endpoints report no usage, so it is estimated."""
        usage = estimated_texts([query, *texts])
        return await self._guard.call(
            lambda: self.client.rerank(query, texts), lambda _: usage, usage.prompt_tokens, on_attempt
        )
