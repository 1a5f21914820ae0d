"""GET /tensions: where papers contradict each other."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from monjyu_query.service.routes.paper_routes import Collection
from monjyu_query.service.server.error_responses import COMMON
from monjyu_query.service.server.request_parts import Shared
from monjyu_query.tensions.tension_list import LONGEST_CONCEPT, MOST, Tensions

router = APIRouter(tags=["papers"], responses=COMMON)


@router.get("/tensions", summary="Contradictions between papers, with both sides quoted")
def tensions(
    service: Shared,
    collection: Collection = None,
    concept: Annotated[
        str | None,
        Query(description="Only statements that contain all of these words.", min_length=1, max_length=LONGEST_CONCEPT),
    ] = None,
    most: Annotated[int, Query(ge=1, le=MOST, description="Limit of pairs.")] = 50,
) -> Tensions:
    """The model of `roles.verify` reads the most similar pairs of statements in up to eight cached calls; `built` is
    true if it did, otherwise `warnings` gives the reason."""
    name = service.only_collection(collection)
    return service.served(name).searcher.tensions(concept, most)
