"""POST /locate: where a pasted quote stands."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from monjyu_query.quotes.locate import MOST_CHARACTERS, Located, locate
from monjyu_query.search.request import NUMBER
from monjyu_query.service.access import audit
from monjyu_query.service.server.error_responses import COMMON
from monjyu_query.service.worker_state import Service, service_of

router = APIRouter(tags=["search"], responses=COMMON)


class Quoted(BaseModel):
    """`quote` may differ from the source in hyphens, line ends, spaces and punctuation, and in some words."""

    model_config = ConfigDict(extra="forbid")
    quote: Annotated[
        str, Field(min_length=1, max_length=MOST_CHARACTERS, examples=["The index is equal to a full rebuild."])
    ]
    collection: Annotated[
        str | None, Field(description="Optional if there is only one.", max_length=64, examples=["samples"])
    ] = None
    most: Annotated[int, Field(ge=1, le=50), NUMBER] = 5


@router.post("/locate", summary="Find the place of a quote")
def locate_quote(asked: Quoted, service: Annotated[Service, Depends(service_of)], request: Request) -> Located:
    """Paper, page and rectangles of the matches, best first; empty without a match."""
    name = service.only_collection(asked.collection)
    audit.note(request.scope, collection=name)
    return locate(service.served(name).searcher.current(), asked.quote, asked.most)
