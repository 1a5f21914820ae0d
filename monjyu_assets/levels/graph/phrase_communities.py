"""The hierarchy as tables: communities with parents, top phrases and how many chunks they touch, and their members."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_assets.levels.graph.leiden import Community, Edges, Members, Numbers, hierarchy, walk
from monjyu_assets.levels.graph.rules import PartitionRules
from monjyu_core.storage.ids import digest
from monjyu_core.storage.schemas import TABLES

TOP = 10
"""Phrases shown for a community: those with most weight inside it."""

Tables = dict[str, pa.Table]


def community_id(level: int, members: Sequence[str]) -> str:
    """An id from the community's members and level, not from its history."""
    return digest(level, *sorted(members), length=20)


def community_tables(nodes: pa.Table, edges: pa.Table, mentions: pa.Table, rules: PartitionRules) -> Tables:
    """`communities` and `community_members` of a noun graph."""
    names = sorted(nodes["phrase"].to_pylist())
    x, y = (_numbers(edges[column], names) for column in ("source", "target"))
    tree = hierarchy(len(names), Edges.of(x, y, edges["weight"].to_numpy()), rules)
    ids = {id(c): community_id(c.level, [names[n] for n in c.members]) for c, _ in walk(tree)}
    pieces = [(ids[id(c)], c, ids[id(parent)] if parent else None) for c, parent in walk(tree)]
    members = pa.table(
        {
            "community_id": pa.array([key for key, c, _ in pieces for _ in c.members], pa.string()),
            "phrase": pa.array([names[n] for _, c, _ in pieces for n in c.members], pa.string()),
        }
    )
    return {
        "communities": _communities(
            pieces,
            _top_phrases(nodes, names, (x, y), edges["cooccurrences"], pieces),
            _chunks_touched(mentions, names, pieces),
        ),
        "community_members": members,
    }


Pieces = list[tuple[str, Community, str | None]]


def _chunks_touched(mentions: pa.Table, names: Sequence[str], pieces: Pieces) -> dict[str, int]:
    """Number of chunks that hold a phrase of each community."""
    phrase = pc.index_in(mentions["phrase"], value_set=pa.array(names, pa.string()))
    known = pc.is_valid(phrase)
    numbers = phrase.filter(known).to_numpy().astype(np.int64)
    chunk = mentions["chunk_id"].filter(known).combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
    by_community: dict[str, int] = {}
    for here in _by_level(pieces):
        label = _labels(len(names), here)[numbers]
        pairs = np.sort(chunk[label >= 0] * len(here) + label[label >= 0])  # np.unique hashes, ten times as slow
        first = np.ones(pairs.size, bool)
        first[1:] = pairs[1:] != pairs[:-1]
        counts = np.bincount(pairs[first] % len(here), minlength=len(here))
        by_community |= dict(zip((key for key, _ in here), counts.tolist(), strict=True))
    return by_community


def _by_level(pieces: Pieces) -> Iterator[list[tuple[str, Members]]]:
    """The communities of each level; within a level no phrase is in two."""
    for level in sorted({community.level for _, community, _ in pieces}):
        yield [(key, community.members) for key, community, _ in pieces if community.level == level]


def _labels(nodes: int, here: Sequence[tuple[str, Members]]) -> Numbers:
    """For each node, the position of its community among these, or -1."""
    label = np.full(nodes, -1, np.int64)
    for n, (_, members) in enumerate(here):
        label[list(members)] = n
    return label


def _numbers(phrases: pa.ChunkedArray, names: Sequence[str]) -> Numbers:
    """The position of each phrase among the names."""
    positions: Numbers = pc.index_in(phrases, value_set=pa.array(names, pa.string())).to_numpy()
    return positions.astype(np.int64)


def _top_phrases(
    nodes: pa.Table, names: Sequence[str], ends: tuple[Numbers, Numbers], cooccurrences: pa.ChunkedArray, pieces: Pieces
) -> dict[str, list[str]]:
    """The top phrases of each community, by co-occurrences with other members, then by document frequency."""
    x, y = ends
    times = cooccurrences.to_numpy()
    order = _numbers(nodes["phrase"], names)
    df = np.zeros(len(names), np.int64)
    df[order] = nodes["df"].to_numpy()
    surfaces = dict(zip(order.tolist(), nodes["surface"].to_pylist(), strict=True))
    top = {}
    for here in _by_level(pieces):
        strength = _strength(len(names), here, x, y, times)
        for key, members in here:
            best = sorted(members, key=lambda n: (-strength[n], -df[n], n))[:TOP]
            top[key] = [surfaces[n] for n in best]
    return top


def _strength(
    nodes: int, here: list[tuple[str, Members]], x: Numbers, y: Numbers, times: NDArray[np.int32]
) -> NDArray[np.int64]:
    """For each node, its co-occurrences within its community, on one level of the hierarchy."""
    label = _labels(nodes, here)
    inside = (label[x] == label[y]) & (label[x] >= 0)
    strength = np.zeros(nodes, np.int64)
    for ends in (x, y):
        np.add.at(strength, ends[inside], times[inside])
    return strength


def _communities(pieces: Pieces, top: dict[str, list[str]], chunks: dict[str, int]) -> pa.Table:
    rows = [
        {"community_id": key, "level": c.level, "parent_id": parent, "size": len(c.members)}
        | {"chunks": chunks[key], "top_phrases": top[key]}
        for key, c, parent in pieces
    ]
    return pa.Table.from_pylist(rows, schema=TABLES["communities"].schema)
