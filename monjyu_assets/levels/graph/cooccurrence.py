"""Nodes and weighted edges of the noun graph: how many chunks hold two phrases, counted by sorting on arrays.

Weight of an edge: p(x,y) * log2(p(x,y) / (p(x) p(y))), with p(x) = df(x) / sum of df and p(x,y) = co-occurrences / sum
of co-occurrences, as microsoft/graphrag's `calculate_pmi_edge_weights`. All sums are of integers, all is ordered.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from monjyu_assets.levels.graph.phrase_counts import Numbers, PhraseCounts, count_phrases, runs
from monjyu_assets.levels.graph.pruning import Pairs, degrees, prune
from monjyu_assets.levels.graph.rules import GraphRules
from monjyu_core.storage.schemas import TABLES

BLOCK = 2**22
"""Pairs that are sorted at once: they stay in the processor's cache."""
KEYS = 2**32
"""Numbers that a sorted key has room for."""

# Logarithms are DuckDB's: those of NumPy differ in the last bit from processor to processor.
_WEIGHTS = """
SELECT (cooccurrences / $pairs) * log2((cooccurrences / $pairs) / ((x_df / $df) * (y_df / $df))) AS weight FROM counted
"""


def build_graph(mentions: pa.Table, rules: GraphRules) -> tuple[pa.Table, pa.Table]:
    """`graph_nodes` and `graph_edges` of these `phrase_mentions`."""
    with duckdb.connect(":memory:") as connection:
        counts = count_phrases(mentions, rules, connection)
        pairs, total = _counted(_Cooccurrences(counts), rules.min_cooccurrences)
        pairs = _weighed(pairs, total, counts.df, connection)
    kept, pairs = prune(pairs, counts.frequent, rules)
    return _tables(counts.table, kept, pairs)


class _Cooccurrences:
    """For each mention, sorted by chunk and phrase, how many phrases of its chunk follow it: its pairs."""

    def __init__(self, counts: PhraseCounts) -> None:
        self.phrases = max(counts.df.size, 1)
        ordered = np.sort(counts.chunk * self.phrases + counts.phrase)
        chunk = ordered // self.phrases
        self.phrase = ordered - chunk * self.phrases
        starts = runs(chunk)[1]
        lengths = np.diff(starts, append=chunk.size)
        self.followers = np.repeat(starts + lengths, lengths) - np.arange(chunk.size) - 1

    def blocks(self) -> Iterator[tuple[int, NDArray[np.uint32]]]:
        """All pairs x < y, in blocks of whole x and about `BLOCK` pairs: the first x of a block, and sorted keys
        (x - first) * phrases + y."""
        by_phrase = np.argsort(self.phrase, kind="stable")
        phrase, before = self.phrase[by_phrase], np.cumsum(self.followers[by_phrase])
        start = 0
        while start < phrase.size:
            first = int(phrase[start])
            done = before[start - 1] if start else 0
            end = max(int(np.searchsorted(before, done + BLOCK)), start + 1)
            last = min(int(phrase[min(end, phrase.size) - 1]), first + KEYS // self.phrases - 1)
            end = int(np.searchsorted(phrase, last, side="right"))
            yield first, self._keys(by_phrase[start:end], first)
            start = end

    def _keys(self, mentions: Numbers, first: int) -> NDArray[np.uint32]:
        followers = self.followers[mentions]
        ends = np.cumsum(followers)
        other = np.repeat(mentions + 1 - (ends - followers), followers)
        other += np.arange(other.size)
        keys = np.repeat(((self.phrase[mentions] - first) * self.phrases).astype(np.uint32), followers)
        keys += self.phrase[other].astype(np.uint32)
        keys.sort()
        return keys


def _counted(found: _Cooccurrences, least: int) -> tuple[Pairs, int]:
    """The pairs in at least so many chunks, not yet weighed, and the sum of co-occurrences of all pairs."""
    x, y, times = [np.empty(0, np.int32)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for first, keys in found.blocks():
        key, starts = runs(keys)
        count = np.diff(starts, append=keys.size)
        if least > 1:
            key, count = key[count >= least], count[count >= least]
        x.append((key // found.phrases + first).astype(np.int32))
        y.append((key % found.phrases).astype(np.int32))
        times.append(count.astype(np.int32))
    pairs = Pairs(np.concatenate(x), np.concatenate(y), np.concatenate(times), np.empty(0))
    return pairs, int(found.followers.sum())


def _weighed(pairs: Pairs, total: int, df: Numbers, connection: duckdb.DuckDBPyConnection) -> Pairs:
    sums = {"pairs": float(total), "df": float(df.sum())}
    chunks = df.astype(np.int32)
    weight: list[NDArray[np.float64]] = [np.empty(0)]
    for start in range(0, pairs.x.size, BLOCK):
        x, y, times = (column[start : start + BLOCK] for column in (pairs.x, pairs.y, pairs.cooccurrences))
        connection.register("counted", pa.table({"cooccurrences": times, "x_df": chunks[x], "y_df": chunks[y]}))
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
