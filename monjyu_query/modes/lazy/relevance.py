"""The relevance tester: one test is one chunk, whose sentences an assessor scores 0 to 10 for a subquery."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from monjyu_core.storage.ids import digest
from monjyu_query.answers.selection import Question, is_prose
from monjyu_query.modes.lazy.community_search import Wanted
from monjyu_query.modes.lazy.judgements import JudgementStore
from monjyu_query.modes.lazy.lazy_state import Candidate, Judgement
from monjyu_query.ranking.fusion import Scores
from monjyu_query.ranking.similarity_scale import nearness
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import load_passages, sentences_by_chunk

VERSION = "2"
"""Version of the extractive assessor: raised when equal inputs get other scores."""
_NEAR_WEIGHT = 0.4
"""How much nearness of meaning adds where words agree."""
_GROWTH = 1.5
"""The first words of a question that a sentence shares say more than the last."""
_SUBQUERY_WEIGHT = 0.6


@dataclass(frozen=True)
class Asked:
    """A question or subquery: its terms with their weights, and its similarity (n,) to all chunks."""

    terms: Question
    similar: Scores

    def near(self, row: int) -> float:
        return float(self.similar[row])


class Assessor(Protocol):
    """Judges chunks: by words and meaning (extractive), or by a language model."""

    def key(self, candidate: Candidate) -> str:
        """Of all that the judgement depends on."""
        ...

    def assess(self, candidates: Sequence[Candidate]) -> list[Judgement]:
        """One judgement for each candidate, in order. Never raises for a chunk that cannot be judged."""
        ...


class ExtractiveAssessor:
    """Scores by weighted overlap with the question's terms and the chunk's stored vector. Embeds nothing.

    `10 * (1 - (1 - share)^1.5 * (1 - 0.4 * near))` where `share` (0-1) is the idf-weighted share of the question's
    terms and `near` (0-1) where the chunk's similarity lies on the model's scale; 0 without a shared term, or for no
    prose.
    A subquery finds passages, but what it asks is a part of the question or beside it: its share counts 0.6, and only
    where that is more. The best counts, whichever subquery led to the chunk, for a chunk is tested but once.
    """

    def __init__(self, index: OpenIndex, own: Asked, subqueries: Sequence[Asked]) -> None:
        self._index = index
        self._asked = [(own, 1.0), *((asked, _SUBQUERY_WEIGHT) for asked in subqueries)]
        terms = (f"{term} {weight:.9g}" for asked, _ in self._asked for term, weight in asked.terms.weights.items())
        self._hash = digest(*terms)

    def key(self, candidate: Candidate) -> str:
        near = (f"{asked.near(candidate.row):.3f}" for asked, _ in self._asked)
        return digest("extractive", VERSION, self._hash, *near, *self._index.scale, text_hash(candidate), length=32)

    def assess(self, candidates: Sequence[Candidate]) -> list[Judgement]:
        terms = iter(self._index.keywords.terms([s.text for c in candidates for s in c.sentences]))
        return [Judgement(tuple(self._score(c, s.text, next(terms)) for s in c.sentences)) for c in candidates]

    def _score(self, candidate: Candidate, text: str, terms: Sequence[str]) -> float:
        if not is_prose(text):
            return 0.0
        own = set(terms)
        scores = (self._relevance(weight * a.terms.share(own), a.near(candidate.row)) for a, weight in self._asked)
        return max(scores)

    def _relevance(self, share: float, similarity: float) -> float:
        near = nearness(round(similarity, 3), self._index.scale)
        return round(10 * (1 - (1 - share) ** _GROWTH * (1 - _NEAR_WEIGHT * near)), 2) if share else 0.0


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
    """A judgement with another number of sentences does not count."""
    if judgement.error or len(judgement.scores) == len(candidate.sentences):
        return judgement
    return replace(judgement, scores=(), error="the judgement has another number of sentences than the chunk")
