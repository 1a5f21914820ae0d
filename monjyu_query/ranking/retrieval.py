"""The keyword ranker: BM25 over the full text of a snapshot, with other spellings of the question's words."""

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import regex
from numpy.typing import NDArray

from monjyu_core.storage.keyword_file import GRAMS, WORDS, Postings, SearchFile, term_hashes
from monjyu_core.text.language import without_function_words
from monjyu_core.text.search_text import content_grams, gram_terms, search_grams, search_words, word_terms
from monjyu_core.text.unicode_words import expanded, folded, word_spans, words
from monjyu_query.ranking.corpus import Corpus
from monjyu_query.ranking.fusion import Scores

# BM25 over the postings of search files: the same scores as Lance's full-text index, to the last bit.
# Figures of the whole collection (the number of texts with a term, the lengths of texts) are summed as integers when a
# snapshot is opened or asked, so that scores never depend on the order in which the collection was indexed.
_K1, _B = np.float32(1.2), np.float32(0.75)
"""The constants of Lance and of most implementations."""

MOST_KEPT = 8 << 20
"""The number of weighted postings that a field caches for recent terms, 8 bytes each, because common words recur."""

Spelling = tuple[str, ...]
"""Terms that together replace another term."""
Entry = tuple[NDArray[np.int32], Scores]
"""The texts that contain a term, and its scores in them."""


class FullTextField:
    """The full-text index of one field of n texts, in a sequence of files."""

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
        """Scores (n,) of the terms of a question, counting repetitions; a text without any term in this field does not
        count as a document. `also`: terms that together replace a term, if a text lacks it or has it less often."""
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
        """Scores (n,) of a term: for each text the best of the term's score and those of its spellings. A spelling
        counts as often as its rarest part, with the term's rarity or, if no text has the term, with its own."""
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
        """The texts that contain each term."""
        entries = self._weighed(list(dict.fromkeys(terms)))
        return [entries[term][0] for term in terms]

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """The number of texts that contain each term."""
        with self._lock:
            found = {term: len(self._kept[term][0]) for term in terms if term in self._kept}
        new = [term for term in terms if term not in found]
        found |= dict.fromkeys(new, 0)
        for _, places in self._places(new):
            for number, low, high in places:
                found[new[number]] += high - low
        return [found[term] for term in terms]

    def _weighed(self, terms: Sequence[str]) -> dict[str, Entry]:
        """The entries of the terms, cached ones first."""
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
        """For each file, by number: the index of each term that it contains, and the begin and end of its postings."""
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
    """The idf of a term in `holds` of the texts. The logarithm is rounded once from double precision, because NumPy's
    in single precision is off by a bit."""
    half = np.float32(0.5)
    share = (np.float32(documents) - np.float32(holds) + half) / (np.float32(holds) + half) + np.float32(1)
    return np.float32(math.log(float(share)))


_BORDERS = regex.compile(r"\p{N}+|[^\p{N}]+")
_EXPANDED = regex.compile(r"(?<=[aou])e|(?<=a)a")
"""The second letter of digraphs for ä, ö, ü or å."""
_JOINTS = frozenset(" -\u2010\u2011\u2012\u2013")
"""Characters that may be between two words that are also written as one."""
_LEAST_FIRST, _LEAST_SECOND, _LONGEST_JOINED = 3, 4, 30
"""The minimum numbers of letters of the parts of a divided word, and the maximum of the word: "anyone" is not "any
one"."""

MOST_TERMS = 48
"""The maximum number of distinct terms of a question that count as evidence."""


@dataclass(frozen=True)
class QueryTerm:
    """A term as in the index, its word in the question, and the number of chunks with it.

    `also`: other spellings of the word in the collection, each as the terms that together replace it.
    """

    term: str
    word: str
    frequency: int
    also: tuple[Spelling, ...] = ()


class KeywordIndex:
    """The full text of a snapshot. Queries are plain words: operators and quotes have no meaning."""

    def __init__(self, files: Sequence[SearchFile], corpus: Corpus) -> None:
        self._corpus = corpus
        self._texts = sum(len(file.postings[WORDS].lengths) for file in files)
        self._fields = {field: FullTextField([file.postings[field] for file in files]) for field in (WORDS, GRAMS)}

    def scores(self, query: str) -> Scores:
        """BM25 score (n,) of every chunk; 0 if no word of the query occurs."""
        text = search_words(query)
        [asked] = word_terms([text])
        found = self._fields[WORDS].scores(asked, self._spelt_otherwise(text)) + self._fields[GRAMS].scores(
            search_grams(query).split()
        )
        return found[self._corpus.vectors.stored]

    def query_terms(self, query: str) -> list[QueryTerm]:
        """The distinct terms of a query in order, at most `MOST_TERMS`, each with the number of chunks with it, without
        function words of its language."""
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
        return [QueryTerm(term, word, counts[term], others.get(term, ())) for term, (word, _) in some]

    def chunks_with(self, ways: Sequence[Spelling]) -> NDArray[np.bool_]:
        """Mask (n,) of the chunks that contain all terms of one of the spellings `ways`."""
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
        """Other spellings in the collection for the terms of a question's words: COVID-19 and COVID19, healthcare and
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
        """Each text's terms as in the index: stemmed words without stop words, then grams, with repetitions."""
        found = word_terms([search_words(text) for text in texts])
        return [own + gram_terms(text) for own, text in zip(found, texts, strict=True)]


class _Known:
    """The full text's information on a question's words, looked up together: each look-up reads every file."""

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
        """The term of a word; empty for a stop word."""
        return self._terms[word]

    def frequency(self, word: str) -> int:
        return self._counts.get(self._terms[word], 0)

    def others(self, word: str) -> list[Spelling]:
        """Other spellings of one word: ae for ä, and its parts if they are letters and digits; if the collection lacks
        the word, also ä for ae, and any two words into which it can be divided."""
        lacking = not self.frequency(word)
        ways = [[expanded(word)], _BORDERS.findall(word)]
        if lacking:
            ways += [[_EXPANDED.sub("", folded(word))], *_halves(word)]
        self.look_up([part for way in ways for part in way])
        ways = [way for way in ways if all(map(self.frequency, way)) and (lacking or len(way[0]) > 1)]
        if lacking and len(ways) > 1:  # a spelling as one word first, then the division with the most frequent parts
            ways = [max(ways, key=lambda way: (len(way) == 1, min(map(self.frequency, way))))]
        own = (self.term(word),)
        return [way for way in (tuple(map(self.term, some)) for some in ways) if way != own]


def _halves(word: str) -> list[list[str]]:
    """The ways to divide a word in two; none for a name (Iceland), which does not mean its parts."""
    if word != word.lower() or word[0].isdigit():
        return []
    return [[word[:at], word[at:]] for at in range(_LEAST_FIRST, min(len(word), _LONGEST_JOINED) - _LEAST_SECOND + 1)]
