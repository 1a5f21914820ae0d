"""Claims: what the relevant chunks say on the question, each with a sentence of the source; duplicates are one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monjyu_core.text.tokens import first_within
from monjyu_query.answers.selection import Question, alike
from monjyu_query.asking.passages import PassageSentence
from monjyu_query.ranking.open_index import OpenIndex

SAME = 0.7
"""Claims whose terms agree to this share (Jaccard) are one; `monjyu_query.answers.selection` uses the same."""
SAME_MEANING = 0.85
"""Claims in a model's words whose vectors agree to this cosine are one."""
MOST = 2000
"""Claims that are compared with each other."""


@dataclass(frozen=True)
class Claim:
    """A statement with the sentences of the source that say it, the best first; `score` is 0 to 10; `concepts` are
    the phrases of the noun graph that its first sentence has; `confidence` (0 to 1) is how sure level 4 was that it is
    a claim, or the judge that its sentence answers; `extracted_at` is when, as ISO 8601 (UTC)."""

    statement: str
    sentences: tuple[PassageSentence, ...]
    score: float
    community: str | None
    engine: str
    concepts: tuple[str, ...] = ()
    confidence: float | None = None
    extracted_at: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As in the result."""
        first = self.sentences[0]
        return {
            "statement": self.statement,
            "quote": first.text,
            "paper_id": first.passage.paper_id,
            "chunk_id": first.passage.chunk_id,
            "chunk_ids": list(dict.fromkeys(sentence.passage.chunk_id for sentence in self.sentences)),
            "sentence_ids": [sentence.sentence_id for sentence in self.sentences],
            "community_id": self.community,
            "score": self.score,
            "confidence": self.confidence,
            "extracted_at": self.extracted_at,
            "engine": self.engine,
            "concepts": list(self.concepts),
        }


def rank_claims(index: OpenIndex, question: Question, claims: Sequence[Claim]) -> list[Claim]:
    """Best first, by the mean of the score and ten times the share of the question's own terms; duplicates merged."""
    terms = [frozenset(some) for some in index.keywords.terms([claim.statement for claim in claims])]
    scored = [
        (round((claim.score + 10 * question.share(some)) / 2, 2), claim, some)
        for claim, some in zip(claims, terms, strict=True)
    ]
    scored.sort(key=lambda item: (-item[0], item[1].sentences[0].sentence_id, item[1].statement))
    return merged([(replace(claim, score=score), some) for score, claim, some in scored[:MOST]])


def merged(claims: Sequence[tuple[Claim, frozenset[str]]]) -> list[Claim]:
    """Claims in order with their terms: one that says what an earlier one says gives it its sentences, and goes.

    Two sets that agree to a share t have one of their rarest `n - ceil(t n) + 1` terms in common (prefix filtering,
    Chaudhuri, Ganti and Kaushik 2006): only those that do are compared.
    """
    counts = Counter(term for _, terms in claims for term in terms)
    kept: list[tuple[Claim, frozenset[str]]] = []
    holders: dict[str, list[int]] = {}
    for claim, terms in claims:
        rarest = sorted(terms, key=lambda term: (counts[term], term))
        prefix = rarest[: len(rarest) - math.ceil(SAME * len(rarest)) + 1] or [""]
        near = sorted({place for term in prefix for place in holders.get(term, ())})
        same = next((place for place in near if alike(terms, kept[place][1]) >= SAME), None)
        if same is None:
            for term in prefix:
                holders.setdefault(term, []).append(len(kept))
            kept.append((claim, terms))
        else:
            kept[same] = (joined(kept[same][0], claim), kept[same][1])
    return [claim for claim, _ in kept]


def joined(claim: Claim, other: Claim) -> Claim:
    """The first, resting on the sentences of both."""
    known = {sentence.sentence_id for sentence in claim.sentences}
    more = tuple(s for s in other.sentences if s.sentence_id not in known)
    return replace(claim, sentences=claim.sentences + more)


def merged_by_meaning(claims: Sequence[Claim], vectors: NDArray[np.float32]) -> list[Claim]:
    """Claims in order with the vectors (n, d) of their statements, of length 1: one whose cosine with an earlier one
    is `SAME_MEANING` or more gives it its sentences, and goes."""
    kept: list[int] = []
    found: dict[int, Claim] = {}
    for place, claim in enumerate(claims):
        near = vectors[kept] @ vectors[place] if kept else np.zeros(0)
        if len(near) and near.max() >= SAME_MEANING:
            first = kept[int(near.argmax())]
            found[first] = joined(found[first], claim)
        else:
            kept.append(place)
            found[place] = claim
    return [found[place] for place in kept]


def in_parts(claims: Sequence[Claim], most: int) -> list[list[Claim]]:
    """All claims, in parts of `most` tokens together; of one claim at least."""
    parts: list[list[Claim]] = []
    left = list(claims)
    while left:
        count = first_within([claim.statement for claim in left], most)
        parts.append(left[:count])
        left = left[count:]
    return parts


def within_tokens(claims: Sequence[Claim], most: int) -> list[Claim]:
    """As many of the first claims as have `most` tokens together; the first in any case."""
    return list(claims[: first_within([claim.statement for claim in claims], most)])
