"""The two rankers: exact cosine similarity over the corpus matrix, and BM25 by Lance's full-text index."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monjyu_query.corpus import Corpus
from monjyu_query.fusion import Scores

_COLUMN = "search_text"
_WORD = re.compile(r"[^\W_]+")
_BREAK = f"z{secrets.token_hex(8)}0"
"""Stands between texts that are cut into terms in one call; made anew in each process, so no paper can hold it."""

lookups = ThreadPoolExecutor(4, thread_name_prefix="lookups")
"""Words are looked up while the question is being embedded. No task here waits for another."""

MOST_TERMS = 48
"""Further distinct terms of a question do not count as evidence."""
_REMEMBERED = 50_000


def vector_scores(corpus: Corpus, query: NDArray[np.float32]) -> Scores:
    """Cosine similarity (n,) of every chunk with a query vector (d,) of length 1.

    `vecdot` and not `@`: BLAS would call up its threads, which on busy cores takes 20 ms and lets them spin after it.
    """
    scores: Scores = np.vecdot(corpus.vectors, query)
    return scores


@dataclass(frozen=True)
class QueryTerm:
    """A term as the index has it, the word of the question that became it, and the number of chunks that hold it."""

    term: str
    word: str
    frequency: int


class KeywordIndex:
    """Full text of a snapshot's pinned Lance table. Queries are plain words: no operator or quote means anything."""

    def __init__(self, table: Any | None, corpus: Corpus) -> None:
        self._table = table
        self._corpus = corpus
        self._frequencies: dict[str, int] = {}

    def scores(self, query: str) -> Scores:
        """BM25 score (n,) of every chunk; 0 where no word of the query occurs."""
        scores = np.zeros(len(self._corpus), dtype=np.float32)
        if self._table is not None:
            found = self._match(query)
            places = np.searchsorted(self._corpus.lance_rows, found["_rowid"].to_numpy())
            scores[self._corpus.lance_order[places]] = found["_score"].to_numpy()
        return scores

    def terms(self, texts: Sequence[str]) -> list[list[str]]:
        """Each text's words as the index has them: lower case, stemmed, without stop words, in order, repeated."""
        joined = self._tokens(f" {_BREAK} ".join(texts))
        if joined.count(_BREAK) != max(len(texts) - 1, 0):
            return [self._tokens(text) for text in texts]
        split: list[list[str]] = [[] for _ in texts]
        place = 0
        for token in joined:
            if token == _BREAK:
                place += 1
            else:
                split[place].append(token)
        return split

    def query_terms(self, query: str) -> list[QueryTerm]:
        """The distinct terms of a query in order, at most `MOST_TERMS`, each with the number of chunks that hold it."""
        words = list(dict.fromkeys(_WORD.findall(query)))
        found: dict[str, str] = {}
        for word, terms in zip(words, self.terms(words), strict=True):
            for term in terms:
                found.setdefault(term, word)
        some = list(found.items())[:MOST_TERMS]
        return [QueryTerm(term, word, self._frequency(term, word)) for term, word in some]

    def _frequency(self, term: str, word: str) -> int:
        """Searched by the word, since a stem need not be its own stem; remembered by the term."""
        known = self._frequencies.get(term)
        if known is None:
            known = 0 if self._table is None else int(self._match(word).num_rows)
            if len(self._frequencies) >= _REMEMBERED:
                self._frequencies.clear()
            self._frequencies[term] = known
        return known

    def _tokens(self, text: str) -> list[str]:
        if self._table is None or not text.strip():
            return []
        return [token.text for token in self._table.tokenize(text, column=_COLUMN)]

    def _match(self, query: str) -> Any:
        from lancedb.query import MatchQuery

        assert self._table is not None
        match: Any = MatchQuery  # its optional fields look required to type checkers
        search = self._table.search(match(query, _COLUMN), query_type="fts").with_row_id(True)
        return search.select(["_score"]).limit(len(self._corpus)).to_arrow()
