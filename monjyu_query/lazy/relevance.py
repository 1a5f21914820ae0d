"""The relevance tester: one test is one chunk, whose sentences an assessor scores 0 to 10 for a subquery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from monjyu_core.ids import digest
from monjyu_query.answer import Question, is_prose
from monjyu_query.fusion import Scores
from monjyu_query.lazy.judgements import JudgementStore
from monjyu_query.lazy.searching import Wanted
from monjyu_query.lazy.state import Candidate, Judgement
from monjyu_query.open_index import OpenIndex
from monjyu_query.passages import load_passages, sentences_by_chunk

VERSION = "1"
"""Of the extractive assessor: raised when equal inputs get other scores."""
_NEAR_WEIGHT = 0.4
"""What nearness of meaning adds where words agree."""


class Assessor(Protocol):
    """Judges chunks: extractive, by a cross-encoder, or by a language model."""

    def key(self, candidate: Candidate) -> str:
        """Of all that the judgement depends on."""
        ...

    def assess(self, candidates: Sequence[Candidate]) -> list[Judgement]:
        """One judgement for each candidate, in order. Never raises for a chunk that cannot be judged."""
        ...


class ExtractiveAssessor:
    """Scores by weighted overlap with the subquery's terms and the chunk's stored vector. Embeds nothing.

    `10 * (1 - (1 - share) * (1 - 0.4 * near))` where `share` (0-1) is the idf-weighted share of the subquery's terms
    and `near` (0-1) where the chunk's similarity lies on the model's scale; 0 without a shared term, or for no prose.
    The best over all subqueries counts: it costs nothing, and a chunk is tested but once.
    """

    def __init__(self, index: OpenIndex, questions: Sequence[Question], similar: Sequence[Scores]) -> None:
        """`questions`: the terms of each subquery with their weights; `similar`: its similarity (n,) to all chunks."""
        self._index = index
        self._similar = similar
        self._questions = questions
        self._hashes = [digest(*(f"{term} {weight:.9g}" for term, weight in q.weights.items())) for q in questions]

    def key(self, candidate: Candidate) -> str:
        near = (f"{similarity:.3f}" for similarity in self._similarities(candidate))
        parts = (*self._hashes, *near, *self._index.scale)
        return digest("extractive", VERSION, *parts, text_hash(candidate), length=32)

    def assess(self, candidates: Sequence[Candidate]) -> list[Judgement]:
        terms = iter(self._index.keywords.terms([s.text for c in candidates for s in c.sentences]))
        return [Judgement(tuple(self._score(c, s.text, next(terms)) for s in c.sentences)) for c in candidates]

    def _score(self, candidate: Candidate, text: str, terms: Sequence[str]) -> float:
        if not is_prose(text):
            return 0.0
        own = set(terms)
        pairs = zip(self._questions, self._similarities(candidate), strict=True)
        return max(self._worth(question.share(own), similarity) for question, similarity in pairs)

    def _worth(self, share: float, similarity: float) -> float:
        low, high = self._index.scale
        near = min(1.0, max(0.0, (round(similarity, 3) - low) / (high - low)))
        return round(10 * (1 - (1 - share) * (1 - _NEAR_WEIGHT * near)), 2) if share else 0.0

    def _similarities(self, candidate: Candidate) -> list[float]:
        return [float(similar[candidate.row]) for similar in self._similar]


def text_hash(candidate: Candidate) -> str:
    """Of what an assessor reads of a chunk, wherever it stands."""
    return digest(candidate.passage.header, *(sentence.text for sentence in candidate.sentences), length=32)


class RelevanceTester:
    """Reads the chunks of a round, takes known judgements from the store, has the others made and keeps them."""

    def __init__(self, index: OpenIndex, assessor: Assessor, similar: Sequence[Scores], store: JudgementStore) -> None:
        """`similar`: for each subquery the similarity (n,) of all chunks."""
        self._index = index
        self._assessor = assessor
        self._similar = similar
        self._store = store

    def test(self, wanted: Wanted) -> list[tuple[Candidate, Judgement]]:
        candidates = self._candidates(wanted)
        keys = [self._assessor.key(candidate) for candidate in candidates]
        known = self._store.get_many(list(dict.fromkeys(keys)))
        found: dict[int, Judgement] = {}
        for place, (key, candidate) in enumerate(zip(keys, candidates, strict=True)):
            scores = known.get(key)
            if scores is not None and len(scores) == len(candidate.sentences):
                found[place] = Judgement(scores, cached=True)
        missing = [place for place in range(len(candidates)) if place not in found]
        made = self._assessor.assess([candidates[place] for place in missing]) if missing else []
        fresh = {}
        for place, judgement in zip(missing, made, strict=True):
            found[place] = _checked(candidates[place], judgement)
            if not found[place].error:
                fresh[keys[place]] = found[place].scores
        if fresh:
            self._store.put_many(fresh)
        return [(candidate, found[place]) for place, candidate in enumerate(candidates)]

    def _candidates(self, wanted: Wanted) -> list[Candidate]:
        cursor = self._index.snapshot.cursor()
        names = [self._index.corpus.chunk_ids[row] for _, row, _ in wanted]
        passages = load_passages(cursor, names, [0.0] * len(names))
        sentences = sentences_by_chunk(cursor, passages)
        return [
            Candidate(row, n, passage, tuple(sentences[passage.chunk_id]), float(self._similar[n][row]), community)
            for (n, row, community), passage in zip(wanted, passages, strict=True)
        ]


def _checked(candidate: Candidate, judgement: Judgement) -> Judgement:
    """A judgement of another number of sentences is none."""
    if judgement.error or len(judgement.scores) == len(candidate.sentences):
        return judgement
    return replace(judgement, scores=(), error="the judgement has another number of sentences than the chunk")
