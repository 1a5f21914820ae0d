"""BM25 over the postings of search files: the scores that Lance's full-text index gives, to the last bit.

What depends on the whole collection (how many texts hold a term, how long texts are) is added up from whole numbers
when a snapshot is opened or asked, so that scores never depend on how the collection came about.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from monjyu_core.search_files.search_file import Postings, term_hashes
from monjyu_query.ranking.fusion import Scores

_K1, _B = np.float32(1.2), np.float32(0.75)
"""The constants of Lance, and of most."""

MOST_KEPT = 8 << 20
"""Postings of the terms asked for last that a field keeps weighed, 8 bytes each: common words come again and again."""

Spelling = tuple[str, ...]
"""Terms that stand for another one together."""
Entry = tuple[NDArray[np.int32], Scores]
"""The texts that hold a term, and its scores in them."""


class FullTextField:
    """One field of n texts in some files, one after the other."""

    def __init__(self, files: Sequence[Postings]) -> None:
        self._files = files
        self._lock = threading.Lock()
        self._kept: dict[str, Entry] = {}
        self._begins = list(accumulate((len(file.lengths) for file in files), initial=0))
        lengths = np.concatenate([file.lengths for file in files]) if files else np.zeros(0, np.uint32)
        self._documents = int(np.count_nonzero(lengths))
        average = np.float32(lengths.sum(dtype=np.int64) or 1) / np.float32(max(self._documents, 1))
        self._norm: Scores = _K1 * (np.float32(1) - _B + _B * lengths.astype(np.float32) / average)

    def scores(self, terms: Sequence[str], also: Mapping[str, Sequence[Spelling]] | None = None) -> Scores:
        """Scores (n,) of the terms of a question, repeated ones counted again; a text without a term in this field is
        none of its documents. `also`: terms that stand for one together, where a text lacks it or says it less."""
        also = also or {}
        total = np.zeros(self._begins[-1], dtype=np.float32)
        every = [*terms, *(part for ways in also.values() for way in ways for part in way)]
        entries = self._weighed(list(dict.fromkeys(every))) if self._documents else {}
        for term in terms if entries else ():
            rows, weights = entries[term]
            if ways := also.get(term):
                total += self._best_of(entries[term], [[entries[part] for part in way] for way in ways])
            else:
                total[rows] += weights
        return total

    def _best_of(self, own: Entry, ways: Sequence[Sequence[Entry]]) -> Scores:
        """Scores (n,) of a term: of each text its own or those of the spelling that it says most, as often as its
        rarest part, and as rare as the term; or, where nothing has the term, as the spelling."""
        best = self._spread(own, np.float32(1))
        for way in ways:
            shares = [self._spread(part, 1 / self._rarity_of(part)) for part in way]
            whole = np.minimum.reduce(shares)
            rarity = self._rarity_of(own) if len(own[0]) else _rarity(int(np.count_nonzero(whole)), self._documents)
            best = np.maximum(best, rarity * whole)
        return best

    def _rarity_of(self, entry: Entry) -> np.float32:
        return _rarity(len(entry[0]), self._documents)

    def _spread(self, entry: Entry, factor: np.float32) -> Scores:
        spread = np.zeros(self._begins[-1], dtype=np.float32)
        spread[entry[0]] = entry[1] * factor
        return spread

    def holders(self, terms: Sequence[str]) -> list[NDArray[np.int32]]:
        """The texts that hold each term."""
        entries = self._weighed(list(dict.fromkeys(terms)))
        return [entries[term][0] for term in terms]

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """In how many texts each term stands."""
        with self._lock:
            found = {term: len(self._kept[term][0]) for term in terms if term in self._kept}
        new = [term for term in terms if term not in found]
        found |= dict.fromkeys(new, 0)
        for _, places in self._places(new):
            for number, low, high in places:
                found[new[number]] += high - low
        return [found[term] for term in terms]

    def _weighed(self, terms: Sequence[str]) -> dict[str, Entry]:
        """The entries of the terms, those kept first."""
        with self._lock:
            found = {term: self._kept.pop(term) for term in terms if term in self._kept}
            self._kept |= found
        new = [term for term in terms if term not in found]
        found |= zip(new, self._entries(new), strict=True)
        with self._lock:
            self._kept |= {term: found[term] for term in new}
            size = sum(len(rows) for rows, _ in self._kept.values())
            while size > MOST_KEPT:
                size -= len(self._kept.pop(next(iter(self._kept)))[0])
        return found

    def _entries(self, terms: Sequence[str]) -> list[Entry]:
        rows: list[list[NDArray[np.int32]]] = [[] for _ in terms]
        times: list[list[NDArray[np.float32]]] = [[] for _ in terms]
        for file, places in self._places(terms):
            postings, begin = self._files[file], np.int32(self._begins[file])
            for number, low, high in places:
                rows[number].append(postings.rows[low:high] + begin)
                times[number].append(postings.times[low:high].astype(np.float32))
        return [self._entry(some, often) for some, often in zip(rows, times, strict=True)]

    def _entry(self, rows: list[NDArray[np.int32]], times: list[NDArray[np.float32]]) -> Entry:
        """The formula of Robertson et al. 1994, "Okapi at TREC-3", with the logarithm as in Lucene."""
        if not rows:
            return np.zeros(0, np.int32), np.zeros(0, np.float32)
        where, often = np.concatenate(rows), np.concatenate(times)
        share: Scores = (_K1 + np.float32(1)) * often / (often + self._norm[where])
        weights: Scores = _rarity(len(where), self._documents) * share
        return where, weights

    def _places(self, terms: Sequence[str]) -> list[tuple[int, list[tuple[int, int, int]]]]:
        """By file the number, begin and end of each term that it holds."""
        if not terms:
            return []
        hashes, found = term_hashes(terms), []
        for number, file in enumerate(self._files):
            if len(file.terms):
                at = np.searchsorted(file.terms, hashes)
                here = np.flatnonzero(file.terms[np.minimum(at, len(file.terms) - 1)] == hashes)
                low, high = file.starts[at[here]], file.starts[at[here] + 1]
                found.append((number, list(zip(here.tolist(), low.tolist(), high.tolist(), strict=True))))
        return found


def _rarity(holds: int, documents: int) -> np.float32:
    """The logarithm in double precision and rounded once: NumPy's own in single precision is off by a bit."""
    half = np.float32(0.5)
    share = (np.float32(documents) - np.float32(holds) + half) / (np.float32(holds) + half) + np.float32(1)
    return np.float32(math.log(float(share)))
