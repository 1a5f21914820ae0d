"""The two rankers: exact cosine similarity over the corpus's vectors, and BM25 over its full text."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import regex
from numpy.typing import NDArray

from monjyu_core.search_files.search_file import GRAMS, WORDS, SearchFile
from monjyu_core.text.language import without_function_words
from monjyu_core.text.search_text import content_grams, gram_terms, search_grams, search_words, word_terms
from monjyu_core.text.unicode_words import expanded, folded, word_spans, words
from monjyu_query.ranking.bm25 import FullTextField, Spelling
from monjyu_query.ranking.corpus import Corpus
from monjyu_query.ranking.fusion import Scores

T = TypeVar("T")

_BORDERS = regex.compile(r"\p{N}+|[^\p{N}]+")
_EXPANDED = regex.compile(r"(?<=[aou])e|(?<=a)a")
"""The second letter of those that stand for ä, ö, ü or å."""
_JOINTS = frozenset(" -\u2010\u2011\u2012\u2013")
"""What may stand between two words that others write as one."""
_LEAST_FIRST, _LEAST_SECOND, _LONGEST_JOINED = 3, 4, 30
"""Letters of the parts of a word that is divided, and of the word: "anyone" is not "any one"."""

MOST_TERMS = 48
"""Further distinct terms of a question do not count as evidence."""


def vector_scores(corpus: Corpus, query: NDArray[np.float32]) -> Scores:
    """Cosine similarity (n,) of every chunk with a query vector (d,) of length 1."""
    return corpus.vectors.similarities(query)


@dataclass(frozen=True)
class QueryTerm:
    """A term as the index has it, the word of the question that became it, and the number of chunks that hold it.

    `also`: how the collection writes the word otherwise, each time the terms that stand for it together.
    """

    term: str
    word: str
    frequency: int
    also: tuple[Spelling, ...] = ()


class KeywordIndex:
    """Full text of a snapshot. Queries are plain words: no operator or quote means anything."""

    def __init__(self, files: Sequence[SearchFile], corpus: Corpus) -> None:
        self._corpus = corpus
        self._texts = sum(len(file.postings[WORDS].lengths) for file in files)
        self._fields = {field: FullTextField([file.postings[field] for file in files]) for field in (WORDS, GRAMS)}

    def scores(self, query: str) -> Future[Scores]:
        """BM25 score (n,) of every chunk; 0 where no word of the query occurs."""
        text = search_words(query)
        [asked] = word_terms([text])
        found = self._fields[WORDS].scores(asked, self._spelt_otherwise(text)) + self._fields[GRAMS].scores(
            search_grams(query).split()
        )
        return _done(found[self._corpus.vectors.stored])

    def query_terms(self, query: str) -> Future[list[QueryTerm]]:
        """The distinct terms of a query in order, at most `MOST_TERMS`, each with the number of chunks that hold it;
        function words of its language are left out."""
        query = without_function_words(query)
        text = search_words(query)
        spelt = list(dict.fromkeys(words(text)))
        found: dict[str, tuple[str, str]] = {}
        for word, terms in zip(spelt, word_terms(spelt), strict=True):
            for term in terms:
                found.setdefault(term, (word, WORDS))
        for gram, run in content_grams(query).items():
            found.setdefault(gram, (run, GRAMS))
        some = list(found.items())[:MOST_TERMS]
        counts: dict[str, int] = {}
        for name, field in self._fields.items():
            asked = [term for term, (_, of) in some if of == name]
            counts |= zip(asked, field.frequencies(asked), strict=True)
        others = self._spelt_otherwise(text)
        return _done([QueryTerm(term, word, counts[term], others.get(term, ())) for term, (word, _) in some])

    def chunks_with(self, ways: Sequence[Spelling]) -> NDArray[np.bool_]:
        """Mask (n,) of the chunks that hold all terms of one of these spellings of a word."""
        found = np.zeros(len(self._corpus), np.bool_)
        for way in ways:
            whole = np.ones(len(self._corpus), np.bool_)
            for term in way:
                whole &= self._holds(term)
            found |= whole
        return found

    def _holds(self, term: str) -> NDArray[np.bool_]:
        held = np.zeros(self._texts, np.bool_)
        for field in self._fields.values():
            held[field.holders([term])[0]] = True
        return held[self._corpus.vectors.stored]

    def _spelt_otherwise(self, text: str) -> dict[str, tuple[Spelling, ...]]:
        """By term of a question's words how the collection writes them otherwise: COVID-19 and COVID19, healthcare and
        health care, Müller and Mueller."""
        known = _Known(self._fields[WORDS])
        spans = list(word_spans(text))[:MOST_TERMS]
        spelt = [text[start:end] for start, end in spans]
        known.look_up([form for word in spelt for form in (word, expanded(word))])
        found: dict[str, list[Spelling]] = {}
        for word in dict.fromkeys(spelt):
            if known.term(word):
                found.setdefault(known.term(word), []).extend(known.others(word))
        pairs = zip(spelt, spelt[1:], spans, spans[1:], strict=False)
        joined = [(one, two) for one, two, left, right in pairs if text[left[1] : right[0]] in _JOINTS]
        known.look_up([one + two for one, two in joined])
        for one, two in joined:
            if known.term(one) and known.term(two) and known.frequency(one + two):
                for word in (one, two):
                    found.setdefault(known.term(word), []).append((known.term(one + two),))
        return {term: tuple(dict.fromkeys(ways)) for term, ways in found.items() if ways}

    def terms(self, texts: Sequence[str]) -> list[list[str]]:
        """Each text's terms as the index has them: stemmed words without stop words, then grams, repeated."""
        found = word_terms([search_words(text) for text in texts])
        return [own + gram_terms(text) for own, text in zip(found, texts, strict=True)]


class _Known:
    """What the full text has of the words of a question: looked up together, as each look-up reads every file."""

    def __init__(self, field: FullTextField) -> None:
        self._field = field
        self._terms: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def look_up(self, spelt: Sequence[str]) -> None:
        new = [word for word in dict.fromkeys(spelt) if word not in self._terms]
        self._terms |= {word: "".join(terms[:1]) for word, terms in zip(new, word_terms(new), strict=True)}
        terms = list(dict.fromkeys(self._terms[word] for word in new if self._terms[word]))
        self._counts |= zip(terms, self._field.frequencies(terms), strict=True)

    def term(self, word: str) -> str:
        """Empty for a stop word."""
        return self._terms[word]

    def frequency(self, word: str) -> int:
        return self._counts.get(self._terms[word], 0)

    def others(self, word: str) -> list[Spelling]:
        """Other spellings of one word: ae for ä always; its parts where they are letters and figures; ä for ae, and any
        two words, only where the collection lacks it."""
        lacking = not self.frequency(word)
        ways = [[expanded(word)], _BORDERS.findall(word)]
        if lacking:
            ways += [[_EXPANDED.sub("", folded(word))], *_halves(word)]
        self.look_up([part for way in ways for part in way])
        ways = [way for way in ways if all(map(self.frequency, way)) and (lacking or len(way[0]) > 1)]
        if lacking and len(ways) > 1:  # of the places where a word may be divided the one whose parts are usual
            ways = [max(ways, key=lambda way: (len(way) == 1, min(map(self.frequency, way))))]
        own = (self.term(word),)
        return [way for way in (tuple(map(self.term, some)) for some in ways) if way != own]


def _halves(word: str) -> list[list[str]]:
    """The ways to divide a word in two; a name (Iceland) is not what its parts are."""
    if word != word.lower() or word[0].isdigit():
        return []
    return [[word[:at], word[at:]] for at in range(_LEAST_FIRST, min(len(word), _LONGEST_JOINED) - _LEAST_SECOND + 1)]


def _done(result: T) -> Future[T]:
    done: Future[T] = Future()
    done.set_result(result)
    return done
