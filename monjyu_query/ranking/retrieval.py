"""The two rankers: exact cosine similarity over the corpus's vectors, and BM25 over its full text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from monjyu_core.search_files.search_file import GRAMS, WORDS, SearchFile
from monjyu_core.text.search_text import content_grams, gram_terms, search_grams, search_words
from monjyu_core.text.word_terms import word_terms
from monjyu_query.ranking.bm25 import FullTextField
from monjyu_query.ranking.corpus import Corpus
from monjyu_query.ranking.fusion import Scores

T = TypeVar("T")
_WORD = re.compile(r"[^\W_]+")

MOST_TERMS = 48
"""Further distinct terms of a question do not count as evidence."""


def vector_scores(corpus: Corpus, query: NDArray[np.float32]) -> Scores:
    """Cosine similarity (n,) of every chunk with a query vector (d,) of length 1."""
    return corpus.vectors.similarities(query)


@dataclass(frozen=True)
class QueryTerm:
    """A term as the index has it, the word of the question that became it, and the number of chunks that hold it."""

    term: str
    word: str
    frequency: int


class KeywordIndex:
    """Full text of a snapshot. Queries are plain words: no operator or quote means anything."""

    def __init__(self, files: Sequence[SearchFile], corpus: Corpus) -> None:
        self._corpus = corpus
        self._fields = {field: FullTextField([file.postings[field] for file in files]) for field in (WORDS, GRAMS)}

    def scores(self, query: str) -> Future[Scores]:
        """BM25 score (n,) of every chunk; 0 where no word of the query occurs."""
        [words] = word_terms([search_words(query)])
        found = self._fields[WORDS].scores(words) + self._fields[GRAMS].scores(search_grams(query).split())
        return _done(found[self._corpus.vectors.stored])

    def query_terms(self, query: str) -> Future[list[QueryTerm]]:
        """The distinct terms of a query in order, at most `MOST_TERMS`, each with the number of chunks that hold it."""
        words = list(dict.fromkeys(_WORD.findall(search_words(query))))
        found: dict[str, tuple[str, str]] = {}
        for word, terms in zip(words, word_terms(words), strict=True):
            for term in terms:
                found.setdefault(term, (word, WORDS))
        for gram, run in content_grams(query).items():
            found.setdefault(gram, (run, GRAMS))
        some = list(found.items())[:MOST_TERMS]
        counts: dict[str, int] = {}
        for name, field in self._fields.items():
            asked = [term for term, (_, of) in some if of == name]
            counts |= zip(asked, field.frequencies(asked), strict=True)
        return _done([QueryTerm(term, word, counts[term]) for term, (word, _) in some])

    def terms(self, texts: Sequence[str]) -> list[list[str]]:
        """Each text's terms as the index has them: stemmed words without stop words, then grams, repeated."""
        words = word_terms([search_words(text) for text in texts])
        return [own + gram_terms(text) for own, text in zip(words, texts, strict=True)]


def _done(result: T) -> Future[T]:
    done: Future[T] = Future()
    done.set_result(result)
    return done
