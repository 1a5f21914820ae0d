"""Which nodes and edges of a graph stay, by the hub, degree, frequency, weight, and the strongest edges of each end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monjyu_assets.levels.graph.rules import GraphRules

Chosen = NDArray[np.bool_]


_LEAST = -(2**31)
"""The lowest lightness: where a node's keys begin."""


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
    degree = degrees(pairs, frequent.size)
    if rules.max_edges and degree.max(initial=0) > rules.max_edges:
        pairs = pairs.at(_strongest(pairs, degree, rules.max_edges))
    return kept, pairs


def degrees(pairs: Pairs, nodes: int) -> NDArray[np.int64]:
    """The number of neighbours of each node."""
    return np.bincount(pairs.x, minlength=nodes) + np.bincount(pairs.y, minlength=nodes)


def _above(degree: NDArray[np.int64], deviations: float | None) -> Chosen:
    if deviations is None or not degree.size:
        return np.zeros(degree.size, bool)
    return degree > float(degree.mean() + deviations * degree.std())


def _strongest(pairs: Pairs, degree: NDArray[np.int64], most: int) -> Chosen:
    """The edges that are among the `most` heaviest of one of their ends; of equally heavy ones those to the first
    other end. An end with fewer edges keeps all. The nodes are looked at in two halves side by side."""
    crowded = degree > most
    chosen = ~(crowded[pairs.x] & crowded[pairs.y])
    lightness = _lightness(pairs.weight)
    middle = int(np.searchsorted(np.cumsum(degree), degree.sum() // 2))
    low = np.arange(degree.size) < middle
    with ThreadPoolExecutor(2) as threads:
        halves = threads.map(lambda nodes: _heaviest(pairs, nodes, lightness, most), (crowded & low, crowded & ~low))
    for edges in halves:
        chosen[edges] = True
    return chosen


def _heaviest(pairs: Pairs, nodes: Chosen, lightness: NDArray[np.int32], most: int) -> NDArray[np.int64]:
    """Edges that are among the `most` heaviest of one of these nodes. Shorter floats decide, and where they do not, the
    few that are left are put in order."""
    of_x, of_y = np.flatnonzero(nodes[pairs.x]), np.flatnonzero(nodes[pairs.y])
    edge = np.concatenate([of_x, of_y])
    node = np.concatenate([pairs.x[of_x], pairs.y[of_y]])
    key = node.astype(np.int64)
    key <<= 32
    key += lightness[edge]
    ordered = np.sort(key)
    starts = np.searchsorted(ordered, (np.arange(nodes.size) << 32) + _LEAST)
    bound = ordered[np.minimum(starts + most - 1, ordered.size - 1)] if ordered.size else starts
    left = most - (np.searchsorted(ordered, bound) - starts)
    of_node = bound[node]
    sure, equal = edge[key < of_node], np.flatnonzero(key == of_node)
    edge, node = edge[equal], node[equal].astype(np.int64)
    other = pairs.x[edge] + pairs.y[edge].astype(np.int64) - node
    order = np.lexsort((other, -pairs.weight[edge], node))
    place = np.arange(order.size) - np.searchsorted(node[order], node[order])
    return np.concatenate([sure, edge[order[place < left[node[order]]]]])


def _lightness(weight: NDArray[np.float64]) -> NDArray[np.int32]:
    """Numbers of 32 bits that fall, or stay, as the weights rise: the bits of the next shorter floats."""
    bits = weight.astype(np.float32).view(np.int32)
    rising = bits ^ ((bits >> 31) & np.int32(2**31 - 1))
    return ~rising
