"""POST /embed and POST /search/vector: the vector of a text, and the passages nearest to one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from monjyu_query.api.vector_search import embedded, search_by_vector
from monjyu_query.asking.fields import CollectionBody
from monjyu_query.asking.request import LONGEST_QUERY, NUMBER, Filters, make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.service.access import audit
from monjyu_query.service.server.error_responses import COMMON
from monjyu_query.service.server.request_parts import Shared
from monjyu_query.service.worker_state import Served, Service

router = APIRouter(tags=["search"], responses=COMMON)
MOST_DIMENSIONS = 16_384


class TextToEmbed(CollectionBody):
    """A text, embedded as a question's."""

    text: Annotated[str, Field(min_length=1, max_length=LONGEST_QUERY, examples=["How are citations checked?"])]


class Embedded(BaseModel):
    """`vector` (d,) of unit length by the collection's own model."""

    collection: str
    model: str
    dimensions: int
    vector: list[float]


class VectorQuestion(CollectionBody):
    """`vector` must come from the collection's own model; its length does not matter. `min_score` is a cosine."""

    vector: Annotated[list[Annotated[float, Field(allow_inf_nan=False), NUMBER]], Field(max_length=MOST_DIMENSIONS)]
    top_k: Annotated[int, Field(ge=1, le=1000), NUMBER] | None = None
    min_score: Annotated[float, Field(allow_inf_nan=False), NUMBER] | None = None
    filters: Filters = Filters()


@router.post("/embed", summary="The vector of a text by a collection's model")
def embed(asked: TextToEmbed, service: Shared, request: Request) -> Embedded:
    """The input of POST /search/vector. Calls of a remote model are recorded in the ledger."""
    served = _served(service, asked.collection, request)
    text = make_request(query=asked.text, collection=served.searcher.collection).query
    vector = embedded(served.searcher, text)
    model = served.searcher.current().snapshot.manifest.embedding.model
    return Embedded(collection=served.searcher.collection, model=model, dimensions=len(vector), vector=vector)


@router.post("/search/vector", summary="Find the passages nearest to a vector")
def search_vector(asked: VectorQuestion, service: Shared, request: Request) -> SearchResult:
    """By cosine similarity, without an answer, because there is no question. No trace is kept."""
    searcher = _served(service, asked.collection, request).searcher
    return search_by_vector(searcher, asked.vector, asked.top_k, asked.min_score, asked.filters)


def _served(service: Service, collection: str | None, request: Request) -> Served:
    name = service.only_collection(collection)
    audit.note(request.scope, collection=name, mode="vector")
    return service.served(name)
