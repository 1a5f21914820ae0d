"""What is counted of the phrases that a graph is made of, on arrays: chunks, papers, times, and the form of each."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_assets.levels.graph.rules import HUB_FLOOR, GraphRules

Numbers = NDArray[np.int64]

# Logarithms are DuckDB's: those of NumPy differ in the last bit from processor to processor.
_TFIDF = "SELECT (times * ln($chunks / df))::DOUBLE AS tfidf FROM counted"


@dataclass(frozen=True)
class PhraseCounts:
    """The phrases in the order of their bytes (`table`: phrase, surface, df, papers, tfidf), which of them are
    frequent, and for each of their mentions the numbers of the phrase and of the chunk."""

    table: pa.Table
    df: Numbers
    frequent: NDArray[np.bool_]
    phrase: Numbers
    chunk: Numbers


def count_phrases(mentions: pa.Table, rules: GraphRules, connection: duckdb.DuckDBPyConnection) -> PhraseCounts:
    """The counts of these `phrase_mentions`, of which a chunk has one for a phrase; of frequent phrases only where the
    others are pruned first."""
    with ThreadPoolExecutor(2) as threads:  # both are seconds of Arrow, which needs no interpreter
        (codes, names), (chunk, chunks) = threads.map(_coded, (mentions["phrase"], mentions["chunk_id"]))
    df = np.bincount(codes, minlength=len(names))
    frequent = (df >= rules.min_df) & (df <= max(HUB_FLOOR, math.floor(rules.max_df_share * len(chunks))))
    kept = np.flatnonzero(frequent | (not rules.prune_first))
    names = names.take(pa.array(kept))
    order = pc.array_sort_indices(names)
    kept = kept[order.to_numpy()]
    number = np.full(df.size, -1, np.int64)
    number[kept] = np.arange(kept.size)
    phrase = number[codes]
    rows = np.flatnonzero(phrase >= 0)
    phrase, df = phrase[rows], df[kept]
    some = mentions.select(["paper_id", "surface", "count"])
    some = some if rows.size == codes.size else some.take(pa.array(rows))
    count = some["count"].to_numpy().astype(np.int64)
    times = np.bincount(phrase, count, kept.size).astype(np.int64)  # exact: far below 2**53
    with ThreadPoolExecutor(2) as threads:
        surfaces = threads.submit(_surfaces, phrase, some["surface"], count)
        papers = threads.submit(_papers, phrase, some["paper_id"], kept.size)
    columns = {
        "phrase": names.take(order),
        "surface": surfaces.result(),
        "df": df.astype(np.int32),
        "papers": papers.result().astype(np.int32),
        "tfidf": _tfidf(times, df, len(chunks), connection),
    }
    return PhraseCounts(pa.table(columns), df, frequent[kept], phrase, chunk[rows])


def runs(ordered: NDArray[np.int64 | np.uint32]) -> tuple[NDArray[np.int64 | np.uint32], Numbers]:
    """The distinct values of a sorted array, and where each begins. (`np.unique` hashes, ten times as slow.)"""
    first = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    return ordered[starts], starts


def _coded(column: pa.ChunkedArray) -> tuple[Numbers, pa.Array]:
    """For each row the number of its value among the distinct ones, which are in no order."""
    encoded = column.dictionary_encode().combine_chunks()
    return encoded.indices.to_numpy().astype(np.int64), encoded.dictionary


def _papers(phrase: Numbers, paper_ids: pa.ChunkedArray, phrases: int) -> Numbers:
    """The number of papers that each phrase stands in."""
    paper, papers = _coded(paper_ids)
    size = max(len(papers), 1)
    return np.bincount(runs(np.sort(phrase * size + paper))[0] // size, minlength=phrases)


def _tfidf(times: Numbers, df: Numbers, chunks: int, connection: duckdb.DuckDBPyConnection) -> NDArray[np.float64]:
    connection.register("counted", pa.table({"times": times, "df": df.astype(np.int32)}))
    found: NDArray[np.float64] = connection.execute(_TFIDF, {"chunks": chunks}).fetchnumpy()["tfidf"]
    return found


def _surfaces(phrase: Numbers, column: pa.ChunkedArray, count: Numbers) -> pa.Array:
    """The form of each phrase with most mentions, of equally many the first by its bytes."""
    surface, forms = _coded(column)
    if not phrase.size:
        return forms
    key = phrase * len(forms) + surface
    order = np.argsort(key)
    distinct, starts = runs(key[order])
    times = np.add.reduceat(count[order], starts)
    of_phrase = distinct // len(forms)
    most = np.maximum.reduceat(times, runs(of_phrase)[1])
    best = distinct[times == most[of_phrase]]
    texts = forms.take(pa.array(best % len(forms)))
    rank = np.empty(best.size, np.int64)
    rank[pc.array_sort_indices(texts).to_numpy()] = np.arange(best.size)
    first = np.minimum.reduceat(rank, runs(best // len(forms))[1])
    return texts.take(pa.array(np.argsort(rank)[first]))
