"""POST /locate: where a pasted quote stands."""

from __future__ import annotations

from fastapi import APIRouter, Request

from monjyu_query.api.product_requests import QuoteRequest
from monjyu_query.quotes.locate import Located, locate
from monjyu_query.service.access import audit
from monjyu_query.service.server.error_responses import COMMON
from monjyu_query.service.server.request_parts import Shared

router = APIRouter(tags=["search"], responses=COMMON)


@router.post("/locate", summary="Find where a quote stands")
def locate_quote(asked: QuoteRequest, service: Shared, request: Request) -> Located:
    """Paper, page and rectangles of the matches, best first; empty without a match."""
    name = service.only_collection(asked.collection)
    audit.note(request.scope, collection=name)
    return locate(service.served(name).searcher.current(), asked.quote, asked.most)
