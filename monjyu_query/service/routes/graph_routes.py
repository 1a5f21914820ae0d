"""GET /graph: a bounded part of the citation network, of the noun graph, or of the entity graph."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel

from monjyu_query.service.routes.paper_routes import Collection
from monjyu_query.service.routes.subgraph import MOST_NODES, subgraph
from monjyu_query.service.server.error_responses import COMMON
from monjyu_query.service.server.request_parts import Shared

router = APIRouter(tags=["papers"], responses=COMMON)


class Node(BaseModel):
    """`size` says how much there is of it: citing papers, chunks, mentions."""

    id: str
    label: str
    type: str
    size: float


class Edge(BaseModel):
    source: str
    target: str
    type: str
    weight: float


class Graph(BaseModel):
    """`truncated`: there is more than `limit` nodes let pass."""

    collection: str
    snapshot_id: str
    kind: str
    nodes: list[Node]
    edges: list[Edge]
    truncated: bool


@router.get("/graph", summary="Part of a graph of the collection")
def graph(
    service: Shared,
    collection: Collection = None,
    kind: Annotated[
        Literal["citations", "phrases", "entities"],
        Query(description="`phrases` needs level 1, `entities` level 2."),
    ] = "citations",
    center: Annotated[
        str | None,
        Query(
            description="Id of a node (paper, phrase, entity) to start from; by default the largest nodes.",
            max_length=1000,
        ),
    ] = None,
    depth: Annotated[int, Query(ge=1, le=4)] = 1,
    limit: Annotated[int, Query(ge=1, le=MOST_NODES)] = 100,
) -> Graph:
    name = service.only_collection(collection)
    snapshot = service.snapshot(name)
    nodes, edges, truncated = subgraph(snapshot, kind, center, depth, limit)
    return Graph(
        collection=name,
        snapshot_id=snapshot.id,
        kind=kind,
        nodes=[Node(id=id, label=label, type=type, size=size) for id, label, type, size in nodes],
        edges=[Edge(source=s, target=t, type=type, weight=weight) for s, t, type, weight in edges],
        truncated=truncated,
    )
