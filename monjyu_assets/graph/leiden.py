"""Hierarchical Leiden with a maximum size that is kept: what is too large is split again, until none is.

Traag, Waltman & van Eck (2019), "From Louvain to Leiden". Nodes are numbers in the order of their names, so the same
graph gives the same communities.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from monjyu_assets.graph.rules import PartitionRules

Edge = tuple[int, int, float]
Members = tuple[int, ...]
Partition = Callable[[int, list[Edge], float, int], list[int]]
"""(nodes, edges among 0..nodes-1, resolution, seed) -> the community of each node"""

ITERATIONS = 2
"""Leiden's, as in leidenalg: more of them raise the modularity in the fourth decimal and cost ten times as much."""
TRIES = 4
"""Times the resolution is doubled where a community does not fall apart, before it is cut."""


@dataclass
class Community:
    """A node of the hierarchy; `members` are sorted, `level` 0 is the coarsest."""

    level: int
    members: Members
    children: list[Community] = field(default_factory=list)


def hierarchy(nodes: int, edges: Sequence[Edge], rules: PartitionRules) -> list[Community]:
    """The communities of level 0 with their children. Nodes without an edge are in none."""
    neighbours: list[list[tuple[int, float]]] = [[] for _ in range(nodes)]
    for x, y, weight in edges:
        if weight > 0:  # modularity is not defined for others: such a pair stands together less often than by chance
            neighbours[x].append((y, weight))
            neighbours[y].append((x, weight))
    splitter = _Splitter(neighbours, rules)
    connected = tuple(n for n in range(nodes) if neighbours[n])
    if rules.largest_component:
        connected = splitter.largest_component(connected)
    top = [Community(0, part) for part in splitter.parts(connected)] if connected else []
    open_ones = list(top)
    while open_ones:
        community = open_ones.pop()
        if len(community.members) > rules.max_size:
            community.children = [Community(community.level + 1, part) for part in splitter.split(community.members)]
            open_ones += community.children
    return top


def walk(top: Iterable[Community], parent: Community | None = None) -> Iterable[tuple[Community, Community | None]]:
    """Every community with its parent."""
    stack = [(community, parent) for community in top]
    while stack:
        community, above = stack.pop()
        yield community, above
        stack += [(child, community) for child in community.children]


class _Splitter:
    """Cuts sets of nodes of one graph into communities."""

    def __init__(self, neighbours: list[list[tuple[int, float]]], rules: PartitionRules) -> None:
        self.neighbours = neighbours
        self.rules = rules
        self.partition = _BACKENDS[rules.backend]

    def parts(self, members: Members, resolution: float | None = None) -> list[Members]:
        """The communities of the graph that these nodes span, in the order of their first members."""
        number = {n: position for position, n in enumerate(members)}
        edges = [
            (number[x], number[y], weight) for x in members for y, weight in self.neighbours[x] if x < y and y in number
        ]
        labels = self.partition(len(members), edges, resolution or self.rules.resolution, self.rules.seed)
        grouped: dict[int, list[int]] = {}
        for n, label in zip(members, labels, strict=True):
            grouped.setdefault(label, []).append(n)
        return [tuple(group) for group in grouped.values()]

    def split(self, members: Members) -> list[Members]:
        """At least two parts. A set that stays whole at every resolution (a clique) is cut into equal pieces."""
        resolution = self.rules.resolution
        for _ in range(TRIES):
            found = self.parts(members, resolution)
            if 1 < len(found) < len(members):
                return found
            resolution *= 2
        return self.cut(members)

    def cut(self, members: Members) -> list[Members]:
        """Pieces of the maximum size at most, neighbours together: nodes in the order a search by weight meets them."""
        order = self._by_nearness(members)
        pieces = -(-len(order) // self.rules.max_size)
        size = -(-len(order) // pieces)
        return [tuple(sorted(order[start : start + size])) for start in range(0, len(order), size)]

    def _by_nearness(self, members: Members) -> list[int]:
        inside, seen, order = set(members), set(), []
        for root in members:
            stack = [root]
            while stack:
                n = stack.pop()
                if n in seen:
                    continue
                seen.add(n)
                order.append(n)
                near = [(weight, -y) for y, weight in self.neighbours[n] if y in inside and y not in seen]
                stack += [-negative for _, negative in sorted(near)]
        return order

    def largest_component(self, members: Members) -> Members:
        left: set[int] = set(members)
        best: Members = ()
        for root in members:
            if root not in left:
                continue
            found, stack = [], [root]
            left.discard(root)
            while stack:
                n = stack.pop()
                found.append(n)
                for y, _ in self.neighbours[n]:
                    if y in left:
                        left.discard(y)
                        stack.append(y)
            best = max(best, tuple(sorted(found)), key=len)
        return best


def _igraph(nodes: int, edges: list[Edge], resolution: float, seed: int) -> list[int]:
    import igraph

    graph = igraph.Graph(n=nodes, edges=[(x, y) for x, y, _ in edges])
    igraph.set_random_number_generator(random.Random(seed))
    try:
        found = graph.community_leiden(
            "modularity", weights=[weight for *_, weight in edges], resolution=resolution, n_iterations=ITERATIONS
        )
    finally:
        igraph.set_random_number_generator(random)
    return list(found.membership)


def _leidenalg(nodes: int, edges: list[Edge], resolution: float, seed: int) -> list[int]:
    import igraph
    import leidenalg

    graph = igraph.Graph(n=nodes, edges=[(x, y) for x, y, _ in edges])
    found = leidenalg.find_partition(
        graph,
        leidenalg.RBConfigurationVertexPartition,  # modularity with a resolution (Reichardt & Bornholdt 2006)
        weights=[weight for _, _, weight in edges],
        resolution_parameter=resolution,
        seed=seed % 2**31,
    )
    return list(found.membership)


def _graspologic(nodes: int, edges: list[Edge], resolution: float, seed: int) -> list[int]:
    from graspologic_native import leiden

    if not edges:
        return list(range(nodes))
    named = [(str(x), str(y), weight) for x, y, weight in edges]
    _, found = leiden(named, resolution=resolution, seed=seed)
    return [found.get(str(n), nodes + n) for n in range(nodes)]


_BACKENDS: dict[str, Partition] = {"igraph": _igraph, "leidenalg": _leidenalg, "graspologic-native": _graspologic}
