"""GET /graph: a bounded part of the citation network, of the noun graph, or of the entity graph."""

from dataclasses import dataclass
from typing import Annotated, Literal

import duckdb
from fastapi import APIRouter, Query
from pydantic import BaseModel

from monjyu_core.errors import QueryError
from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.service.routes.paper import Collection
from monjyu_query.service.server.error_responses import COMMON, NotFound
from monjyu_query.service.server.request_parts import Shared

# The part consists of the largest nodes, or of the nodes around a centre, along the heaviest edges first.
Kind = Literal["citations", "phrases", "entities"]
NodeRow = tuple[str, str, str, float]
EdgeRow = tuple[str, str, str, float]

MOST_NODES = 500
EDGES_A_NODE = 4
"""The maximum number of edges per node, on average; the lightest edges are left out."""


@dataclass(frozen=True)
class _Tables:
    """The queries of a graph, which are never user input. `nodes` selects id, label, type, size; `edges` selects
    source, target, type, weight."""

    level: int
    table: str
    nodes: str
    edges: str


_GRAPHS: dict[Kind, _Tables] = {
    "citations": _Tables(
        0,
        "citation_edges",
        "SELECT p.paper_id AS id, coalesce(p.title, p.paper_id) AS label, 'paper' AS type, "
        "count(e.citing_id)::DOUBLE AS size FROM papers p JOIN paper_identity i USING (paper_id) "
        "LEFT JOIN citation_edges e ON e.cited_id = p.paper_id WHERE p.paper_id = i.canonical_id GROUP BY ALL",
        "SELECT citing_id AS source, cited_id AS target, 'cites' AS type, len(contexts)::DOUBLE AS weight "
        "FROM citation_edges",
    ),
    "phrases": _Tables(
        1,
        "graph_edges",
        "SELECT phrase AS id, surface AS label, 'phrase' AS type, df::DOUBLE AS size FROM graph_nodes",
        "SELECT source, target, 'with' AS type, weight FROM graph_edges",
    ),
    "entities": _Tables(
        2,
        "relationships",
        "SELECT entity_id AS id, name AS label, type, mentions::DOUBLE AS size FROM entities",
        "SELECT source_id AS source, target_id AS target, type, weight::DOUBLE AS weight FROM relationships",
    ),
}


def subgraph(
    snapshot: Snapshot, kind: Kind, center: str | None, depth: int, limit: int
) -> tuple[list[NodeRow], list[EdgeRow], bool]:
    """Return up to `limit` nodes, the edges among them, and whether nodes were left out.

    Raises QueryError if the level is not built, NotFound if `center` is not a node.
    """
    graph = _GRAPHS[kind]
    cursor = snapshot.cursor()
    _check_built(cursor, snapshot, kind, graph)
    if center is None:
        query = f"SELECT id FROM ({graph.nodes}) ORDER BY size DESC, id LIMIT ?"
        chosen = [row[0] for row in cursor.execute(query, [limit + 1]).fetchall()]
    else:
        chosen = _around(cursor, graph, center, depth, limit + 1)
    truncated = len(chosen) > limit
    chosen = chosen[:limit]
    nodes = cursor.execute(
        f"SELECT id, label, type, size FROM ({graph.nodes}) WHERE list_contains(?, id) ORDER BY size DESC, id", [chosen]
    ).fetchall()
    edges = cursor.execute(
        f"SELECT source, target, type, weight FROM ({graph.edges}) "
        "WHERE list_contains($ids, source) AND list_contains($ids, target) "
        "ORDER BY weight DESC, source, target, type LIMIT $most",
        {"ids": chosen, "most": EDGES_A_NODE * limit},
    ).fetchall()
    return nodes, edges, truncated


def _check_built(cursor: duckdb.DuckDBPyConnection, snapshot: Snapshot, kind: Kind, graph: _Tables) -> None:
    found = cursor.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = ?", [graph.table]).fetchone()
    if found is None or snapshot.manifest.level < graph.level:
        raise QueryError(
            f"The graph of {kind} needs level {graph.level}; the collection is at level {snapshot.manifest.level}.",
            f"`monjyu upgrade {snapshot.manifest.collection} --level {graph.level}` builds it.",
        )


def _around(cursor: duckdb.DuckDBPyConnection, graph: _Tables, center: str, depth: int, most: int) -> list[str]:
    """Return the ids of up to `most` nodes within `depth` steps of `center`: the nearest first, then those with the
    heaviest edges."""
    known = cursor.execute(f"SELECT 1 FROM ({graph.nodes}) WHERE id = ?", [center]).fetchone()
    if known is None:
        raise NotFound(f"The graph has no node {center!r}.")
    step = f"""
        SELECT far FROM (
            SELECT target AS far, source AS near, weight FROM ({graph.edges})
            UNION ALL SELECT source, target, weight FROM ({graph.edges}))
        WHERE list_contains($near, near) AND NOT list_contains($seen, far)
        GROUP BY far ORDER BY max(weight) DESC, far LIMIT $most"""
    chosen = frontier = [center]
    for _ in range(depth):
        if not frontier or len(chosen) >= most:
            break
        values = {"near": frontier, "seen": chosen, "most": most - len(chosen)}
        frontier = [row[0] for row in cursor.execute(step, values).fetchall()]
        chosen = chosen + frontier
    return chosen


router = APIRouter(tags=["papers"], responses=COMMON)


class Node(BaseModel):
    """A node of a graph. `size` counts citing papers, chunks or mentions."""

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
    """A part of a graph. `truncated`: nodes were left out because of `limit`."""

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
    kind: Annotated[Kind, Query(description="`phrases` needs level 1, `entities` level 2.")] = "citations",
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
