"""The probability that each sentence is evidence for a question, from the reader's scores, the words that they share
with the question and, for the best, the similarity of their vectors.

`training/answers.py` learns the few weights; without the reader the words alone decide.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from monjyu_core.language.packs import cues
from monjyu_core.text.search_text import count_wide
from monjyu_core.text.unicode_words import compact
from monjyu_query.answers.citing import Neighbours, Window
from monjyu_query.answers.selection import Question, is_statement, word_count
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.ranking.open_index import OpenIndex, read_chunks
from monjyu_query.ranking.passage_readings import ENGLISH, MULTILINGUAL, PassageReadings

Array = NDArray[np.float64]
Similarities = Callable[[Sequence[str]], NDArray[np.float32] | None]
"""The cosine (n,) of each text with the question; None if vectors say nothing or would cost money."""

EMBEDDED = 12
"""The number of sentences embedded for a question: 40 to 80 ms. The others are assumed to be as near as the
farthest."""
_USUAL_WORDS = 24
_SHORT_WORDS = 12
_TITLE, _HEADING, _INSTRUCTION, _BROKEN = 0.1, 0.3, 0.1, 0.5
"""Factors on the weight of a paper's own title, of text that is not a sentence, of instructions to readers, and of a
sentence without its beginning."""
_LONG_TITLE = 40
"""Letters of a title with which no sentence of the text begins: authors and their addresses follow it."""
_SMALL = re.compile(r"\W*([a-z]+)\b")
_INSTRUCTS = re.compile(
    cues("sentence_ranking.instructs"),
    re.IGNORECASE,
)
_ASKS_WHERE = re.compile(
    cues("sentence_ranking.asks_where"),
    re.IGNORECASE,
)
_LEAST_CHANCE = 1e-5
_UNREAD = 0.3
"""The probability of evidence outside the passages; without it, the best of only improbable sentences would seem
sure. From .1 to .5 makes no difference for questions that the collection answers."""
_A_NEIGHBOUR = 0.6
"""The gain in log odds that the question is answered, which a further sentence of a window must bring."""


_WIDE, _NONE = "multilingual, of a question in a script without spaces", "without a reader"


@dataclass(frozen=True)
class Weights:
    """Weights of the reader's log odds of a sentence, the logarithm of its passage's probability, the share of words
    (by length) and nearness, with a bias. `least` is the least weight of a further paper's sentence in a table, `broad`
    that of one in the answer to a broad question. `sure` are for the confidence of an answer: weights of the log odds
    of its best sentence and of the best passage, and of the best sentence's share of the probability of all, with a
    bias. An answer is partial from `partly` and complete from `whole` on."""

    sentence: float
    passage: float
    words: float
    nearness: float
    bias: float
    least: float
    broad: float
    sure: tuple[float, float, float, float]
    partly: float
    whole: float

    @property
    def of_signals(self) -> Array:
        return np.array([self.sentence, self.passage, self.words, self.nearness])

    def confidence(self, best: float, answered: float | None, total: float) -> float:
        """The probability (0 to 1) that an answer contains the requested information. `total` is the sum of the
        probabilities of all sentences: a sentence that stands out answers more often than one of many alike."""
        of_best, of_passage, of_share, bias = self.sure
        odds = of_best * log_odds(np.array(best)) + of_share * share_of_all(best, total) + bias
        if answered is not None:
            odds = odds + of_passage * log_odds(np.array(answered))
        return round(float(1 / (1 + np.exp(-odds))), 3)


def share_of_all(best: float, total: float) -> float:
    """The best sentence's share (0 to 1) of the probability of all sentences and of evidence that was not read."""
    return best / (total + _UNREAD)


WEIGHTS = {
    ENGLISH: Weights(0.87, 0.0, 0.505, 0.476, -0.484, 0.04, 0.006, (0.0, 0.149, 13.58, -2.377), 0.09, 0.34),
    MULTILINGUAL: Weights(0.203, 0.546, 2.048, 2.103, -3.104, 0.09, 0.09, (0.64, 0.0, 0.0, 0.5), 0.1, 0.3),
    _WIDE: Weights(0.305, 0.935, 1.367, 1.026, -1.282, 0.1, 0.1, (0.598, 0.292, 0.0, 0.991), 0.15, 0.42),
    _NONE: Weights(0.0, 0.0, 3.223, 2.425, -5.793, 0.06, 0.06, (0.711, 0.0, 0.0, 0.607), 0.1, 0.3),
}
"""By the reader's model (`training/answers.py`). Three of four questions whose paper was removed get no complete
answer; one in fifty of the others gets none. `partly` of the English reader is above the confidence of questions on
other subjects (9 of 10 to five collections: at most .06); a higher value would refuse questions that do not use the
paper's words."""
_USUAL_NEARNESS = 0.5
"""The nearness of a sentence if there are no vectors."""


@dataclass(frozen=True)
class Judged:
    """The probability (n,) that each sentence is evidence. `answered`: the reader's probability that one of the
    passages answers the question; None without a reader."""

    probability: Array
    weights: Weights
    answered: float | None = None


@dataclass(frozen=True)
class Judge:
    """The input for judging sentences: the question's text and terms, and the models. A topic has no `readings`,
    because it asks nothing that a sentence could answer."""

    index: OpenIndex
    query: str
    question: Question
    similarities: Similarities
    readings: PassageReadings | None

    def judged(self, sentences: Sequence[PassageSentence], terms: Sequence[Sequence[str]]) -> Judged:
        """Judge the sentences, best passage first; `terms` are the terms of each."""
        signals, answered = self.signals(sentences, terms)
        weights = self._weights(answered)
        worth = standing(sentences, self.query) / (1 + np.exp(-(signals @ weights.of_signals + weights.bias)))
        return Judged(worth, weights, answered)

    def signals(
        self, sentences: Sequence[PassageSentence], terms: Sequence[Sequence[str]]
    ) -> tuple[Array, float | None]:
        """The inputs (n, 4) of `Weights`, and the reader's probability that the best passage answers."""
        found = np.zeros((len(sentences), 4))
        if not sentences:
            return found, None
        read = self._read(sentences)
        answered = None
        if read is not None:
            found[:, 0] = log_odds(read[0])
            found[:, 1] = np.log(np.maximum(read[1], _LEAST_CHANCE))
            answered = float(read[1].max())
        shares = np.array([self.question.share(set(own)) for own in terms])
        lengths = np.array([word_count(sentence.text) for sentence in sentences]) / _USUAL_WORDS
        found[:, 2] = shares / (0.5 + 0.5 * np.maximum(1.0, lengths))
        best = np.sort(np.argsort(-(found @ self._weights(answered).of_signals), kind="stable")[:EMBEDDED])
        cosines = self.similarities([sentences[row].text for row in best])
        found[:, 3] = _USUAL_NEARNESS
        if cosines is not None:
            low, high = self.index.scale
            near = (cosines.astype(np.float64) - low) / (high - low)
            found[:, 3] = near.min()
            found[best, 3] = near
        return found, answered

    def widened(self, window: Window, neighbours: Neighbours) -> Window:
        """The window with the sentence before it, after it or both, if the reader then finds the question answered
        clearly enough; unchanged without a reader."""
        if self.readings is None:
            return window
        before = neighbours.beside(window.sentences[0], -1)
        after = neighbours.beside(window.sentences[-1], 1)
        options = [window.sentences]
        options += [(before, *window.sentences)] if before else []
        options += [(*window.sentences, after)] if after else []
        options += [(before, *window.sentences, after)] if before and after else []
        title = window.key.passage.paper_title
        read = self.readings.of(self.query, [(title, [one.text for one in option]) for option in options])
        if read is None:
            return window
        odds = [
            float(log_odds(np.array(one.answered))) - _A_NEIGHBOUR * len(option)
            for one, option in zip(read, options, strict=True)
        ]
        return replace(window, sentences=options[int(np.argmax(odds))])

    def _weights(self, answered: float | None) -> Weights:
        if answered is None or self.readings is None:
            return WEIGHTS[_NONE]
        return WEIGHTS[_WIDE if count_wide(self.query) else self.readings.model]

    def _read(self, sentences: Sequence[PassageSentence]) -> tuple[Array, Array] | None:
        """The reader's probability (n,) that each sentence answers, and that its passage does (n,); None without a
        reader.

        Whole passages are read, so that every sentence is seen with its neighbours. A sentence of several passages gets
        its highest probability; those in none, such as acknowledgments, are read together.
        """
        if self.readings is None:
            return None
        chunks = read_chunks(self.index, (sentence.passage.chunk_id for sentence in sentences))
        groups = [(passage.paper_title, own) for passage, own in chunks.values()]
        within = {sentence.sentence_id for _, own in groups for sentence in own}
        beside = tuple(sentence for sentence in sentences if sentence.sentence_id not in within)
        if beside:
            groups.append((beside[0].passage.paper_title, beside))
        made = self.readings.of(self.query, [(title, [one.text for one in own]) for title, own in groups])
        if made is None:
            return None
        best: dict[str, tuple[float, float]] = {}
        for (_, own), reading in zip(groups, made, strict=True):
            for sentence, chance in zip(own, reading.sentence_scores.tolist(), strict=True):
                known = best.get(sentence.sentence_id, (0.0, 0.0))
                best[sentence.sentence_id] = max(chance, known[0]), max(reading.answered, known[1])
        found = np.array([best[sentence.sentence_id] for sentence in sentences])
        return found[:, 0], found[:, 1]


def standing(sentences: Sequence[PassageSentence], query: str = "") -> Array:
    """The factor (n,) on each sentence's weight: less than 1 for the paper's title, text that is not a sentence,
    sentences without their beginning, and instructions to readers that the question does not ask for."""
    asks_where = bool(_ASKS_WHERE.search(query))
    return np.array([_left(sentence, asks_where) for sentence in sentences])


def _left(sentence: PassageSentence, asks_where: bool) -> float:
    if not asks_where and _INSTRUCTS.match(sentence.text):
        return _INSTRUCTION
    title, text = compact(sentence.passage.paper_title), compact(sentence.text)
    if text == title or (len(title) >= _LONG_TITLE and text.startswith(title)):
        return _TITLE
    if word_count(sentence.text) < _SHORT_WORDS and not is_statement(sentence.text):
        return _HEADING
    small = _SMALL.match(sentence.text)
    return _BROKEN if small and small[1] not in sentence.passage.paper_title.casefold() else 1.0


def log_odds(chances: Array) -> Array:
    kept = np.clip(chances, _LEAST_CHANCE, 1 - _LEAST_CHANCE)
    odds: Array = np.log(kept / (1 - kept))
    return odds
