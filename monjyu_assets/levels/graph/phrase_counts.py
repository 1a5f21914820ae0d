"""What is counted of each phrase of a collection, on arrays: chunks, papers, times, and the form it has most often."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

# Logarithms are DuckDB's: those of NumPy differ in the last bit from processor to processor.
_TFIDF = "SELECT (times * ln($chunks / df))::DOUBLE AS tfidf FROM counted"


@dataclass(frozen=True)
class PhraseCounts:
    """The phrases in the order of their bytes (`table`: phrase, surface, df, papers, tfidf), and for each mention the
    numbers of its phrase and of its chunk."""

    table: pa.Table
    phrase: Numbers
    chunk: Numbers
    chunks: int

    @property
    def df(self) -> Numbers:
        """The number of chunks that hold each phrase."""
        df: Numbers = self.table["df"].to_numpy().astype(np.int64)
        return df


def count_phrases(mentions: pa.Table, connection: duckdb.DuckDBPyConnection) -> PhraseCounts:
    """The counts of these `phrase_mentions`, of which a chunk has one for a phrase."""
    phrases, phrase = numbered(mentions["phrase"])
    papers, paper = numbered(mentions["paper_id"])
    chunks, chunk = numbered(mentions["chunk_id"])
    surfaces, surface = numbered(mentions["surface"])
    count = mentions["count"].to_numpy().astype(np.int64)
    df = np.bincount(phrase, minlength=len(phrases)).astype(np.int32)
    times = np.bincount(phrase, count, len(phrases)).astype(np.int64)  # exact: far below 2**53
    in_papers = runs(np.sort(phrase * max(len(papers), 1) + paper))[0] // max(len(papers), 1)
    table = pa.table(
        {
            "phrase": phrases,
            "surface": surfaces.take(pa.array(_most_frequent(phrase, surface, len(surfaces), count))),
            "df": df,
            "papers": np.bincount(in_papers, minlength=len(phrases)).astype(np.int32),
        }
    )
    connection.register("counted", pa.table({"times": times, "df": df}))
    tfidf = connection.execute(_TFIDF, {"chunks": len(chunks)}).fetchnumpy()["tfidf"]
    return PhraseCounts(table.append_column("tfidf", pa.array(tfidf, pa.float64())), phrase, chunk, len(chunks))


def numbered(column: pa.ChunkedArray) -> tuple[pa.Array, Numbers]:
    """The distinct values in the order of their bytes, and for each row the number of its value."""
    encoded = column.dictionary_encode().combine_chunks()
    order = pc.array_sort_indices(encoded.dictionary)
    number = np.empty(len(order), np.int64)
    number[order.to_numpy()] = np.arange(len(order))
    return encoded.dictionary.take(order), number[encoded.indices.to_numpy()]


def runs(ordered: Numbers) -> tuple[Numbers, Numbers]:
    """The distinct values of a sorted array, and where each begins. (`np.unique` hashes, ten times as slow.)"""
    first = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    return ordered[starts], starts


def _most_frequent(phrase: Numbers, surface: Numbers, surfaces: int, count: Numbers) -> Numbers:
    """For each phrase the number of the form with most mentions, of equally many the first."""
    if not phrase.size:
        return phrase
    key = phrase * surfaces + surface
    order = np.argsort(key)
    forms, starts = runs(key[order])
    times = np.add.reduceat(count[order], starts)
    of_phrase, starts = runs(forms // surfaces)
    most = np.maximum.reduceat(times, starts)
    best = np.flatnonzero(times == most[forms // surfaces])
    chosen = forms[best]
    return chosen[runs(chosen // surfaces)[1]] % surfaces
