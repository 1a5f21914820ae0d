"""Communities of entities, from coarse to fine, by the same hierarchical Leiden as those of phrases."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyarrow as pa

from monjyu_assets.levels.graph.leiden import Edges, hierarchy, walk
from monjyu_assets.levels.graph.phrase_communities import community_id
from monjyu_assets.levels.graph.rules import PartitionRules
from monjyu_core.storage.schemas import TABLES

TOP = 10
LIGHT = {"authored": 0.25, "affiliated": 0.25, "cites": 0.5}
"""Share of their weight that counts: who wrote and cited what holds no subject together."""

LEAVES = frozenset({"paper", "researcher", "organization"})
"""Entities of these types stand in communities only where two papers name them: else every reference list would be a
community of its own."""

Row = dict[str, Any]


def community_tables(
    entities: list[Row], places: list[Row], relationships: list[Row], rules: PartitionRules
) -> dict[str, pa.Table]:
    """`entity_communities` and `entity_community_members`."""
    citing = {row["source_id"] for row in relationships if row["type"] == "cites"}
    known = {
        row["entity_id"]: row
        for row in entities
        if row["type"] not in LEAVES or row["papers"] > 1 or row["entity_id"] in citing
    }
    names = sorted(known)
    number = {name: n for n, name in enumerate(names)}
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for row in sorted(relationships, key=lambda row: row["relationship_id"]):
        if row["source_id"] not in known or row["target_id"] not in known:
            continue
        pair = sorted((number[row["source_id"]], number[row["target_id"]]))
        weights[pair[0], pair[1]] += row["weight"] * LIGHT.get(row["type"], 1.0)
    x, y = zip(*weights, strict=True) if weights else ((), ())
    stands: dict[str, list[Row]] = defaultdict(list)
    for row in places:
        stands[row["entity_id"]].append(row)
    found = hierarchy(len(names), Edges.of(x, y, [round(weight, 6) for weight in weights.values()]), rules)
    ids = {id(c): community_id(c.level, [names[n] for n in c.members]) for c, _ in walk(found)}
    communities: list[Row] = []
    members: list[Row] = []
    for community, parent in walk(found):
        inside = [names[n] for n in community.members]
        at = [place for entity in inside for place in stands[entity]]
        communities.append(
            {"community_id": ids[id(community)], "level": community.level}
            | {"parent_id": ids[id(parent)] if parent else None, "size": len(inside)}
            | {"chunks": len({p["chunk_id"] for p in at}), "papers": len({p["paper_id"] for p in at})}
            | {"top_entities": _top([known[entity] for entity in inside])}
        )
        members += [{"community_id": ids[id(community)], "entity_id": entity} for entity in inside]
    return {
        "entity_communities": pa.Table.from_pylist(communities, schema=TABLES["entity_communities"].schema),
        "entity_community_members": pa.Table.from_pylist(members, schema=TABLES["entity_community_members"].schema),
    }


def _top(entities: list[Row]) -> list[str]:
    """Names of the entities with most relationships, then most mentions; no name twice."""
    order = sorted(entities, key=lambda row: (-row["degree"], -row["mentions"], row["name"], row["entity_id"]))
    return list(dict.fromkeys(row["name"] for row in order))[:TOP]
