"""Embeddings from servers with OpenAI's API and from Ollama: one request per call, and the reply is checked."""

import math
from base64 import b64decode
from collections.abc import Sequence

from monjyu_core.models.call_errors import ModelAnswerUnusable
from monjyu_core.models.clients.learned_options import EMBEDDING_OPTIONS, learned_of
from monjyu_core.models.clients.model_server import Server
from monjyu_core.models.clients.refusals import status_in
from monjyu_core.models.clients.replies import JsonHttp, usage_in
from monjyu_core.models.estimate import estimated_texts
from monjyu_core.models.types import TokenUsage
from monjyu_core.settings.models import ModelSettings
from monjyu_core.values import Values

Vectors = list[list[float]]
_CHECK = "Check that the model is an embedding model and that its server follows OpenAI's or Ollama's API."


class HttpEmbeddings:
    """An embedding model over HTTP. Requests base64 (a quarter of the size), but reads numbers too."""

    def __init__(self, http: JsonHttp, server: Server, model: ModelSettings) -> None:
        self.identity = f"{model.provider} {server.address} {server.model} {model.dimensions or ''}".strip()
        self._http = http
        self._server = server
        self._dimensions = model.dimensions
        self._window = model.context_tokens if model.provider == "ollama" else None
        self._path = "/api/embed" if self._window else "/embeddings"

    async def embed(self, texts: Sequence[str]) -> tuple[Vectors, TokenUsage]:
        """A vector for each text, in order."""
        if not texts:
            return [], TokenUsage()
        call: Values = {"model": self._server.model, "input": list(texts)}
        if not self._window:
            call["encoding_format"] = "base64"
        else:
            call |= {"truncate": False, "options": {"num_ctx": self._window}}
        if self._dimensions:
            call["dimensions"] = self._dimensions

        async def send(call: Values) -> object:
            body = await self._http.post(self._path, call)
            if isinstance(body, dict) and body.get("error"):
                raise self._server.refusal(status_in(body["error"]), {}, body)
            return body

        body = await learned_of(self._server).ask(self._server, EMBEDDING_OPTIONS, call, send)
        vectors = checked(self._server, vectors_in(self._server, body), len(texts), self._dimensions)
        return vectors, (usage_in(body) if isinstance(body, dict) else None) or _counted(body) or estimated_texts(texts)

    async def close(self) -> None:
        await self._http.close()


def _counted(body: object) -> TokenUsage | None:
    """The tokens that Ollama counted in the texts."""
    count = body.get("prompt_eval_count") if isinstance(body, dict) else None
    return TokenUsage(count) if isinstance(count, int) else None


def vectors_in(server: Server, body: object) -> list[object]:
    """The vectors of a reply in the order of the texts. The reply is `{"data": [{"index", "embedding"}]}` of OpenAI's
    API, `{"embeddings": [...]}` of Ollama's, or the list alone.

    If no index is given, or all are equal, the order of the list counts. A single missing index is the one that no
    other vector has, because protobuf omits a 0. Indices may start at 1.
    """
    rows = body
    if isinstance(body, dict):
        rows = next((body[name] for name in ("data", "embeddings", "embedding") if body.get(name) is not None), None)
    if isinstance(rows, dict):
        rows = next(iter(rows.values()), None)
    if not isinstance(rows, list):
        raise server.malformed("there are no vectors in it")
    if rows and all(isinstance(row, int | float) for row in rows):
        rows = [rows]
    objects = [row for row in rows if isinstance(row, dict)]
    if not objects:
        return [_numbers(row) for row in rows]
    if len(objects) < len(rows):
        raise server.malformed("some of its vectors are objects and some are not")
    places = [_index(row.get("index")) for row in objects]
    every = range(len(objects))
    if len(set(places) - {None}) <= 1:
        places = list(every)
    left = [place for place in every if place not in places]
    if places.count(None) == len(left) == 1:
        places = [left[0] if place is None else place for place in places]
    places = [own if place is None else place for own, place in enumerate(places)]
    if set(places) == {place + 1 for place in every}:
        places = [place - 1 for place in places if place is not None]
    if set(places) != set(every):
        shown = ", ".join(str(row.get("index")) for row in objects[:10])
        raise ModelAnswerUnusable(
            f"{server} returned vectors whose indices do not match {len(objects)} texts: {shown}.", _CHECK
        )
    by_place = dict(zip(places, objects, strict=True))
    return [_numbers(by_place[place].get("embedding")) for place in every]


def _index(value: object) -> int | None:
    return int(value) if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()) else None


def _numbers(embedding: object) -> object:
    """An embedding from a list (llama.cpp: of one vector) or from base64 of little-endian 32-bit floats."""
    if isinstance(embedding, list) and len(embedding) == 1 and isinstance(embedding[0], list):
        return embedding[0]
    if not isinstance(embedding, str):
        return embedding
    import numpy as np

    try:
        return np.frombuffer(b64decode(embedding, validate=True), dtype="<f4").tolist()
    except ValueError:
        return None


def checked(server: Server, vectors: Sequence[object], count: int, dimensions: int | None) -> Vectors:
    """The vectors, if there are `count` of them, of equal length (`dimensions`, if given), with finite numbers that are
    not all zero. Raises ModelAnswerUnusable otherwise."""
    if len(vectors) != count:
        raise ModelAnswerUnusable(f"{server} gave {len(vectors)} vectors for {count} texts.", _CHECK)
    found = [vector for vector in vectors if isinstance(vector, list) and _is_vector(vector)]
    if len(found) != count:
        raise ModelAnswerUnusable(f"{server} gave a vector that is empty, zero or not of numbers.", _CHECK)
    lengths = {len(vector) for vector in found}
    if lengths != {dimensions or len(found[0])}:
        raise ModelAnswerUnusable(
            f"{server} gave vectors of {', '.join(map(str, sorted(lengths)))} dimensions, "
            f"not {dimensions or 'of one length'}.",
            f"Set models.{server.name}.dimensions to the model's dimensions, or remove it.",
        )
    return found


def _is_vector(vector: Sequence[object]) -> bool:
    try:
        square = math.fsum(float(value) ** 2 for value in vector)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return math.isfinite(square) and square > 0
