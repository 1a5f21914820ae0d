"""The hierarchy as tables: communities with parents and top phrases, their members, and the chunks they touch."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_assets.graph.cooccurrence import MEMORY
from monjyu_assets.graph.leiden import Community, Edges, Members, Numbers, hierarchy, walk
from monjyu_assets.graph.rules import PartitionRules
from monjyu_core.ids import digest
from monjyu_core.schemas import TABLES

TOP = 10
"""Phrases shown of a community: those with most weight inside it."""

Tables = dict[str, pa.Table]

_CHUNKS = """
WITH inside AS (SELECT DISTINCT chunk_id, phrase FROM mentions SEMI JOIN nodes USING (phrase)),
     whole AS (SELECT chunk_id, count(*) AS phrases FROM inside GROUP BY chunk_id)
SELECT chunk_id, community_id, level, (count(*) / phrases)::FLOAT AS share
FROM inside JOIN members USING (phrase) JOIN levels USING (community_id) JOIN whole USING (chunk_id)
GROUP BY chunk_id, community_id, level, phrases ORDER BY chunk_id, level, community_id
"""


def community_id(level: int, members: Sequence[str]) -> str:
    """From what a community is, never from how it came about."""
    return digest(level, *sorted(members), length=20)


def community_tables(nodes: pa.Table, edges: pa.Table, mentions: pa.Table, rules: PartitionRules) -> Tables:
    """`communities`, `community_members` and `chunk_communities` of a noun graph."""
    names = sorted(nodes["phrase"].to_pylist())
    x, y = (_numbers(edges[column], names) for column in ("source", "target"))
    found = hierarchy(len(names), Edges.of(x, y, edges["weight"].to_numpy()), rules)
    ids = {id(c): community_id(c.level, [names[n] for n in c.members]) for c, _ in walk(found)}
    pieces = [(ids[id(c)], c, ids[id(parent)] if parent else None) for c, parent in walk(found)]
    members = pa.table(
        {
            "community_id": pa.array([key for key, c, _ in pieces for _ in c.members], pa.string()),
            "phrase": pa.array([names[n] for _, c, _ in pieces for n in c.members], pa.string()),
        }
    )
    chunks = _chunk_communities(nodes, members, pieces, mentions)
    return {
        "communities": _communities(pieces, _top_phrases(nodes, names, (x, y), edges["cooccurrences"], pieces), chunks),
        "community_members": members,
        "chunk_communities": chunks,
    }


Pieces = list[tuple[str, Community, str | None]]


def _chunk_communities(nodes: pa.Table, members: pa.Table, pieces: Pieces, mentions: pa.Table) -> pa.Table:
    levels = pa.table(
        {
            "community_id": pa.array([key for key, _, _ in pieces], pa.string()),
            "level": pa.array([community.level for _, community, _ in pieces], pa.int32()),
        }
    )
    with duckdb.connect(":memory:", config={"memory_limit": MEMORY}) as connection:
        for name, table in {"nodes": nodes, "members": members, "levels": levels, "mentions": mentions}.items():
            connection.register(name, table)
        return connection.sql(_CHUNKS).to_arrow_table().cast(TABLES["chunk_communities"].schema)


def _numbers(phrases: pa.ChunkedArray, names: Sequence[str]) -> Numbers:
    """The place of each phrase among the names."""
    found: Numbers = pc.index_in(phrases, value_set=pa.array(names, pa.string())).to_numpy()
    return found.astype(np.int64)


def _top_phrases(
    nodes: pa.Table, names: Sequence[str], ends: tuple[Numbers, Numbers], cooccurrences: pa.ChunkedArray, pieces: Pieces
) -> dict[str, list[str]]:
    """By the co-occurrences with other members, then by document frequency."""
    x, y = ends
    times = cooccurrences.to_numpy()
    order = _numbers(nodes["phrase"], names)
    df = np.zeros(len(names), np.int64)
    df[order] = nodes["df"].to_numpy()
    surfaces = dict(zip(order.tolist(), nodes["surface"].to_pylist(), strict=True))
    found = {}
    for level in {community.level for _, community, _ in pieces}:
        here = [(key, community.members) for key, community, _ in pieces if community.level == level]
        strength = _strength(len(names), here, x, y, times)
        for key, members in here:
            best = sorted(members, key=lambda n: (-strength[n], -df[n], n))[:TOP]
            found[key] = [surfaces[n] for n in best]
    return found


def _strength(
    nodes: int, here: list[tuple[str, Members]], x: Numbers, y: Numbers, times: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Of each node the co-occurrences with nodes of its own community, on one level of the hierarchy."""
    label = np.full(nodes, -1, np.int64)
    for n, (_, members) in enumerate(here):
        label[list(members)] = n
    inside = (label[x] == label[y]) & (label[x] >= 0)
    strength = np.zeros(nodes, np.int64)
    for ends in (x, y):
        np.add.at(strength, ends[inside], times[inside])
    return strength


def _communities(pieces: Pieces, top: dict[str, list[str]], chunks: pa.Table) -> pa.Table:
    counted = {row["values"]: row["counts"] for row in chunks["community_id"].value_counts().to_pylist()}
    rows = [
        {"community_id": key, "level": c.level, "parent_id": parent, "size": len(c.members)}
        | {"chunks": counted.get(key, 0), "top_phrases": top[key]}
        for key, c, parent in pieces
    ]
    return pa.Table.from_pylist(rows, schema=TABLES["communities"].schema)
