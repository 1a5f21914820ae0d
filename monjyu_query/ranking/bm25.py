"""BM25 in memory: the scores of Lance's full-text index, bit by bit, without asking it for each question.

A query of Lance goes through three threads and a plan of its own, 2.5 ms of processor time where adding up postings
takes a tenth of one. The postings are made of the terms that Lance's own tokenizer gives; only the formula is repeated,
in Lance's order and precision.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_query.ranking.fusion import Scores

Cut = Callable[[Sequence[str]], list[list[str]]]
"""Gives the terms of each text."""

_SEPARATORS = r"[\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+"
"""ASCII that is no letter and no digit: the tokenizer of words breaks at all of it, and grams hold none but spaces."""
_SPLIT = re.compile(_SEPARATORS)
_AT_ONCE = 5_000
"""Pieces that are cut into terms in one call."""
_K1, _B = np.float32(1.2), np.float32(0.75)
"""Lance's constants; it has no setting for them."""


def pieces_of(text: str) -> list[str]:
    """Text between separators: it has the same terms wherever it occurs."""
    return [piece for piece in _SPLIT.split(text) if piece]


@dataclass(frozen=True)
class Postings:
    """One field of n chunks. `pieces` are those of its texts with the numbers of their terms, `numbers` the terms'.

    Term t stands in the chunks `rows[starts[t] : starts[t + 1]]`; `weights` are its scores there.
    """

    count: int
    pieces: Mapping[str, tuple[int, ...]]
    numbers: Mapping[str, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]

    def unknown(self, pieces: Sequence[str]) -> list[str]:
        """The pieces that occur in no chunk, each once; their terms may still occur."""
        return [piece for piece in dict.fromkeys(pieces) if piece not in self.pieces]

    def scores(self, pieces: Sequence[str], cut: Mapping[str, Sequence[str]]) -> Scores:
        """BM25 scores (n,) of a query's pieces, repeated ones counted again; `cut` has the terms of the unknown."""
        total = np.zeros(self.count, dtype=np.float32)
        for piece in pieces:
            terms = self.pieces.get(piece)
            if terms is None:
                terms = tuple(self.numbers[term] for term in cut[piece] if term in self.numbers)
            for term in terms:
                place = slice(self.starts[term], self.starts[term + 1])
                total[self.rows[place]] += self.weights[place]
        return total


def make_postings(texts: pa.ChunkedArray, order: NDArray[np.intp], cut: Cut) -> Postings:
    """Postings of a field: `texts` (n,) as Lance holds them, `order` (n,) the chunk that each belongs to."""
    split = pc.split_pattern_regex(pc.fill_null(texts, ""), _SEPARATORS).combine_chunks()
    found = split.flatten().dictionary_encode()
    pieces: list[str] = found.dictionary.to_pylist()
    owner = order[pc.list_parent_indices(split).to_numpy()]
    terms = [terms for start in range(0, len(pieces), _AT_ONCE) for terms in cut(pieces[start : start + _AT_ONCE])]
    numbers: dict[str, int] = {}
    numbered = [tuple(numbers.setdefault(term, len(numbers)) for term in some) for some in terms]
    term, row = _occurrences(found.indices.to_numpy(), owner, numbered)
    known = dict(zip(pieces, numbered, strict=True))
    return Postings(len(texts), known, numbers, *_weighed(term, row, len(numbers), len(texts)))


def _occurrences(
    piece: NDArray[np.int32], owner: NDArray[np.intp], numbered: Sequence[tuple[int, ...]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From each piece in each chunk to each term in each chunk: two arrays, terms and chunks."""
    counts = np.fromiter(map(len, numbered), np.int64, len(numbered))
    flat = np.fromiter((term for terms in numbered for term in terms), np.int64, int(counts.sum()))
    first = np.cumsum(counts) - counts
    each = counts[piece]
    within = np.arange(int(each.sum())) - np.repeat(np.cumsum(each) - each, each)
    return flat[np.repeat(first[piece], each) + within], np.repeat(owner, each).astype(np.int64)


def _weighed(
    term: NDArray[np.int64], row: NDArray[np.int64], terms: int, count: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """`starts`, `rows` and `weights` (Robertson et al. 1994, "Okapi at TREC-3"; the logarithm as in Lucene).

    A chunk without a term in this field is none of its documents.
    """
    length = np.bincount(row, minlength=count)
    pair, times = np.unique(term * count + row, return_counts=True)
    of, rows = np.divmod(pair, count)
    frequency = np.bincount(of, minlength=terms)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(frequency)])
    often = times.astype(np.float32)
    documents = int(np.count_nonzero(length))
    average = np.float32(length.sum()) / np.float32(max(documents, 1))
    norm = _K1 * (np.float32(1) - _B + _B * length[rows].astype(np.float32) / average)
    rarity = np.array([_rarity(int(holds), documents) for holds in frequency], np.float32)
    weights = rarity[of] * ((_K1 + np.float32(1)) * often / (often + norm))
    return starts, rows.astype(np.int32), weights


def _rarity(holds: int, documents: int) -> np.float32:
    """The logarithm in double precision and rounded once: NumPy's own in single precision is off by a bit."""
    half = np.float32(0.5)
    share = (np.float32(documents) - np.float32(holds) + half) / (np.float32(holds) + half) + np.float32(1)
    return np.float32(math.log(float(share)))
