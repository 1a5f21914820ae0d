"""The two rankers: exact cosine similarity over the corpus matrix, and BM25 by Lance's full-text index."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from monjyu_core.text.search_text import content_grams, gram_terms, search_grams, search_words
from monjyu_query.ranking.bm25 import Postings, make_postings, pieces_of
from monjyu_query.ranking.corpus import Corpus
from monjyu_query.ranking.fusion import Scores
from monjyu_query.ranking.lance_loop import later, now

if TYPE_CHECKING:
    from lancedb import AsyncTable

_WORDS, _GRAMS = "search_text", "search_grams"
_FIELDS = {_WORDS: search_words, _GRAMS: search_grams}
"""Fields of the index, with what each sees of a text."""
_WORD = re.compile(r"[^\W_]+")
_BREAK = f"z{secrets.token_hex(8)}0"
"""Stands between texts that are cut into terms in one call; made anew in each process, so no paper can hold it."""

MOST_TERMS = 48
"""Further distinct terms of a question do not count as evidence."""
_REMEMBERED = 50_000
IN_MEMORY = 20_000
"""Chunks up to which the full text is held in memory: about a kilobyte each, less than their vectors."""
ASKED_BEFORE = 20
"""Questions to a snapshot before its full text is read into memory: a process that asks one or two does not wait for
that."""
_log = logging.getLogger(__name__)

Pieces = Mapping[str, Sequence[str]]
"""Pieces of a question, by field."""


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
    """Full text of a snapshot's pinned Lance table. Queries are plain words: no operator or quote means anything.

    `table` is None where there are no chunks. What is asked again and again is read into memory, where it is small
    enough; the scores stay the same to the last bit.
    """

    def __init__(self, table: AsyncTable | None, corpus: Corpus) -> None:
        self._table = table
        self._corpus = corpus
        self._frequencies: dict[str, int] = {}
        self._lock = threading.Lock()
        self._asked: list[str] = []
        self._held: dict[str, Postings] = {}

    def scores(self, query: str) -> Future[Scores]:
        """BM25 score (n,) of every chunk; 0 where no word of the query occurs."""
        if not self._held:
            self._note(query)
            return later(self._scores(query))
        pieces = _pieces(query)
        if any(self._held[field].unknown(some) for field, some in pieces.items()):
            return later(self._learnt(self._held, pieces))
        done: Future[Scores] = Future()
        done.set_result(_sum(self._held, pieces, {}))
        return done

    def hold(self) -> bool:
        """Read the full text into memory; whether it fits, and gives for the questions so far what Lance gives."""
        if self._table is None or len(self._corpus) > IN_MEMORY:
            return False
        rows = now(self._texts())
        order = self._corpus.lance_order[np.searchsorted(self._corpus.lance_rows, rows["_rowid"].to_numpy())]
        held = {field: make_postings(rows[field], order, partial(self._cut_now, field=field)) for field in _FIELDS}
        for query in self._asked:
            if not np.array_equal(now(self._scores(query)), now(self._learnt(held, _pieces(query)))):
                _log.warning("BM25 in memory and Lance's differ: Lance goes on being asked.")
                return False
        self._held = held
        return True

    def query_terms(self, query: str) -> Future[list[QueryTerm]]:
        """The distinct terms of a query in order, at most `MOST_TERMS`, each with the number of chunks that hold it."""
        return later(self._query_terms(query))

    def terms(self, texts: Sequence[str]) -> list[list[str]]:
        """Each text's terms as the index has them: stemmed words without stop words, then grams, repeated."""
        words = now(self._cut([search_words(text) for text in texts], _WORDS))
        return [own + gram_terms(text) for own, text in zip(words, texts, strict=True)]

    def _note(self, query: str) -> None:
        """Count the question; after enough of them the full text is read in the background."""
        with self._lock:
            if len(self._asked) >= ASKED_BEFORE:
                return
            self._asked.append(query)
            enough = len(self._asked) == ASKED_BEFORE
        if enough:
            threading.Thread(target=self._try_to_hold, name="full-text", daemon=True).start()

    def _try_to_hold(self) -> None:
        try:
            self.hold()
        except (OSError, RuntimeError, ValueError) as error:  # a publish may take the files of the snapshot before
            _log.warning("The full text is not held in memory: %s", error)

    def _cut_now(self, texts: Sequence[str], field: str) -> list[list[str]]:
        return now(self._cut(texts, field))

    async def _texts(self) -> Any:
        assert self._table is not None
        query = self._table.query().with_row_id().select(list(_FIELDS))
        return await query.limit(len(self._corpus) + 1).to_arrow()

    async def _learnt(self, held: Mapping[str, Postings], pieces: Pieces) -> Scores:
        """Scores of a query in which pieces are that stand in no chunk: their terms may."""
        new = {field: held[field].unknown(some) for field, some in pieces.items()}
        found = await asyncio.gather(*(self._cut(some, field) for field, some in new.items()))
        terms = {
            field: dict(zip(some, cut, strict=True)) for (field, some), cut in zip(new.items(), found, strict=True)
        }
        return _sum(held, pieces, terms)

    async def _scores(self, query: str) -> Scores:
        scores = np.zeros(len(self._corpus), dtype=np.float32)
        fields = {field: seen(query) for field, seen in _FIELDS.items()}
        for found in await asyncio.gather(*(self._match(field, text) for field, text in fields.items())):
            if found is not None:
                places = np.searchsorted(self._corpus.lance_rows, found["_rowid"].to_numpy())
                scores[self._corpus.lance_order[places]] += found["_score"].to_numpy()
        return scores

    async def _query_terms(self, query: str) -> list[QueryTerm]:
        words = list(dict.fromkeys(_WORD.findall(search_words(query))))
        found: dict[str, tuple[str, str, str]] = {}
        for word, terms in zip(words, await self._cut(words, _WORDS), strict=True):
            for term in terms:
                found.setdefault(term, (word, _WORDS, word))
        for gram, run in content_grams(query).items():
            found.setdefault(gram, (run, _GRAMS, gram))
        some = list(found.items())[:MOST_TERMS]
        counts = await asyncio.gather(*(self._frequency(term, field, asked) for term, (_, field, asked) in some))
        return [QueryTerm(term, word, count) for (term, (word, _, _)), count in zip(some, counts, strict=True)]

    async def _frequency(self, term: str, field: str, asked: str) -> int:
        """Searched by the word, since a stem need not be its own stem; remembered by the term."""
        known = self._frequencies.get(term)
        if known is None:
            found = await self._match(field, asked)
            known = 0 if found is None else int(found.num_rows)
            if len(self._frequencies) >= _REMEMBERED:
                self._frequencies.clear()
            self._frequencies[term] = known
        return known

    async def _cut(self, texts: Sequence[str], field: str) -> list[list[str]]:
        """The terms of each text in a field, cut in one call."""
        joined = await self._tokens(f" {_BREAK} ".join(texts), field)
        if joined.count(_BREAK) != max(len(texts) - 1, 0):
            return [await self._tokens(text, field) for text in texts]
        split: list[list[str]] = [[] for _ in texts]
        place = 0
        for token in joined:
            if token == _BREAK:
                place += 1
            else:
                split[place].append(token)
        return split

    async def _tokens(self, text: str, field: str) -> list[str]:
        if self._table is None or not text.strip():
            return []
        return [token.text for token in await self._table.tokenize(text, column=field)]

    async def _match(self, field: str, query: str) -> Any | None:
        """Row ids and scores of the chunks that match in a field; None where there is nothing to ask."""
        if self._table is None or not query.strip():
            return None
        from lancedb.query import MatchQuery

        match: Any = MatchQuery  # its optional fields look required to type checkers
        search = self._table.query().nearest_to_text(match(query, field)).with_row_id()
        return await search.select(["_score"]).limit(len(self._corpus)).to_arrow()


def _pieces(query: str) -> Pieces:
    return {field: pieces_of(seen(query)) for field, seen in _FIELDS.items()}


def _sum(held: Mapping[str, Postings], pieces: Pieces, terms: Mapping[str, Mapping[str, Sequence[str]]]) -> Scores:
    """Scores over both fields, added in the order in which Lance's are."""
    first, second = (held[field].scores(pieces[field], terms.get(field, {})) for field in _FIELDS)
    return first + second
