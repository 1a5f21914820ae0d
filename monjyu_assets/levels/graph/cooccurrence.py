"""Nodes and weighted edges of the noun graph: how many chunks hold two phrases, counted by sorting on arrays.

Weight of an edge: p(x,y) * log2(p(x,y) / (p(x) p(y))), with p(x) = df(x) / sum of df and p(x,y) = co-occurrences / sum
of co-occurrences, as microsoft/graphrag's `calculate_pmi_edge_weights`. All sums are of integers, all is ordered.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from monjyu_assets.levels.graph.phrase_counts import Numbers, PhraseCounts, count_phrases, runs
from monjyu_assets.levels.graph.pruning import Pairs, degrees, prune
from monjyu_assets.levels.graph.rules import HUB_FLOOR, GraphRules
from monjyu_core.storage.schemas import TABLES

BLOCK = 2**24
"""Pairs that are sorted at once: 128 MB."""

# Logarithms are DuckDB's: those of NumPy differ in the last bit from processor to processor.
_WEIGHTS = """
SELECT (cooccurrences / $pairs) * log2((cooccurrences / $pairs) / ((x_df / $df) * (y_df / $df))) AS weight FROM counted
"""


def build_graph(mentions: pa.Table, rules: GraphRules) -> tuple[pa.Table, pa.Table]:
    """`graph_nodes` and `graph_edges` of these `phrase_mentions`."""
    with duckdb.connect(":memory:") as connection:
        counts = count_phrases(mentions, connection)
        frequent = (counts.df >= rules.min_df) & (counts.df <= _most_chunks(counts, rules))
        nodes = np.flatnonzero(frequent) if rules.prune_first else np.arange(frequent.size)
        pairs = _weighed(_counted(counts, nodes, rules.min_cooccurrences), counts.df[nodes], connection)
    kept, pairs = prune(pairs, frequent[nodes], rules)
    return _tables(counts.table.take(pa.array(nodes)), kept, pairs)


def _most_chunks(counts: PhraseCounts, rules: GraphRules) -> int:
    return max(HUB_FLOOR, math.floor(rules.max_df_share * counts.chunks))


class _Cooccurrences:
    """For each mention of a node, sorted by chunk and node, how many nodes of its chunk follow it: its pairs."""

    def __init__(self, counts: PhraseCounts, nodes: Numbers) -> None:
        node = np.full(counts.table.num_rows, -1, np.int64)
        node[nodes] = np.arange(nodes.size)
        of_mention = node[counts.phrase]
        size = max(nodes.size, 1)
        ordered = np.sort((counts.chunk * size + of_mention)[of_mention >= 0])
        chunk, self.node = np.divmod(ordered, size)
        starts = runs(chunk)[1]
        lengths = np.diff(starts, append=chunk.size)
        self.followers = np.repeat(starts + lengths, lengths) - np.arange(chunk.size) - 1
        self.nodes = size

    def blocks(self) -> Iterator[Numbers]:
        """x * nodes + y of all pairs with x < y, sorted, in blocks of whole x and about `BLOCK` pairs."""
        by_node = np.argsort(self.node, kind="stable")
        node, before = self.node[by_node], np.cumsum(self.followers[by_node])
        start = 0
        while start < node.size:
            done = before[start - 1] if start else 0
            last = max(int(np.searchsorted(before, done + BLOCK)) - 1, start)
            end = int(np.searchsorted(node, node[min(last, node.size - 1)], side="right"))
            yield self._pairs(by_node[start:end])
            start = end

    def _pairs(self, mentions: Numbers) -> Numbers:
        followers = self.followers[mentions]
        ends = np.cumsum(followers)
        other = np.arange(ends[-1]) + np.repeat(mentions + 1 - (ends - followers), followers)
        key = np.repeat(self.node[mentions] * self.nodes, followers)
        key += self.node[other]
        key.sort()
        return key


def _counted(counts: PhraseCounts, nodes: Numbers, least: int) -> tuple[Pairs, int]:
    """The pairs in at least so many chunks, not yet weighed, and the sum of co-occurrences of all pairs."""
    found = _Cooccurrences(counts, nodes)
    x, y, times = [np.empty(0, np.int32)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for keys in found.blocks():
        key, starts = runs(keys)
        count = np.diff(starts, append=keys.size)
        if least > 1:
            key, count = key[count >= least], count[count >= least]
        x.append((key // found.nodes).astype(np.int32))
        y.append((key % found.nodes).astype(np.int32))
        times.append(count.astype(np.int32))
    pairs = Pairs(np.concatenate(x), np.concatenate(y), np.concatenate(times), np.empty(0))
    return pairs, int(found.followers.sum())


def _weighed(counted: tuple[Pairs, int], df: Numbers, connection: duckdb.DuckDBPyConnection) -> Pairs:
    pairs, total = counted
    weight: list[NDArray[np.float64]] = [np.empty(0)]
    for start in range(0, pairs.x.size, BLOCK):
        x, y, times = (column[start : start + BLOCK] for column in (pairs.x, pairs.y, pairs.cooccurrences))
        connection.register("counted", pa.table({"cooccurrences": times, "x_df": df[x], "y_df": df[y]}))
        sums = {"pairs": float(total), "df": float(df.sum())}
        weight.append(connection.execute(_WEIGHTS, sums).fetchnumpy()["weight"])
    return Pairs(pairs.x, pairs.y, pairs.cooccurrences, np.concatenate(weight))


def _tables(nodes: pa.Table, kept: NDArray[np.bool_], pairs: Pairs) -> tuple[pa.Table, pa.Table]:
    degree = degrees(pairs, kept.size).astype(np.int32)
    names = nodes["phrase"].combine_chunks()
    edges = pa.table(
        {
            "source": names.take(pa.array(pairs.x)),
            "target": names.take(pa.array(pairs.y)),
            "cooccurrences": pairs.cooccurrences,
            "weight": pairs.weight,
        }
    )
    nodes = nodes.append_column("degree", pa.array(degree)).filter(pa.array(kept))
    return nodes.cast(TABLES["graph_nodes"].schema), edges.cast(TABLES["graph_edges"].schema)
