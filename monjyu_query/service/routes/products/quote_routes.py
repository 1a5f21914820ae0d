"""POST /locate: where a pasted quote stands."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import Field

from monjyu_query.quotes.locate import MOST_CHARACTERS, Located, locate
from monjyu_query.search.request import NUMBER
from monjyu_query.service.access import audit
from monjyu_query.service.server.error_responses import COMMON
from monjyu_query.service.server.request_parts import CollectionBody, Shared

router = APIRouter(tags=["search"], responses=COMMON)


class Quoted(CollectionBody):
    """`quote` may differ from the source in hyphens, line ends, spaces and punctuation, and in some words."""

    quote: Annotated[
        str, Field(min_length=1, max_length=MOST_CHARACTERS, examples=["The index is equal to a full rebuild."])
    ]
    most: Annotated[int, Field(ge=1, le=50), NUMBER] = 5


@router.post("/locate", summary="Find where a quote stands")
def locate_quote(asked: Quoted, service: Shared, request: Request) -> Located:
    """Paper, page and rectangles of the places that are like the quote, the best first; none where nothing is."""
    name = service.only_collection(asked.collection)
    audit.note(request.scope, collection=name)
    return locate(service.served(name).searcher.current(), asked.quote, asked.most)
