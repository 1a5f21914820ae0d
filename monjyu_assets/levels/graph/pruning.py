"""Which nodes and edges of a graph stay: the hub, degree, frequency, edge weight, and the strongest edges of each end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monjyu_assets.levels.graph.rules import GraphRules

Chosen = NDArray[np.bool_]


@dataclass(frozen=True)
class Pairs:
    """Edges with x < y, ordered by them: numbers of nodes, chunks that hold both, and weights."""

    x: NDArray[np.int32]
    y: NDArray[np.int32]
    cooccurrences: NDArray[np.int32]
    weight: NDArray[np.float64]

    def at(self, chosen: Chosen) -> Pairs:
        return Pairs(self.x[chosen], self.y[chosen], self.cooccurrences[chosen], self.weight[chosen])


def prune(pairs: Pairs, frequent: Chosen, rules: GraphRules) -> tuple[Chosen, Pairs]:
    """In graphrag's order: the hub, degree, frequency, edge weight; then what goes beyond the strongest edges of both
    ends. Gives the nodes that stay, those that lose all edges too, and their edges."""
    degree = degrees(pairs, frequent.size)
    kept = frequent & (degree >= rules.min_degree) & ~_above(degree, rules.max_degree_std)
    if rules.remove_hub and degree.size:
        kept[degree.argmax()] = False
    if not kept.all():
        pairs = pairs.at(kept[pairs.x] & kept[pairs.y])
    if pairs.weight.size and rules.edge_percentile > 0:
        pairs = pairs.at(pairs.weight >= np.percentile(pairs.weight, rules.edge_percentile))
    if rules.max_edges and degrees(pairs, frequent.size).max(initial=0) > rules.max_edges:
        pairs = pairs.at(_strongest(pairs, rules.max_edges))
    return kept, pairs


def degrees(pairs: Pairs, nodes: int) -> NDArray[np.int64]:
    """The number of neighbours of each node."""
    return np.bincount(pairs.x, minlength=nodes) + np.bincount(pairs.y, minlength=nodes)


def _above(degree: NDArray[np.int64], deviations: float | None) -> Chosen:
    if deviations is None or not degree.size:
        return np.zeros(degree.size, bool)
    return degree > float(degree.mean() + deviations * degree.std())


def _strongest(pairs: Pairs, most: int) -> Chosen:
    """The edges that are among the `most` heaviest of one of their ends; of equally heavy ones those to the first
    other end. Sorting by node and rank in one number is five times as quick as by two keys."""
    edges = pairs.x.size
    by_weight = np.argsort(-pairs.weight, kind="stable")  # equal weights stay in the order of the other end
    rank = np.empty(edges, np.int64)
    rank[by_weight] = np.arange(edges)
    ends = np.concatenate([pairs.x * np.int64(edges) + rank, pairs.y * np.int64(edges) + rank])
    ends.sort()
    node, rank = np.divmod(ends, edges)
    first = np.searchsorted(node, np.arange(node[-1] + 1))
    chosen = np.zeros(edges, bool)
    chosen[by_weight[rank[np.arange(node.size) - first[node] < most]]] = True
    return chosen
