"""Vectors from OpenAI-compatible servers, Azure OpenAI and Ollama: one request a call, and checked."""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import openai

from monjyu_core.models.accounting.counting import estimated_texts
from monjyu_core.models.call_errors import ModelAnswerUnusable
from monjyu_core.models.clients.json_http import JsonHttp
from monjyu_core.models.clients.model_server import Server
from monjyu_core.models.clients.openai_chat import plain, usage_in
from monjyu_core.models.clients.openai_server import Parameters, our_errors
from monjyu_core.models.types import TokenUsage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Vectors = list[list[float]]


class OpenAIEmbeddings:
    """`EmbeddingClient` through the openai library. Asks for base64 (a quarter of the size), reads numbers too."""

    def __init__(self, library: AsyncOpenAI, server: Server, provider: str, dimensions: int | None) -> None:
        self.identity = f"{provider} {server.address} {server.model} {dimensions or ''}".strip()
        self._library = library
        self._server = server
        self._dimensions = dimensions
        self._parameters = Parameters({"dimensions": None, "encoding_format": None})

    async def embed(self, texts: Sequence[str]) -> tuple[Vectors, TokenUsage]:
        if not texts:
            return [], TokenUsage()
        with our_errors(self._server):
            body = plain(await self._create(texts))
            rows = _in_order(body.get("data"))
        vectors = checked(self._server, rows, len(texts), self._dimensions)
        return vectors, usage_in(body) or estimated_texts(texts)

    async def close(self) -> None:
        await self._library.close()

    async def _create(self, texts: Sequence[str]) -> Any:
        call: dict[str, Any] = {"model": self._server.model, "input": list(texts), "encoding_format": "base64"}
        if self._dimensions:
            call["dimensions"] = self._dimensions
        while True:
            # The library chooses base64 where no format is named, and then reads answers without looking at them.
            sent = {"encoding_format": "float"} | self._parameters.accepted(call)
            try:
                return await self._library.embeddings.create(**sent)
            except openai.APIStatusError as error:
                if not self._parameters.learned(error, sent):
                    raise


class OllamaEmbeddings:
    """`EmbeddingClient` through Ollama's /api/embed."""

    def __init__(self, http: JsonHttp, server: Server, context_tokens: int, dimensions: int | None) -> None:
        self.identity = f"ollama {server.address} {server.model} {dimensions or ''}".strip()
        self._http = http
        self._server = server
        self._context_tokens = context_tokens
        self._dimensions = dimensions

    async def embed(self, texts: Sequence[str]) -> tuple[Vectors, TokenUsage]:
        if not texts:
            return [], TokenUsage()
        call: dict[str, Any] = {"model": self._server.model, "input": list(texts), "truncate": False}
        call["options"] = {"num_ctx": self._context_tokens}
        if self._dimensions:
            call["dimensions"] = self._dimensions
        body = await self._http.post("/api/embed", call)
        if not isinstance(body, dict):
            raise self._server.malformed(f"no JSON object but {str(body)[:80]!r}")
        vectors = checked(self._server, body.get("embeddings"), len(texts), self._dimensions)
        tokens = body.get("prompt_eval_count")
        return vectors, TokenUsage(tokens) if isinstance(tokens, int) else estimated_texts(texts)

    async def close(self) -> None:
        await self._http.close()


def _in_order(rows: object) -> object:
    """The vectors of `[{"index", "embedding"}]` by their index; None where indices are missing or occur twice."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    by_index = {row.get("index"): _numbers(row.get("embedding")) for row in rows}
    if set(by_index) != set(range(len(rows))):
        return None
    return [by_index[place] for place in range(len(rows))]


def _numbers(embedding: object) -> object:
    """An embedding as numbers; base64 holds 32-bit floats, little endian."""
    if not isinstance(embedding, str):
        return embedding
    import numpy as np

    return np.frombuffer(b64decode(embedding, validate=True), dtype="<f4").tolist()


def checked(server: Server, vectors: object, count: int, dimensions: int | None) -> Vectors:
    """The vectors, if there are `count` of one length, of finite numbers and not all zero; else ModelAnswerUnusable."""
    if not isinstance(vectors, list) or len(vectors) != count:
        found = len(vectors) if isinstance(vectors, list) else "no list of"
        raise ModelAnswerUnusable(f"{server} gave {found} vectors for {count} texts.")
    if not all(isinstance(vector, list) and _is_vector(vector) for vector in vectors):
        raise ModelAnswerUnusable(f"{server} gave a vector that is empty, zero or not of numbers.")
    lengths = {len(vector) for vector in vectors}
    if lengths != {dimensions or len(vectors[0])}:
        raise ModelAnswerUnusable(
            f"{server} gave vectors of {', '.join(map(str, sorted(lengths)))} dimensions, not {dimensions or 'one'}.",
            f"Set models.{server.name}.dimensions to what the model gives, or leave it out.",
        )
    return vectors


def _is_vector(vector: Sequence[object]) -> bool:
    try:
        square = math.fsum(float(value) ** 2 for value in vector)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return math.isfinite(square) and square > 0
