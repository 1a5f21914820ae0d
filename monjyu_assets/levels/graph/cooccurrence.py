"""Nodes and weighted edges of the noun graph: how many chunks hold two phrases, counted by sorting on arrays.

Weight of an edge: p(x,y) * log2(p(x,y) / (p(x) p(y))), with p(x) = df(x) / sum of df and p(x,y) = co-occurrences / sum
of co-occurrences, as microsoft/graphrag's `calculate_pmi_edge_weights`. All sums are of integers, all is ordered.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

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
MOST_THREADS = 4
"""Blocks are counted side by side, since NumPy sorts without the interpreter; the result is in their order."""
Counted = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
"""Pairs x < y, and in how many chunks both are."""

# Logarithms are DuckDB's: those of NumPy differ in the last bit from processor to processor.
_WEIGHTS = """
SELECT (cooccurrences / $pairs) * log2((cooccurrences / $pairs) / ((x_df / $df) * (y_df / $df))) AS weight FROM counted
"""


def build_graph(mentions: pa.Table, rules: GraphRules) -> tuple[pa.Table, pa.Table]:
    """`graph_nodes` and `graph_edges` of these `phrase_mentions`."""
    with duckdb.connect(":memory:") as connection:
        counts = count_phrases(mentions, rules, connection)
        pairs, total = _counted(_Cooccurrences(counts), rules.min_cooccurrences)
        if rules.counted:
            pairs = Pairs(pairs.x, pairs.y, pairs.cooccurrences, pairs.cooccurrences.astype(np.float64))
        else:
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
        self._by_phrase = np.argsort(self.phrase, kind="stable")

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """All pairs x < y in blocks of whole x and about `BLOCK` pairs: the first x of a block, and from which to
        which place of the mentions by phrase it goes."""
        phrase, before = self.phrase[self._by_phrase], np.cumsum(self.followers[self._by_phrase])
        start = 0
        while start < phrase.size:
            first = int(phrase[start])
            done = before[start - 1] if start else 0
            end = max(int(np.searchsorted(before, done + BLOCK)), start + 1)
            last = min(int(phrase[min(end, phrase.size) - 1]), first + KEYS // self.phrases - 1)
            end = int(np.searchsorted(phrase, last, side="right"))
            yield first, start, end
            start = end

    def counted(self, block: tuple[int, int, int], least: int) -> Counted:
        """The pairs of a block in at least so many chunks, in order."""
        first, start, end = block
        key, starts = runs(keys := self._keys(self._by_phrase[start:end], first))
        count = np.diff(starts, append=keys.size)
        if least > 1:
            key, count = key[count >= least], count[count >= least]
        x = key // self.phrases
        return (x + first).astype(np.int32), (key - x * self.phrases).astype(np.int32), count.astype(np.int32)

    def _keys(self, mentions: Numbers, first: int) -> NDArray[np.uint32]:
        """Sorted keys (x - first) * phrases + y."""
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
    none = np.empty(0, np.int32)
    with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_THREADS)) as threads:
        blocks = [(none, none, none), *threads.map(lambda block: found.counted(block, least), found.blocks())]
    x, y, times = map(np.concatenate, zip(*blocks, strict=True))
    pairs = Pairs(x, y, times, np.empty(0))
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
