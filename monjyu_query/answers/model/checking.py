"""Generated sentences against the sentences of the passages: first those cited, then all, by words, then by meaning."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np

from monjyu_core.embedding import Embedder
from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.citing import cite
from monjyu_query.answers.model.marked import Marked
from monjyu_query.answers.model.support import find_support, same_facts
from monjyu_query.answers.selection import Question
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage, PassageSentence, load_sentences
from monjyu_query.search.result import Citation

NEAR, NEAR_ACROSS = 0.9, 0.6
"""Where on the model's scale between chance and paraphrase a sentence must lie that shares too few words; across
scripts words cannot be shared. Below the first, a sentence that only takes up the question is as near."""
OF_THE_QUESTION = 0.4
"""What a term counts that the question has too: every passage found has such terms, so they show little."""
MOST_COMPARED = 12
"""Source sentences that are embedded to be compared with one generated sentence."""


class Checker:
    """Finds what supports generated sentences among the sentences of one question's passages."""

    def __init__(self, index: OpenIndex, passages: Sequence[Passage], question: Question, embedder: Embedder) -> None:
        self._index = index
        self._embedder = embedder
        self._weights = dict.fromkeys(question.weights, OF_THE_QUESTION)
        self._sentences = load_sentences(self._cursor(), passages)
        self._terms = [frozenset(terms) for terms in index.keywords.terms([s.text for s in self._sentences])]

    def citations(self, sentence: Marked, passages: Sequence[Passage]) -> list[Citation]:
        """Citations of the source sentences that say it, looked up in their papers; none where nothing says it."""
        named = {passages[n - 1].chunk_id for n in sentence.sources if 0 < n <= len(passages)}
        cited = [place for place, s in enumerate(self._sentences) if s.passage.chunk_id in named]
        [terms] = self._index.keywords.terms([sentence.text])
        for places in (cited, list(range(len(self._sentences)))):
            found = self._by_words(sentence, terms, places)
            if found:
                return cite(self._cursor(), found)
        near = self._by_meaning(sentence, cited)
        return cite(self._cursor(), near)

    def _by_words(self, sentence: Marked, terms: Sequence[str], places: Sequence[int]) -> list[PassageSentence]:
        texts = [self._sentences[place].text for place in places]
        sources = [self._terms[place] for place in places]
        support = find_support(sentence.text, terms, sources, texts, self._weights)
        return [self._sentences[places[place]] for place in support.places] if support.enough else []

    def _by_meaning(self, sentence: Marked, places: Sequence[int]) -> list[PassageSentence]:
        """The nearest of the cited sentences, for paraphrases and for answers in another language than the source."""
        compared = [self._sentences[place] for place in places[:MOST_COMPARED]]
        if not compared:
            return []
        vectors = self._embedder.embed_passages([sentence.text, *(s.text for s in compared)])
        similar = vectors[1:] @ vectors[0]
        best = int(np.argmax(similar))
        low, high = self._index.scale
        across = bool(count_wide(sentence.text)) != bool(count_wide(compared[best].text))
        near = (float(similar[best]) - low) / (high - low) >= (NEAR_ACROSS if across else NEAR)
        return [compared[best]] if near and same_facts(sentence.text, compared[best].text) else []

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        return self._index.snapshot.cursor()
