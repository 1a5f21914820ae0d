"""A question and the sentences of its best passages as numbers, of which the evidence ranker makes probabilities.

Every feature is a share, a flag, a rank or a similarity between chance and paraphrase: none depends on the size of the
collection or on the scale of a mode's scores. Where a sentence stands in its paper is left out on purpose: it tells
much in one collection (conclusions of abstracts) and misleads in another.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from monjyu_core.text.search_text import count_wide
from monjyu_core.text.unicode_words import written_words
from monjyu_query.answers.evidence_ranking.answer_types import TYPES, asked_types, has_digits, shows
from monjyu_query.answers.selection import Question, asks, is_statement
from monjyu_query.ranking.similarity_scale import Scale
from monjyu_query.search.passages import PassageSentence

Matrix = NDArray[np.float64]

WORD_FEATURES = (
    "overlap",  # weighted share of the question's terms that the sentence has
    "overlap_before",  # of the sentence before it, and after it
    "overlap_after",
    "overlap_around",  # of the three together
    "overlap_by_length",
    "rare",  # it has one of the question's rarest terms
    "pairs",  # share of the question's neighbouring terms that are neighbours here
    "overlap_rank",  # 1 / rank among the sentences
    "passage_rank",  # 1 / rank of its passage
    "paper_share",  # of its paper in the passages, weighted by their ranks
    "statement",
    "question",
    "hanging",  # it begins with a word that points outside
    *(f"shows_{name}" for name in TYPES),
    "digits_for_number",
    "log_words",
    "short",
    "long",
)
VECTOR_FEATURES = ("similarity", "similarity_below_best", "similarity_rank")

_USUAL_WORDS = 24
_SHORT, _LONG = 6, 45
_HANGING = re.compile(
    r"^\W*(?:this|these|that|those|it|they|he|she|its|their|however|moreover|furthermore|thus|therefore|such|also|hence"
    r"|in addition|as a result|for example)\b|^\W*(?:それ|これ|この|その|また|しかし|そのため)",
    re.IGNORECASE,
)
_NEARLY_RAREST = 0.8


def word_count(text: str) -> float:
    """Words; of a script without spaces two characters count as one."""
    wide = count_wide(text)
    return len(written_words(re.sub(r"[\u3040-\u30ff\u3400-\u9fff]", " ", text))) + wide / 2


def is_hanging(text: str) -> bool:
    """Whether a sentence begins with a word that points at what stands before it."""
    return bool(_HANGING.match(text))


@dataclass(frozen=True)
class Standing:
    """Where passages and sentences stand among the best of a question, so that each can be judged by itself, whatever
    is judged beside it: the rank (from 0) of each chunk, the share of each paper, and the overlaps by length of the
    best passages' sentences, ascending."""

    ranks: Mapping[str, int]
    papers: Mapping[str, float]
    overlaps: Matrix

    def places(self, sentences: Sequence[PassageSentence]) -> tuple[Matrix, Matrix]:
        """As `_places`."""
        ranks = np.array([1 / (1 + self.ranks[s.passage.chunk_id]) for s in sentences])
        return ranks, np.array([self.papers.get(s.passage.paper_id, 0.0) for s in sentences])

    def inverse_rank(self, overlaps: Matrix) -> Matrix:
        """Of each sentence among those of the best passages; of equals the first."""
        better = len(self.overlaps) - np.searchsorted(self.overlaps, overlaps, side="right")
        inverse: Matrix = 1 / (1.0 + better)
        return inverse


def standing_of(
    question: Question, ranks: Mapping[str, int], sentences: Sequence[PassageSentence], terms: Sequence[Sequence[str]]
) -> Standing:
    """From the sentences of the best passages, best first, with the terms of each."""
    _, shares = _places(sentences)
    papers = {s.passage.paper_id: float(share) for s, share in zip(sentences, shares, strict=True)}
    overlap = np.array([question.share(set(own)) for own in terms])
    words = np.array([word_count(sentence.text) for sentence in sentences])
    return Standing(ranks, papers, np.sort(_by_length(overlap, words)))


def word_features(
    query: str,
    question: Question,
    sentences: Sequence[PassageSentence],
    terms: Sequence[Sequence[str]],
    standing: Standing | None = None,
) -> Matrix:
    """Features (n, len(WORD_FEATURES)) of the sentences, best passage first; `terms` are each one's, in order. With a
    `standing` a passage's features depend on no other's."""
    if not sentences:
        return np.zeros((0, len(WORD_FEATURES)))
    sets = [set(own) for own in terms]
    overlap = np.array([question.share(own) for own in sets])
    before, after, around = _neighbours(question, sentences, sets, overlap, alone=standing is not None)
    words = np.array([word_count(sentence.text) for sentence in sentences])
    by_length = _by_length(overlap, words)
    rank, paper_share = _places(sentences) if standing is None else standing.places(sentences)
    columns = [overlap, before, after, around, by_length, _rare(question, sets), _pairs(question, terms)]
    columns += [_inverse_rank(by_length) if standing is None else standing.inverse_rank(by_length), rank, paper_share]
    texts = [sentence.text for sentence in sentences]
    columns += [_flags(map(is_statement, texts)), _flags(map(asks, texts))]
    columns.append(_flags(map(is_hanging, texts)))
    asked = asked_types(query)
    columns += [_flags(name in asked and shows(name, text) for text in texts) for name in TYPES]
    columns.append(_flags("number" in asked and has_digits(text) for text in texts))
    columns += [np.log1p(words), (words < _SHORT).astype(float), (words > _LONG).astype(float)]
    return np.column_stack(columns)


def vector_features(similarity: NDArray[np.float32], scale: Scale) -> Matrix:
    """Features (n, 3) from each sentence's cosine with the question, between chance and paraphrase on the scale."""
    low, high = scale
    near = (similarity.astype(np.float64) - low) / (high - low)
    return np.column_stack([near, near - near.max(initial=-math.inf), _inverse_rank(near)])


def _neighbours(
    question: Question,
    sentences: Sequence[PassageSentence],
    sets: Sequence[set[str]],
    overlap: Matrix,
    *,
    alone: bool,
) -> tuple[Matrix, Matrix, Matrix]:
    """`alone`: those of the same passage only."""
    held_by = [s.passage.chunk_id if alone else s.passage.paper_id for s in sentences]
    at = {(held, s.section_ord, s.place): row for row, (held, s) in enumerate(zip(held_by, sentences, strict=True))}
    before, after, around = np.zeros(len(sets)), np.zeros(len(sets)), overlap.copy()
    for row, s in enumerate(sentences):
        near = [at.get((held_by[row], s.section_ord, s.place + step)) for step in (-1, 1)]
        for column, other in zip((before, after), near, strict=True):
            column[row] = 0.0 if other is None else overlap[other]
        if before[row] or after[row]:
            around[row] = question.share(sets[row].union(*(sets[other] for other in near if other is not None)))
    return before, after, around


def _rare(question: Question, sets: Sequence[set[str]]) -> Matrix:
    rarest = max(question.weights.values(), default=0.0)
    rare = {term for term, weight in question.weights.items() if weight >= _NEARLY_RAREST * rarest}
    return _flags(not rare.isdisjoint(own) for own in sets)


def _pairs(question: Question, terms: Sequence[Sequence[str]]) -> Matrix:
    order = list(question.weights)
    wanted = set(pairwise(order))
    found = [len(wanted.intersection(pairwise(own))) for own in terms]
    return np.array(found, dtype=np.float64) / max(len(wanted), 1)


def _places(sentences: Sequence[PassageSentence]) -> tuple[Matrix, Matrix]:
    """Of each sentence the inverse rank of its passage, and its paper's share of all passages' inverse ranks."""
    passages = {s.passage.chunk_id: s.passage.paper_id for s in sentences}
    inverse = {chunk: 1 / (1 + rank) for rank, chunk in enumerate(passages)}
    papers = dict.fromkeys(passages.values(), 0.0)
    for chunk, paper in passages.items():
        papers[paper] += inverse[chunk]
    total = sum(inverse.values())
    ranks = np.array([inverse[s.passage.chunk_id] for s in sentences])
    return ranks, np.array([papers[s.passage.paper_id] / total for s in sentences])


def _by_length(overlap: Matrix, words: Matrix) -> Matrix:
    shares: Matrix = overlap / (0.5 + 0.5 * np.maximum(1.0, words / _USUAL_WORDS))
    return shares


def _inverse_rank(values: Matrix) -> Matrix:
    ranks = np.empty(len(values))
    ranks[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    inverse: Matrix = 1 / ranks
    return inverse


def _flags(values: object) -> Matrix:
    return np.fromiter(values, dtype=np.float64)  # type: ignore[call-overload,no-any-return]
