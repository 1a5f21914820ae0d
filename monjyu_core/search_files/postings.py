"""The postings of a field of texts: which terms stand in which of them, how often."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Cut = Callable[[Sequence[str]], list[list[str]]]
"""Gives the terms of each text."""

_SEPARATORS = r"[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+"
"""ASCII that is no letter and no digit: words break at all of it, and grams hold none but spaces."""


@dataclass(frozen=True)
class Postings:
    """One field of n texts with t terms and p pairs of the two.

    `terms` (t,) are hashes of terms in rising order; term k stands in the texts `rows[starts[k] : starts[k + 1]]`
    (rising), in each `times` often. `lengths` (n,) are the numbers of terms of the texts, repeated ones counted again.
    Whole numbers all, so those of several fields add up to those of their union.
    """

    terms: NDArray[np.uint64]
    starts: NDArray[np.uint32]
    rows: NDArray[np.unsignedinteger[Any]]
    times: NDArray[np.unsignedinteger[Any]]
    lengths: NDArray[np.uint32]


def term_hashes(terms: Sequence[str]) -> NDArray[np.uint64]:
    """64 bits of each term. Among ten million terms two are the same with a chance of 1 to 400,000."""
    raw = b"".join(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest() for term in terms)
    return np.frombuffer(raw, "<u8").astype(np.uint64)


def make_postings(texts: pa.Array, cut: Cut) -> Postings:
    """Postings of the texts (n,). `cut` sees each distinct piece between separators once: it has the same terms
    wherever it occurs."""
    split = pc.split_pattern_regex(texts, _SEPARATORS)
    found = split.flatten().dictionary_encode()
    pieces = cut(found.dictionary.to_pylist())
    numbers: dict[str, int] = {}
    numbered = [[numbers.setdefault(term, len(numbers)) for term in terms] for terms in pieces]
    term, row = _occurrences(found.indices.to_numpy(), pc.list_parent_indices(split).to_numpy(), numbered)
    hashes = term_hashes(list(numbers))
    order = np.argsort(hashes)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    count = max(len(texts), 1)
    pair, times = np.unique(rank[term] * count + row, return_counts=True)
    of, rows = np.divmod(pair, count)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(of, minlength=len(order)))])
    return Postings(
        terms=hashes[order],
        starts=starts.astype(np.uint32),
        rows=_smallest(rows),
        times=_smallest(times),
        lengths=np.bincount(row, minlength=len(texts)).astype(np.uint32),
    )


def _occurrences(
    piece: NDArray[np.int32], owner: NDArray[np.int64], numbered: Sequence[Sequence[int]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From each piece in each text to each term in each text: two arrays, terms and texts."""
    counts = np.fromiter(map(len, numbered), np.int64, len(numbered))
    flat = np.fromiter((term for terms in numbered for term in terms), np.int64, int(counts.sum()))
    first = np.cumsum(counts) - counts
    each = counts[piece]
    within = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
    return flat[np.repeat(first[piece], each) + within], np.repeat(owner, each).astype(np.int64)


def _smallest(values: NDArray[np.int64]) -> NDArray[np.unsignedinteger[Any]]:
    """In the fewest bytes that hold them."""
    most = int(values.max(initial=0))
    return values.astype(np.min_scalar_type(most))
