"""Weighs the terms of a question, measures how well passages match them, and chooses the sentences to quote."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from monjyu_core.text.search_text import count_wide
from monjyu_core.text.unicode_words import written_words
from monjyu_query.answers.citing import Neighbours, Window, joined
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.ranking.query_embedding import Scale
from monjyu_query.ranking.retrieval import QueryTerm, Spelling

_HANGING = 2.0
"""The factor on the minimum weight of a further sentence that refers to text that is not quoted with it."""
_ALIKE, _WITHIN = 0.7, 0.85
"""Sentences are duplicates if their terms agree to the first share (Jaccard), or if both have at least `_FEW` terms and
the other has the second share of the shorter one's."""
_FEW = 4
_ENDS = re.compile(r"[.!。！]\W{0,3}(\[\d+\])?\s*$")
_ITEM = re.compile(r"^\s*(?:[•·▪◦*-]|\(?\d{1,2}[.)]\s)")
_ASKS = re.compile(r"[?？]\W{0,2}$|[:：]\s*$")
_LETTERS_SHARE = 0.8
_QUOTED_LETTERS_SHARE = 0.6
"""The minimum share of letters in a quotable sentence. It is low because the best evidence often has figures, brackets
and symbols."""
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_NO_LETTER = re.compile(r"[^\w\s]|[\d_]")
_PLAIN = re.compile(r"[^\w\s]*[^\W\d_]+(?:[-–'’/][^\W\d_]+)*[^\w\s]*")
_PLAIN_SHARE = 0.45
"""The minimum share of a sentence's words that are letters with punctuation around them: of 245 sentences that answer
questions, all have it; code and addresses have not."""
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_WIDE_LETTERS = 8
"""The minimum number of letters in a sentence of a script without spaces."""


@dataclass(frozen=True)
class Question:
    """The terms of a question with their weights, idf as in BM25: `ln(1 + (n - df + 0.5) / (df + 0.5))`."""

    weights: dict[str, float]
    words: dict[str, str]
    also: dict[str, tuple[Spelling, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, terms: Sequence[QueryTerm], chunks: int) -> Question:
        weights = {t.term: math.log(1 + (chunks - t.frequency + 0.5) / (t.frequency + 0.5)) for t in terms}
        return cls(weights, {t.term: t.word for t in terms}, {t.term: t.also for t in terms if t.also})

    def only(self, topic: str) -> Question:
        """The question with the terms of the topic's words only; unchanged if there are none."""
        topic = topic.casefold()
        kept = {term: weight for term, weight in self.weights.items() if self.words[term].casefold() in topic}
        return Question(kept, {term: self.words[term] for term in kept}, self.also) if kept else self

    def read(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """The terms of texts, including terms of the question that a text spells differently."""
        if not self.also:
            return [list(terms) for terms in texts]
        return [[*terms, *self._stated(terms)] for terms in texts]

    def _stated(self, terms: Sequence[str]) -> list[str]:
        own = frozenset(terms)
        lacking = {term: ways for term, ways in self.also.items() if term not in own}
        return [term for term, ways in lacking.items() if any(own.issuperset(w) and _follow(w, terms) for w in ways)]

    def telling(self) -> list[str]:
        """The term with the largest weight of each word, because the other n-grams of a word often occur elsewhere by
        chance."""
        found: dict[str, str] = {}
        for term, weight in self.weights.items():
            known = found.setdefault(self.words[term], term)
            if weight > self.weights[known]:
                found[self.words[term]] = term
        return list(found.values())

    def share(self, terms: Set[str]) -> float:
        """The weighted share (0 to 1) of the question's terms that are in `terms`, summed in the question's order."""
        total = sum(self.weights.values())
        return sum(weight for term, weight in self.weights.items() if term in terms) / total if total else 0.0


def _follow(way: Spelling, terms: Sequence[str]) -> bool:
    """Whether the terms of `way` occur consecutively in `terms`."""
    return any(tuple(terms[at : at + len(way)]) == way for at, term in enumerate(terms) if term == way[0])


@dataclass(frozen=True)
class Evidence:
    """The evidence of the passages: `coverage` is the best passage's weighted share of the question's terms,
    `similarity` the best chunk's cosine with the question (None without vectors), `missing` the words that no passage
    has."""

    coverage: float
    similarity: float | None
    missing: tuple[str, ...]
    scale: Scale = (0.2, 0.7)


def weigh_evidence(
    question: Question, passage_terms: Sequence[Sequence[str]], similarity: float | None, scale: Scale = (0.2, 0.7)
) -> Evidence:
    """The evidence. `passage_terms`: the terms of each passage with its header, best first."""
    sets = [set(terms) for terms in passage_terms]
    coverage = max(map(question.share, sets), default=0.0)
    everywhere = set().union(*sets)
    missing = [question.words[term] for term in question.telling() if term not in everywhere]
    return Evidence(coverage, similarity, tuple(missing), scale)


@dataclass(frozen=True)
class Limits:
    """Limits of an answer: the numbers of sentences, of columns in all of them (`width`) and of sentences from one
    paper (`a_paper`). A further sentence must have a weight of at least `least` plus `share` times the first one's; the
    first sentence of another paper may have the probability `others` instead."""

    sentences: int
    width: int = 900
    a_paper: int = 100
    share: float = 0.4
    least: float = 0.0
    others: float = 1.0


def choose_windows(
    question: Question,
    probability: NDArray[np.float64],
    sentences: Sequence[PassageSentence],
    terms: Sequence[Sequence[str]],
    limits: Limits,
    neighbours: Neighbours,
) -> list[Window]:
    """The sentences that are most probably evidence, best first, with the neighbours that they need.

    The first is chosen by its probability and its share of the question's terms, then further ones that are probable
    enough and have other content, while the answer is short enough. A further sentence that refers to text that is not
    available needs to be twice as probable. Questions are not chosen.
    """
    sets = [frozenset(own) for own in terms]
    papers = [sentence.passage.paper_id for sentence in sentences]
    waiting = [
        row
        for row in np.argsort(-probability, kind="stable").tolist()
        if probability[row] > 0 and not asks(sentences[row].text)
    ]
    chosen: list[int] = []
    windows: list[Window] = []
    width = 0
    of_paper: Counter[str] = Counter()
    while waiting and len(chosen) < limits.sentences:
        least = limits.least + limits.share * probability[chosen[0]] if chosen else 0.0
        worth = [
            probability[row] + least * (probability[row] >= limits.others and not of_paper[papers[row]])
            if chosen
            else probability[row] * (1 + question.share(sets[row]))
            for row in waiting
        ]
        best = int(np.argmax(worth))
        if worth[best] < least:
            break
        row = waiting.pop(best)
        text = sentences[row].text
        if not is_prose(text, _QUOTED_LETTERS_SHARE) or any(_repeats(sets[row], sets[o]) for o in chosen):
            continue
        window = neighbours.grown(sentences[row])
        if chosen and (of_paper[papers[row]] >= limits.a_paper or (window.hangs and worth[best] < _HANGING * least)):
            continue
        if not chosen or width + _width(window.text) <= limits.width:
            of_paper[papers[row]] += 1
            chosen.append(row)
            windows.append(window)
            width += _width(window.text)
    return joined(windows, neighbours)


def _width(text: str) -> int:
    """The width in terminal columns: a letter of a script without spaces takes two."""
    return len(text) + count_wide(text)


def asks(text: str) -> bool:
    """Whether a sentence is a question, or ends with a colon, so that what follows is the statement."""
    return bool(_ASKS.search(text))


def is_statement(text: str) -> bool:
    """Whether a sentence can be evidence by itself: it ends like a sentence, asks nothing and is not a list item."""
    return bool(_ENDS.search(text)) and not _ITEM.match(text)


def is_prose(text: str, letters_share: float = _LETTERS_SHARE) -> bool:
    """Whether a text has at least three words, or eight letters of a script without spaces, and mostly letters, unlike
    code and rows of numbers."""
    letters = len(text) - len(_NO_LETTER.findall(text))
    words = text.split()
    plain = sum(bool(_PLAIN.fullmatch(word)) for word in words)
    enough = len(_LETTERS.findall(text)) >= 3 and plain >= _PLAIN_SHARE * len(words)
    return (enough or count_wide(text) >= _WIDE_LETTERS) and letters >= letters_share * len(text)


def _repeats(one: frozenset[str], other: frozenset[str]) -> bool:
    fewer = min(len(one), len(other))
    return alike(one, other) >= _ALIKE or (fewer >= _FEW and len(one & other) >= _WITHIN * fewer)


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """How far two texts' terms agree (Jaccard, 0 to 1)."""
    union = len(one | other)
    return len(one & other) / union if union else 1.0


def word_count(text: str) -> float:
    """The number of words; in a script without spaces, two characters count as one."""
    return len(written_words(_WIDE.sub(" ", text))) + count_wide(text) / 2


def has_digits(text: str) -> bool:
    return any(letter.isdigit() for letter in text)
