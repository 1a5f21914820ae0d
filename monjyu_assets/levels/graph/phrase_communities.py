"""Partitions a noun graph hierarchically, and writes the communities and their members as tables."""

from __future__ import annotations

import random
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_assets.levels.graph.cooccurrence import runs
from monjyu_assets.levels.graph.rules import PartitionRules
from monjyu_core.errors import ConfigurationError
from monjyu_core.extras import hidden, install_line
from monjyu_core.storage.ids import digest
from monjyu_core.storage.schemas import TABLES

# Hierarchical Leiden with a strict maximum size: a community that is too large is split again.
# Traag, Waltman & van Eck (2019), "From Louvain to Leiden". Nodes are numbered in the order of their names, so the same
# graph gives the same communities.
Members = tuple[int, ...]
Numbers = NDArray[np.int64]

ITERATIONS = 2
"""The number of iterations of Leiden, as in leidenalg. More change only the fourth decimal of the modularity and take
ten times as long."""
TRIES = 4
"""The number of resolutions, each twice the previous one, that are tried before a community is cut."""


@dataclass(frozen=True)
class Edges:
    """Pairs of node indices with x < y, in order of x and y, and their weights."""

    x: Numbers
    y: Numbers
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, x: Sequence[int] | Numbers, y: Sequence[int] | Numbers, weight: Sequence[float]) -> Edges:
        one, other = np.asarray(x, np.int64), np.asarray(y, np.int64)
        low, high = np.minimum(one, other), np.maximum(one, other)
        return cls(low, high, np.asarray(weight, np.float64)).at(np.lexsort((high, low)))

    def at(self, places: NDArray[np.int64] | NDArray[np.bool_]) -> Edges:
        return Edges(self.x[places], self.y[places], self.weight[places])


Partition = Callable[[int, Edges, float, int], Sequence[int]]
"""Maps (number of nodes, edges between 0 and nodes-1, resolution, seed) to the community of each node."""


@dataclass(frozen=True)
class Part:
    """Some nodes of a graph, sorted, and the edges among them."""

    nodes: Numbers
    edges: Edges


@dataclass
class Community:
    """A community of the hierarchy. `members` are sorted node indices; `level` 0 is the coarsest."""

    level: int
    members: Members
    children: list[Community] = field(default_factory=list)


def hierarchy(nodes: int, edges: Edges, rules: PartitionRules) -> list[Community]:
    """The communities of level 0, with their children. Nodes without an edge of positive weight are in no community."""
    # Modularity needs positive weights. A pair with another weight shares chunks no more often than by chance.
    edges = edges.at(edges.weight > 0)
    connected = np.zeros(nodes, bool)
    connected[edges.x] = connected[edges.y] = True
    whole = Part(np.flatnonzero(connected), edges)
    if rules.largest_component:
        whole = _largest_component(whole)
    splitter = _Splitter(rules)
    top: list[Community] = []
    first = splitter.parts(whole, rules.resolution) if whole.nodes.size else []
    open_ones = deque((top, 0, part) for part in first)
    while open_ones:
        siblings, level, part = open_ones.popleft()
        community = Community(level, tuple(part.nodes.tolist()))
        siblings.append(community)
        if part.nodes.size > rules.max_size:
            open_ones += [(community.children, level + 1, piece) for piece in splitter.split(part)]
    return top


def walk(top: Iterable[Community], parent: Community | None = None) -> Iterable[tuple[Community, Community | None]]:
    """Yield every community with its parent, which is `parent` for those in `top`."""
    stack = [(community, parent) for community in top]
    while stack:
        community, above = stack.pop()
        yield community, above
        stack += [(child, community) for child in community.children]


def _largest_component(part: Part) -> Part:
    """The largest connected component, the first of equal size. Each is identified by the smallest index in it."""
    label = _positions(part)
    x, y = label.x, label.y
    least = np.arange(part.nodes.size)
    while True:
        before = least.copy()
        np.minimum.at(least, x, before[y])
        np.minimum.at(least, y, before[x])
        least = least[least]
        if np.array_equal(least, before):
            return next(_pieces(part, (least != np.bincount(least).argmax()).astype(np.int64)))


def _positions(part: Part) -> Edges:
    """The part's edges, with positions among the part's nodes as indices."""
    edges = part.edges
    return Edges(np.searchsorted(part.nodes, edges.x), np.searchsorted(part.nodes, edges.y), edges.weight)


def _pieces(part: Part, labels: Numbers) -> Iterator[Part]:
    """Divide a part by labels 0, 1, … of its nodes. Yield one part per label, with the edges inside it."""
    local = _positions(part)
    of_edge = np.where(labels[local.x] == labels[local.y], labels[local.x], -1)
    order, edge_order = np.argsort(labels, kind="stable"), np.argsort(of_edge, kind="stable")
    count = int(labels.max()) + 1
    ends = np.searchsorted(labels[order], np.arange(count + 1))
    edge_ends = np.searchsorted(of_edge[edge_order], np.arange(count + 1))
    for n in range(count):
        inside = part.edges.at(edge_order[edge_ends[n] : edge_ends[n + 1]])
        yield Part(part.nodes[order[ends[n] : ends[n + 1]]], inside)


class _Splitter:
    """Cuts parts of a graph into communities."""

    def __init__(self, rules: PartitionRules) -> None:
        self.rules = rules
        self.partition = _BACKENDS[rules.backend]

    def parts(self, part: Part, resolution: float) -> list[Part]:
        """The communities of `part`, in the order of their first members."""
        membership = np.asarray(self.partition(part.nodes.size, _positions(part), resolution, self.rules.seed))
        _, first, label = np.unique(membership, return_index=True, return_inverse=True)
        rank = np.empty(first.size, np.int64)
        rank[np.argsort(first)] = np.arange(first.size)
        return list(_pieces(part, rank[label]))

    def split(self, part: Part) -> list[Part]:
        """Split `part` into at least two parts. A part that stays whole (such as a clique) or falls into single nodes
        at every resolution is cut into equal pieces."""
        resolution = self.rules.resolution
        for _ in range(TRIES):
            parts = self.parts(part, resolution)
            if 1 < len(parts) < part.nodes.size:
                return parts
            resolution *= 2
        return self.cut(part)

    def cut(self, part: Part) -> list[Part]:
        """Cut `part` into pieces of at most the maximum size. Nodes are cut in the order of a depth-first search along
        the heaviest edges, so that neighbours stay together."""
        order = _by_nearness(part)
        pieces = -(-len(order) // self.rules.max_size)
        size = -(-len(order) // pieces)
        labels = np.empty(len(order), np.int64)
        labels[np.searchsorted(part.nodes, order)] = np.arange(len(order)) // size
        return list(_pieces(part, labels))


def _by_nearness(part: Part) -> list[int]:
    near: dict[int, list[tuple[float, int]]] = {n: [] for n in part.nodes.tolist()}
    for x, y, weight in zip(
        *(column.tolist() for column in (part.edges.x, part.edges.y, part.edges.weight)), strict=True
    ):
        near[x].append((weight, -y))
        near[y].append((weight, -x))
    seen: set[int] = set()
    order = []
    for root in near:
        stack = [root]
        while stack:
            n = stack.pop()
            if n not in seen:
                seen.add(n)
                order.append(n)
                stack += [-negative for _, negative in sorted(near[n]) if -negative not in seen]
    return order


def _library() -> Any:
    """Import igraph without matplotlib, which it would import for drawing (half a second and 80 MB per run), unless
    matplotlib is already imported."""
    with hidden(*{"matplotlib"}.difference(sys.modules)):
        import igraph
    return igraph


def _igraph(nodes: int, edges: Edges, resolution: float, seed: int, *, leiden: bool = True) -> Sequence[int]:
    igraph = _library()
    graph = igraph.Graph(n=nodes, edges=np.column_stack((edges.x, edges.y)))
    weights = edges.weight.tolist()
    igraph.set_random_number_generator(random.Random(seed))
    try:
        if leiden:
            partition = graph.community_leiden(
                "modularity", weights=weights, resolution=resolution, n_iterations=ITERATIONS
            )
        else:
            partition = graph.community_multilevel(weights=weights, resolution=resolution)
    finally:
        igraph.set_random_number_generator(random)
    return list(partition.membership)


def _leidenalg(nodes: int, edges: Edges, resolution: float, seed: int) -> Sequence[int]:
    igraph = _library()
    try:
        import leidenalg
    except ImportError as error:
        raise _missing("leidenalg") from error
    graph = igraph.Graph(n=nodes, edges=np.column_stack((edges.x, edges.y)))
    partition = leidenalg.find_partition(
        graph,
        leidenalg.RBConfigurationVertexPartition,  # modularity with a resolution (Reichardt & Bornholdt 2006)
        weights=edges.weight.tolist(),
        resolution_parameter=resolution,
        seed=seed % 2**31,
    )
    return list(partition.membership)


def _graspologic(nodes: int, edges: Edges, resolution: float, seed: int) -> Sequence[int]:
    try:
        from graspologic_native import leiden
    except ImportError as error:
        raise _missing("graspologic-native") from error
    if not edges.x.size:
        return list(range(nodes))
    named = [(str(x), str(y), weight) for x, y, weight in zip(edges.x, edges.y, edges.weight.tolist(), strict=True)]
    _, membership = leiden(named, resolution=resolution, seed=seed)
    return [membership.get(str(n), nodes + n) for n in range(nodes)]


def _missing(backend: str) -> ConfigurationError:
    return ConfigurationError(
        f"graph.backend (or graph.profile) needs {backend}, which is not installed.",
        f"Install it: {install_line('leiden')}. Or set graph.backend to igraph.",
    )


_BACKENDS: dict[str, Partition] = {
    "igraph": _igraph,
    "leidenalg": _leidenalg,
    "graspologic-native": _graspologic,
    "louvain": partial(_igraph, leiden=False),
}


TOP = 10
"""The maximum number of phrases shown for a community: those with most co-occurrences inside it."""

Tables = dict[str, pa.Table]


def community_id(level: int, members: Sequence[str]) -> str:
    """The id of a community: a hash of its level and members, so that it does not depend on its history."""
    return digest(level, *sorted(members), length=20)


def community_tables(nodes: pa.Table, edges: pa.Table, mentions: pa.Table, rules: PartitionRules) -> Tables:
    """The tables `communities` and `community_members` of a noun graph."""
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
    """The number of chunks that contain a phrase of each community, by community id."""
    numbers = _numbers(mentions["phrase"], names)
    known = numbers >= 0
    chunk = mentions["chunk_id"].dictionary_encode().combine_chunks().indices.to_numpy()[known].astype(np.int64)
    numbers = numbers[known]
    by_community: dict[str, int] = {}
    for here in _by_level(pieces):
        label = _labels(len(names), here)[numbers]
        pairs, _ = runs(np.sort(chunk[label >= 0] * len(here) + label[label >= 0]))
        counts = np.bincount(pairs % len(here), minlength=len(here))
        by_community |= dict(zip((key for key, _ in here), counts.tolist(), strict=True))
    return by_community


def _by_level(pieces: Pieces) -> Iterator[list[tuple[str, Members]]]:
    """Yield the communities of each level as (id, members). Within a level no phrase is in two communities."""
    for level in sorted({community.level for _, community, _ in pieces}):
        yield [(key, community.members) for key, community, _ in pieces if community.level == level]


def _labels(nodes: int, here: Sequence[tuple[str, Members]]) -> Numbers:
    """The position of each node's community in `here`, or -1."""
    label = np.full(nodes, -1, np.int64)
    for n, (_, members) in enumerate(here):
        label[list(members)] = n
    return label


def _numbers(phrases: pa.ChunkedArray, names: Sequence[str]) -> Numbers:
    """The position of each phrase among the names, or -1. The phrases may be dictionary-encoded."""
    coded = phrases.dictionary_encode().combine_chunks()
    places = pc.fill_null(pc.index_in(coded.dictionary, value_set=pa.array(names, pa.string())), -1).to_numpy()
    positions: Numbers = places[coded.indices.to_numpy()].astype(np.int64)
    return positions


def _top_phrases(
    nodes: pa.Table, names: Sequence[str], ends: tuple[Numbers, Numbers], cooccurrences: pa.ChunkedArray, pieces: Pieces
) -> dict[str, list[str]]:
    """The top phrases by community id, in order of co-occurrences with other members, then of document frequency."""
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
    """The co-occurrences of each node within its community, at one level of the hierarchy."""
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
