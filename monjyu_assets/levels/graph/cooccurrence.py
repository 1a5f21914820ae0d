"""Builds the nodes and weighted edges of the noun graph. Pairs of phrases are counted by sorting arrays.

Pairs are counted by ranges of their first phrase and stored in a file, so that memory contains the mentions, a few
ranges, and the remaining edges, but never all pairs.

The weight of an edge is p(x,y) * log2(p(x,y) / (p(x) p(y))), with p(x) = df(x) / sum of df and p(x,y) = co-occurrences
/ sum of co-occurrences, as in microsoft/graphrag's `calculate_pmi_edge_weights`; or the number of co-occurrences, if
`GraphRules.counted`. Sums are over integers and rows are ordered, so that equal mentions give equal bytes.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_assets.levels.graph.rules import HUB_FLOOR, GraphRules
from monjyu_core.storage.schemas import TABLES

T = TypeVar("T")
R = TypeVar("R")

# Counts of the phrases of a graph, as arrays.
Numbers = NDArray[np.int64]
Codes = NDArray[np.int32]

# Logarithms are DuckDB's: those of NumPy differ in the last bit from processor to processor.
_TFIDF = "SELECT (times * ln($chunks / df))::DOUBLE AS tfidf FROM counted"


@dataclass(frozen=True)
class PhraseCounts:
    """The phrases in the order of their bytes. `table` has the columns phrase, surface, df, papers and tfidf, and
    `frequent` marks frequent phrases. `phrase` and `chunk` are the numbers of each mention's phrase and chunk."""

    table: pa.Table
    df: Numbers
    frequent: NDArray[np.bool_]
    phrase: Codes
    chunk: Codes


def count_phrases(mentions: pa.Table, rules: GraphRules, connection: duckdb.DuckDBPyConnection) -> PhraseCounts:
    """The counts of `mentions` (rows of `phrase_mentions`, one per chunk and phrase). With `rules.prune_first` they
    contain only frequent phrases."""
    texts = (mentions[name] for name in ("phrase", "chunk_id", "surface", "paper_id"))
    with ThreadPoolExecutor(2) as threads:  # seconds of Arrow, which releases the interpreter lock
        (phrase, names), (chunk, chunks), (surface, forms), (paper, papers) = threads.map(_coded, texts)
    count = mentions["count"].to_numpy()
    df = np.bincount(phrase, minlength=len(names))
    frequent = (df >= rules.min_df) & (df <= max(HUB_FLOOR, math.floor(rules.max_df_share * len(chunks))))
    kept = np.flatnonzero(frequent | (not rules.prune_first))
    names = names.take(pa.array(kept))
    order = pc.array_sort_indices(names)
    kept = kept[order.to_numpy()]
    number = np.full(df.size, -1, np.int32)
    number[kept] = np.arange(kept.size)
    phrase = number[phrase]
    if (phrase < 0).any():
        rows = phrase >= 0
        phrase, chunk, surface, paper, count = (column[rows] for column in (phrase, chunk, surface, paper, count))
    df = df[kept]
    times = np.bincount(phrase, count, kept.size).astype(np.int64)  # exact: far below 2**53
    with ThreadPoolExecutor(2) as threads:
        surfaces = threads.submit(_surfaces, phrase, surface, forms, count)
        in_papers = threads.submit(_papers, phrase, paper, len(papers), kept.size)
    columns = {
        "phrase": names.take(order),
        "surface": surfaces.result(),
        "df": df.astype(np.int32),
        "papers": in_papers.result().astype(np.int32),
        "tfidf": _tfidf(times, df, len(chunks), connection),
    }
    return PhraseCounts(pa.table(columns), df, frequent[kept], phrase, chunk)


def runs(ordered: NDArray[np.int64 | np.uint32]) -> tuple[NDArray[np.int64 | np.uint32], Numbers]:
    """The distinct values of a sorted array, and where each begins. (`np.unique` hashes, ten times as slowly.)"""
    first = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    return ordered[starts], starts


def _coded(column: pa.ChunkedArray) -> tuple[Codes, pa.Array]:
    """The index of each row's value among the distinct values, and the distinct values, which are not sorted."""
    encoded = column.dictionary_encode().combine_chunks()
    return encoded.indices.to_numpy(), encoded.dictionary


def _papers(phrase: Codes, paper: Codes, papers: int, phrases: int) -> Numbers:
    """The number of papers with each phrase."""
    size = np.int64(max(papers, 1))
    return np.bincount(runs(np.sort(phrase * size + paper))[0] // size, minlength=phrases)


def _tfidf(times: Numbers, df: Numbers, chunks: int, connection: duckdb.DuckDBPyConnection) -> NDArray[np.float64]:
    connection.register("counted", pa.table({"times": times, "df": df.astype(np.int32)}))
    found: NDArray[np.float64] = connection.execute(_TFIDF, {"chunks": chunks}).fetchnumpy()["tfidf"]
    return found


def _surfaces(phrase: Codes, surface: Codes, forms: pa.Array, count: Codes) -> pa.Array:
    """The most frequent form of each phrase; among equally frequent ones, the first in the order of bytes."""
    if not phrase.size:
        return forms.slice(0, 0)
    key = phrase * np.int64(len(forms)) + surface
    order = np.argsort(key)
    distinct, starts = runs(key[order])
    times = np.add.reduceat(count[order], starts, dtype=np.int64)
    of_phrase = distinct // len(forms)
    most = np.maximum.reduceat(times, runs(of_phrase)[1])
    best = distinct[times == most[of_phrase]]
    texts = forms.take(pa.array(best % len(forms)))
    rank = np.empty(best.size, np.int64)
    rank[pc.array_sort_indices(texts).to_numpy()] = np.arange(best.size)
    first = np.minimum.reduceat(rank, runs(best // len(forms))[1])
    return texts.take(pa.array(np.argsort(rank)[first]))


# Nodes and edges are pruned by frequency, degree and weight, then to the strongest edges of each node.
Chosen = NDArray[np.bool_]


_LEAST = -(2**31)
"""The lowest lightness, which is where the keys of a node begin."""


@dataclass(frozen=True)
class Pairs:
    """Edges in order of x and y: the indices of their nodes, x < y, the number of chunks with both, and the weight."""

    x: NDArray[np.int32]
    y: NDArray[np.int32]
    cooccurrences: NDArray[np.int32]
    weight: NDArray[np.float64]

    def columns(self) -> tuple[NDArray[Any], ...]:
        return self.x, self.y, self.cooccurrences, self.weight

    def at(self, chosen: Chosen) -> Pairs:
        return Pairs(self.x[chosen], self.y[chosen], self.cooccurrences[chosen], self.weight[chosen])


_TYPES = (np.int32, np.int32, np.int32, np.float64)
"""The types of the columns of `Pairs`."""


def degrees(pairs: Pairs, nodes: int) -> NDArray[np.int64]:
    """The number of neighbours of each node."""
    return np.bincount(pairs.x, minlength=nodes) + np.bincount(pairs.y, minlength=nodes)


def _above(degree: NDArray[np.int64], deviations: float | None) -> Chosen:
    if deviations is None or not degree.size:
        return np.zeros(degree.size, bool)
    return degree > float(degree.mean() + deviations * degree.std())


def _strongest(pairs: Pairs, degree: Numbers, most: int) -> Chosen:
    """Mark the edges that are among the `most` heaviest of at least one end. Of equally heavy edges, those whose other
    end comes first are kept. An end with fewer edges keeps all. Ranges of nodes are processed concurrently."""
    crowded = degree > most
    chosen = ~(crowded[pairs.x] & crowded[pairs.y])
    lightness = _lightness(pairs.weight)
    range_of = np.cumsum(degree * crowded) // (2 * BLOCK)
    starts = runs(range_of)[1].tolist()
    ranges = zip(starts, [*starts[1:], degree.size], strict=True)
    for edges in _by_turns(lambda nodes: _heaviest(pairs, nodes, crowded, lightness, most), ranges):
        chosen[edges] = True
    return chosen


def _heaviest(
    pairs: Pairs, nodes: tuple[int, int], crowded: Chosen, lightness: NDArray[np.int32], most: int
) -> NDArray[np.int64]:
    """The indices of edges that are among the `most` heaviest of one of the `crowded` nodes in a range. Weights are
    compared as rounded keys; only edges whose key equals the last one kept are compared exactly."""
    start, end = nodes
    of_x = np.arange(*np.searchsorted(pairs.x, np.array(nodes, np.int32)))  # of one type: else all is copied
    of_y = np.flatnonzero((pairs.y >= start) & (pairs.y < end))
    of_x, of_y = of_x[crowded[pairs.x[of_x]]], of_y[crowded[pairs.y[of_y]]]
    edge = np.concatenate([of_x, of_y])
    node = np.concatenate([pairs.x[of_x], pairs.y[of_y]])
    node -= start
    key = node.astype(np.int64)
    key <<= 32
    key += lightness[edge]
    ordered = np.sort(key)
    starts = np.searchsorted(ordered, (np.arange(end - start) << 32) + _LEAST)
    bound = ordered[np.minimum(starts + most - 1, ordered.size - 1)] if ordered.size else starts
    left = most - (np.searchsorted(ordered, bound) - starts)
    of_node = bound[node]
    sure, equal = edge[key < of_node], np.flatnonzero(key == of_node)
    edge, node = edge[equal], node[equal].astype(np.int64)
    other = pairs.x[edge] + pairs.y[edge].astype(np.int64) - node - start
    order = np.lexsort((other, -pairs.weight[edge], node))
    place = np.arange(order.size) - np.searchsorted(node[order], node[order])
    return np.concatenate([sure, edge[order[place < left[node[order]]]]])


def _lightness(weight: NDArray[np.float64]) -> NDArray[np.int32]:
    """32-bit integers that decrease or stay equal as the weights increase, from the bits of the weights as float32."""
    bits = weight.astype(np.float32).view(np.int32)
    rising = bits ^ ((bits >> 31) & np.int32(2**31 - 1))
    return ~rising


BLOCK = 2**22
"""The approximate number of pairs per sort, so that they stay in the processor's cache."""
KEYS = 2**32
"""The number of values that fit into a sorted key."""
MOST_THREADS = 4
"""The maximum number of threads that count blocks. NumPy sorts without the interpreter lock."""
IN_MEMORY = 2**26
"""The number of bytes above which pairs are stored in a file instead of memory, reached by some thousand papers."""

# Logarithms are DuckDB's: those of NumPy differ in the last bit from processor to processor.
_WEIGHTS = """
SELECT (cooccurrences / $pairs) * log2((cooccurrences / $pairs) / ((x_df / $df) * (y_df / $df))) AS weight FROM counted
"""


def build_graph(mentions: pa.Table, rules: GraphRules) -> tuple[pa.Table, pa.Table]:
    """The tables `graph_nodes` and `graph_edges` of `mentions`, rows of `phrase_mentions`. Ends of edges are
    dictionary-encoded.

    The graph is pruned in graphrag's order: the hub, degree, frequency, edge weight; then only the strongest edges of
    each node are kept. Nodes that lose all edges remain."""
    with duckdb.connect(":memory:") as connection, Ranges() as ranges:
        counts = count_phrases(mentions, rules, connection)
        del mentions  # callers keep no reference either, because it is larger than the edges
        degree = np.zeros(counts.df.size, np.int64)
        for pairs in _counted(_Cooccurrences(counts), counts.df, rules, connection):
            ranges.add(pairs)
            degree += degrees(pairs, degree.size)
        kept = counts.frequent & (degree >= rules.min_degree) & ~_above(degree, rules.max_degree_std)
        if rules.remove_hub and degree.size:
            kept[degree.argmax()] = False
        if not kept[degree > 0].all():
            ranges.nodes = kept
        pairs = ranges.at_least(ranges.percentile(rules.edge_percentile) if rules.edge_percentile > 0 else -math.inf)
    degree = degrees(pairs, kept.size)
    if rules.max_edges and degree.max(initial=0) > rules.max_edges:
        pairs = pairs.at(_strongest(pairs, degree, rules.max_edges))
    return _tables(counts.table, kept, pairs)


class Ranges:
    """Pairs by ranges of x, stored in a file if they are many. Pairs with an end that is not in `nodes` are skipped."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  # closed by __exit__
        self._sizes: list[int] = []
        self.nodes: Chosen | None = None

    def __enter__(self) -> Ranges:
        return self

    def __exit__(self, *failure: object) -> None:
        self._file.close()

    def add(self, pairs: Pairs) -> None:
        self._sizes.append(pairs.x.size)
        for column in pairs.columns():
            self._file.write(column.tobytes())

    def __iter__(self) -> Iterator[Pairs]:
        self._file.seek(0)
        for size in self._sizes:
            columns = [np.frombuffer(self._file.read(size * np.dtype(one).itemsize), one) for one in _TYPES]
            pairs = Pairs(*columns)  # type: ignore[arg-type]
            yield pairs if self.nodes is None else pairs.at(self.nodes[pairs.x] & self.nodes[pairs.y])

    def at_least(self, weight: float) -> Pairs:
        """The pairs with at least this weight."""
        columns: list[list[NDArray[Any]]] = [[np.empty(0, one)] for one in _TYPES]
        for pairs in self:
            chosen = pairs.at(pairs.weight >= weight)
            for column, some in zip(columns, chosen.columns(), strict=True):
                column.append(some)
        return Pairs(*(np.concatenate(columns.pop(0)) for _ in _TYPES))

    def percentile(self, percent: float) -> float:
        """The percentile of the weights, equal to the last bit to that of `np.percentile`, which would need all weights
        in an array. Weights are counted by their leading bits, and only those near the percentile are sorted."""
        ends = np.cumsum(
            sum((np.bincount(_leading(one.weight), minlength=2**20) for one in self), np.zeros(2**20, int))
        )
        if not ends[-1]:
            return -math.inf
        place = (ends[-1] - 1) * (percent / 100)
        two = np.minimum(int(place) + np.arange(2), ends[-1] - 1)
        low, high = np.searchsorted(ends, two, side="right")
        near = np.concatenate(
            [one.weight[(lead >= low) & (lead <= high)] for one in self for lead in [_leading(one.weight)]]
        )
        near.sort()
        below, above = near[two - (ends[low - 1] if low else 0)]
        part = place - int(place)
        return float(below + (above - below) * part if part < 0.5 else above - (above - below) * (1 - part))


def _leading(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """The first 20 bits of floats as integers in the same order, from 0."""
    bits = weight.view(np.int64)
    rising: NDArray[np.int64] = ((bits ^ ((bits >> 63) & np.int64(2**63 - 1))) >> 44) + 2**19
    return rising


class _Cooccurrences:
    """The mentions in order of chunk and phrase. `followers` is the number of phrases that follow a mention in its
    chunk, which is the number of its pairs."""

    def __init__(self, counts: PhraseCounts) -> None:
        self.phrases = max(counts.df.size, 1)
        ordered = counts.chunk * np.int64(self.phrases) + counts.phrase
        ordered.sort()
        chunk = ordered // self.phrases
        self.phrase = (ordered - chunk * self.phrases).astype(np.int32)
        starts = runs(chunk)[1]
        lengths = np.diff(starts, append=chunk.size)
        self.followers = (np.repeat(starts + lengths, lengths) - np.arange(chunk.size) - 1).astype(np.int32)
        self._by_phrase = np.argsort(self.phrase, kind="stable")

    def blocks(self) -> Iterator[tuple[int, int, int]]:
        """Divide the pairs into blocks of about `BLOCK` pairs that contain all pairs of each x. Yield the first x of a
        block, and its range among the mentions in order of phrase."""
        phrase, before = self.phrase[self._by_phrase], np.cumsum(self.followers[self._by_phrase])
        start = 0
        while start < phrase.size:
            first = int(phrase[start])
            done = before[start - 1] if start else 0
            end = max(int(np.searchsorted(before, done + BLOCK)), start + 1)
            last = min(int(phrase[min(end, phrase.size) - 1]), first + KEYS // self.phrases - 1)
            end = int(np.searchsorted(phrase, np.int32(last), side="right"))  # of one type: else all is copied
            yield first, start, end
            start = end

    def counted(self, block: tuple[int, int, int], least: int) -> tuple[Codes, Codes, Codes]:
        """The pairs of a block in at least `least` chunks, in order of x and y, and their numbers of chunks."""
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


def _counted(
    found: _Cooccurrences, df: Numbers, rules: GraphRules, connection: duckdb.DuckDBPyConnection
) -> Iterator[Pairs]:
    """Yield the pairs with at least `rules.min_cooccurrences` common chunks, with weights, in order, by block."""
    sums = {"pairs": float(found.followers.sum(dtype=np.int64)), "df": float(df.sum())}
    chunks = df.astype(np.int32)

    def weighed(block: tuple[int, int, int]) -> Pairs:
        x, y, times = found.counted(block, rules.min_cooccurrences)
        if rules.counted:
            return Pairs(x, y, times, times.astype(np.float64))
        with connection.cursor() as cursor:
            cursor.register("counted", pa.table({"cooccurrences": times, "x_df": chunks[x], "y_df": chunks[y]}))
            return Pairs(x, y, times, cursor.execute(_WEIGHTS, sums).fetchnumpy()["weight"])

    return _by_turns(weighed, found.blocks())


def _by_turns(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Yield the results of `work` in the order of `items`, a few of which are processed concurrently."""
    with ThreadPoolExecutor(count := min(os.cpu_count() or 1, MOST_THREADS)) as threads:
        left = iter(items)
        while turn := list(islice(left, count)):
            yield from threads.map(work, turn)


def _tables(nodes: pa.Table, kept: Chosen, pairs: Pairs) -> tuple[pa.Table, pa.Table]:
    degree = degrees(pairs, kept.size).astype(np.int32)
    names = nodes["phrase"].combine_chunks()
    edges = pa.table(
        {
            "source": pa.DictionaryArray.from_arrays(pa.array(pairs.x), names),
            "target": pa.DictionaryArray.from_arrays(pa.array(pairs.y), names),
            "cooccurrences": pairs.cooccurrences,
            "weight": pairs.weight,
        }
    )
    nodes = nodes.append_column("degree", pa.array(degree)).filter(pa.array(kept))
    return nodes.cast(TABLES["graph_nodes"].schema), edges
