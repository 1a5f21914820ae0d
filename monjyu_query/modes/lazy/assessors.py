"""Assessors that ask no model (the packaged evidence ranker, the plain overlap of words), and the gate before one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monjyu_core.storage.ids import digest
from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.evidence_ranking.evidence_ranker import evidence_model
from monjyu_query.answers.evidence_ranking.sentence_features import Matrix, Standing, standing_of, word_features
from monjyu_query.answers.selection import Question, is_prose, is_statement
from monjyu_query.answers.topic import asks_of_all
from monjyu_query.digests.aspects import says_purpose
from monjyu_query.modes.lazy.lazy_state import Candidate, Judgement
from monjyu_query.modes.lazy.relevance import Assessor, Gate, read_chunks, text_hash
from monjyu_query.ranking.fusion import Scores
from monjyu_query.ranking.similarity_scale import nearness
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.tools import Ask

VERSION = "2"
"""Version of the extractive assessor: raised when equal inputs get other scores."""
_NEAR_WEIGHT = 0.4
"""How much nearness of meaning adds where words agree."""
_GROWTH = 1.5
"""The first words of a question that a sentence shares say more than the last."""
_SUBQUERY_WEIGHT = 0.6
_EVEN_ODDS = 10.0
"""Score of a sentence that is as probably evidence as not; a hundredth of the odds scores 4.6 less."""
_BEST = 12
"""Passages among which a sentence's overlap and its paper's share are looked up."""
_OF_SUBQUERY = 1.0
"""What a sentence that answers a subquery must be better by: the question itself counts more."""


@dataclass(frozen=True)
class Asked:
    """A question or subquery: its terms with their weights, its similarity (n,) to all chunks, and the scores (n,) that
    order them. `own`: it asks for something, and is not only a way to find passages."""

    text: str
    terms: Question
    similar: Scores
    ordered: Scores
    own: bool = True

    def near(self, row: int) -> float:
        return float(self.similar[row])


class RankerAssessor:
    """Scores `10 + ln(p / (1 - p))`, cut to 0 to 10, where `p` is the packaged ranker's probability by words that the
    sentence is evidence: 5 is a chance in 150, which eight of ten gold sentences reach. No prose is 0.

    A chunk that a part of the question found is judged for that part too, and the better counts. Milliseconds a
    hundred chunks, so nothing is kept.
    """

    together = False
    kept = False

    def __init__(self, index: OpenIndex, asked: Sequence[Asked]) -> None:
        """`asked`: the subqueries, the question first."""
        self._index = index
        self._asked = asked
        self._model = evidence_model("wide" if count_wide(asked[0].text) else "spaced").words
        self._standings: dict[int, Standing] = {}

    def key(self, candidate: Candidate) -> str:
        return candidate.passage.chunk_id

    def assess(self, batches: Sequence[Sequence[Candidate]]) -> list[list[Judgement]]:
        candidates = [candidate for batch in batches for candidate in batch]
        terms = iter(self._index.keywords.terms([s.text for c in candidates for s in c.sentences]))
        read = [[next(terms) for _ in c.sentences] for c in candidates]
        scores = self._scores(0, candidates, read)
        for n in sorted({c.subquery for c in candidates if c.subquery and self._asked[c.subquery].own}):
            places = [place for place, c in enumerate(candidates) if c.subquery == n]
            more = self._scores(n, [candidates[place] for place in places], [read[place] for place in places])
            for place, found in zip(places, more, strict=True):
                scores[place] = np.maximum(scores[place], found - _OF_SUBQUERY)
        made = iter(Judgement(tuple(np.round(found, 2).tolist())) for found in scores)
        return [[next(made) for _ in batch] for batch in batches]

    def _scores(
        self, n: int, candidates: Sequence[Candidate], terms: Sequence[Sequence[Sequence[str]]]
    ) -> list[Matrix]:
        """Of the sentences of each candidate for subquery `n`."""
        sentences = [sentence for candidate in candidates for sentence in candidate.sentences]
        flat = [some for own in terms for some in own]
        asked = self._asked[n]
        features = word_features(asked.text, asked.terms, sentences, asked.terms.read(flat), self._standing(n))
        chance = np.clip(self._model(features), 1e-9, 1 - 1e-9)
        scores = np.clip(_EVEN_ODDS + np.log(chance / (1 - chance)), 0.0, 10.0)
        scores *= np.array([is_prose(sentence.text) for sentence in sentences], dtype=np.float64)
        ends = np.cumsum([len(candidate.sentences) for candidate in candidates])
        return np.split(scores, ends[:-1])

    def _standing(self, n: int) -> Standing:
        """Of the subquery's best passages: what a chunk is judged against."""
        if n not in self._standings:
            asked = self._asked[n]
            order = np.argsort(-asked.ordered, kind="stable")
            ids = self._index.corpus.chunk_ids
            best = [ids[row] for row in order[:_BEST] if asked.ordered[row] > -np.inf]
            found = read_chunks(self._index, best)
            sentences = [sentence for name in best for sentence in found[name][1]]
            terms = asked.terms.read(self._index.keywords.terms([sentence.text for sentence in sentences]))
            ranks = {name: rank for rank, name in enumerate(ids.at(order))}
            self._standings[n] = standing_of(asked.terms, ranks, sentences, terms)
        return self._standings[n]


class OverviewAssessor:
    """For a question about the collection as a whole, of which no word is evidence: sentences that say what a paper is
    for are relevant (8; 9 in an abstract), other statements of abstracts are as well (6), the rest is not (2)."""

    together = False
    kept = False

    def key(self, candidate: Candidate) -> str:
        return candidate.passage.chunk_id

    def assess(self, batches: Sequence[Sequence[Candidate]]) -> list[list[Judgement]]:
        return [[Judgement(tuple(self._score(c, s.text) for s in c.sentences)) for c in batch] for batch in batches]

    def _score(self, candidate: Candidate, text: str) -> float:
        if not is_prose(text) or not is_statement(text):
            return 0.0
        abstract = candidate.passage.section_type == "abstract"
        if says_purpose(text):
            return 9.0 if abstract else 8.0
        return 6.0 if abstract else 2.0


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

    together = False
    kept = True

    def assess(self, batches: Sequence[Sequence[Candidate]]) -> list[list[Judgement]]:
        terms = iter(self._index.keywords.terms([s.text for batch in batches for c in batch for s in c.sentences]))
        return [
            [Judgement(tuple(self._score(c, s.text, next(terms)) for s in c.sentences)) for c in batch]
            for batch in batches
        ]

    def _score(self, candidate: Candidate, text: str, terms: Sequence[str]) -> float:
        if not is_prose(text):
            return 0.0
        own = set(terms)
        scores = (self._relevance(weight * a.terms.share(own), a.near(candidate.row)) for a, weight in self._asked)
        return max(scores)

    def _relevance(self, share: float, similarity: float) -> float:
        near = nearness(round(similarity, 3), self._index.scale)
        return round(10 * (1 - (1 - share) ** _GROWTH * (1 - _NEAR_WEIGHT * near)), 2) if share else 0.0


def gate_of(ask: Ask, asking: list[Asked], assessor: Assessor) -> Gate | None:
    """Before a model the packaged ranker: what neither opens the search nor has a sentence that it gives
    `worth_reading` is not sent. None where that is 0, or no model is asked."""
    least = ask.settings.lazy.worth_reading
    if not (assessor.together and least) or asks_of_all(ask.request.query):
        return None
    ranker = RankerAssessor(ask.index, asking)
    first = np.argsort(-asking[0].ordered, kind="stable")[: ask.settings.lazy.opening]
    opening = set(first.tolist())

    def passes(candidates: Sequence[Candidate]) -> list[bool]:
        judged = ranker.assess([candidates])[0]
        return [c.row in opening or j.best >= least for c, j in zip(candidates, judged, strict=True)]

    return passes
