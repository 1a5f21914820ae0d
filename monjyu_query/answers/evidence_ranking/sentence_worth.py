"""Sentences to probabilities that each is evidence for a question: what the reader gives them, with the words that they
share with the question and, of the best, the nearness of their vectors.

`training/answers.py` learns the few weights; without the reader the words alone decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monjyu_core.text.unicode_words import compact
from monjyu_query.answers.selection import Question, is_statement, word_count
from monjyu_query.ranking.passage_readings import PassageReadings
from monjyu_query.search.chunk_sentences import read_chunks
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import PassageSentence

Array = NDArray[np.float64]
Similarities = Callable[[Sequence[str]], NDArray[np.float32] | None]
"""The cosine (n,) of each text with the question; None where vectors say nothing or would have to be paid."""

EMBEDDED = 12
"""Sentences whose vectors are made for a question: 40 to 80 ms."""
_USUAL_WORDS = 24
_SHORT_WORDS = 12
_TITLE, _HEADING = 0.1, 0.3
"""What is left of the worth of a paper's own title, and of what is no sentence."""
_LEAST_CHANCE = 1e-5


@dataclass(frozen=True)
class Weights:
    """Of log odds by the reader, share of words (by length) and nearness, with a bias; `least` is what a further
    sentence of an answer must be worth: about sixty words are quoted then in the mean."""

    reader: float
    words: float
    nearness: float
    bias: float
    least: float


READ = Weights(0.552, 0.834, 1.352, -1.33, 0.12)
READ_WITHOUT_VECTORS = Weights(0.62, 1.352, 0.0, -0.29, 0.12)
WORDS = Weights(0.0, 4.0, 0.0, -4.0, 0.06)
WORDS_AND_VECTORS = Weights(0.0, 2.5, 3.0, -4.5, 0.06)


@dataclass(frozen=True)
class Judged:
    """Probability (n,) of each sentence that it is evidence, and below which a further one is left out. `answered`: the
    reader's that one of the passages answers the question; None without a reader."""

    probability: Array
    least: float
    answered: float | None = None


@dataclass(frozen=True)
class Judge:
    """What sentences are judged for: the question's text and terms, and the models that have something to say."""

    index: OpenIndex
    query: str
    question: Question
    similarities: Similarities
    readings: PassageReadings

    def judged(self, sentences: Sequence[PassageSentence], terms: Sequence[Sequence[str]]) -> Judged:
        """Sentences best passage first, `terms` those of each. The nearness of those that are not embedded, which read
        and words put behind `EMBEDDED` others, is taken to be the least of these."""
        if not sentences:
            return Judged(np.zeros(0), WORDS.least)
        shares = np.array([self.question.share(set(own)) for own in terms])
        words = shares / (0.5 + 0.5 * np.maximum(1.0, np.array([word_count(s.text) for s in sentences]) / _USUAL_WORDS))
        read = self._read(sentences)
        weights = WORDS if read is None else READ_WITHOUT_VECTORS
        odds = log_odds(np.zeros(len(sentences)) + 0.5) if read is None else log_odds(read[0])
        first = weights.reader * odds + weights.words * words + weights.bias
        best = np.sort(np.argsort(-first, kind="stable")[:EMBEDDED])
        found = self.similarities([sentences[row].text for row in best])
        if found is not None:
            low, high = self.index.scale
            near = (found.astype(np.float64) - low) / (high - low)
            nearness = np.full(len(sentences), near.min())
            nearness[best] = near
            weights = WORDS_AND_VECTORS if read is None else READ
            first = weights.reader * odds + weights.words * words + weights.nearness * nearness + weights.bias
        worth = 1 / (1 + np.exp(-first))
        if read is None:
            worth *= self._by_rank(sentences)
        return Judged(worth * standing(sentences), weights.least, None if read is None else read[1])

    def _read(self, sentences: Sequence[PassageSentence]) -> tuple[Array, float] | None:
        """The reader's chance (n,) of each sentence to answer, and the best passage's; None without a reader.

        Whole passages are read, so that every sentence has its neighbours in view. One of several passages has the best
        of its chances; those in none, as acknowledgments, are read together.
        """
        chunks = read_chunks(self.index, (sentence.passage.chunk_id for sentence in sentences))
        groups = [(passage.paper_title, own) for passage, own in chunks.values()]
        within = {sentence.sentence_id for _, own in groups for sentence in own}
        beside = tuple(sentence for sentence in sentences if sentence.sentence_id not in within)
        if beside:
            groups.append((beside[0].passage.paper_title, beside))
        made = self.readings.of(self.query, [(title, [one.text for one in own]) for title, own in groups])
        if made is None:
            return None
        chances: dict[str, float] = {}
        for (_, own), reading in zip(groups, made, strict=True):
            for sentence, chance in zip(own, reading.sentence_scores.tolist(), strict=True):
                chances[sentence.sentence_id] = max(chance, chances.get(sentence.sentence_id, 0.0))
        answered = max(reading.answered for reading in made)
        return np.array([chances[sentence.sentence_id] for sentence in sentences]), answered

    @staticmethod
    def _by_rank(sentences: Sequence[PassageSentence]) -> Array:
        """What is left (n,) of a sentence's worth by the rank of its passage, where nothing else tells them apart."""
        ranks = {name: rank for rank, name in enumerate(dict.fromkeys(s.passage.chunk_id for s in sentences))}
        return np.array([0.5 + 0.5 / (1 + ranks[s.passage.chunk_id]) for s in sentences])


def standing(sentences: Sequence[PassageSentence]) -> Array:
    """What is left (n,) of each sentence's worth: all of it but for titles and what is no sentence."""
    return np.array([_left(sentence) for sentence in sentences])


def _left(sentence: PassageSentence) -> float:
    if compact(sentence.text) == compact(sentence.passage.paper_title):
        return _TITLE
    return _HEADING if word_count(sentence.text) < _SHORT_WORDS and not is_statement(sentence.text) else 1.0


def log_odds(chances: Array) -> Array:
    kept = np.clip(chances, _LEAST_CHANCE, 1 - _LEAST_CHANCE)
    odds: Array = np.log(kept / (1 - kept))
    return odds
