"""Ranks claims, merges duplicates and composes answers from claims. A claim states what relevant chunks say about a
question, with sentences of the source."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from monjyu_core.text.language import message_language
from monjyu_core.text.tokens import count_many, first_within
from monjyu_core.values import Values
from monjyu_query.answers.answer import Answer, abstained
from monjyu_query.answers.citing import Neighbours, cite_windows
from monjyu_query.answers.composition import SHORT, asked_of, compose
from monjyu_query.answers.layout import in_sections, numbered, quoted
from monjyu_query.answers.segments import NARROW, form_of
from monjyu_query.answers.selection import Question, alike
from monjyu_query.asking.passages import Passage, PassageSentence, load_sentences
from monjyu_query.knowledge.themes import papers_by_aspect
from monjyu_query.papers.labels import paper_labels
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.tools import Ask, Tools

SAME = 0.7
"""Claims whose terms agree to this share (Jaccard) are duplicates; `monjyu_query.answers.selection` uses the same
share."""
SAME_MEANING = 0.85
"""Claims in a model's words whose vectors have at least this cosine are duplicates."""
MOST = 2000
"""The maximum number of claims that are compared with each other."""


@dataclass(frozen=True)
class Claim:
    """A statement with the sentences of the source that support it, best first; `score` is 0 to 10; `concepts` are the
    phrases of the noun graph in its first sentence; `confidence` (0 to 1) is the probability that the sentence is a
    claim (level 4) or answers the question (lazy search); `extracted_at` is the time of extraction, ISO 8601 (UTC)."""

    statement: str
    sentences: tuple[PassageSentence, ...]
    score: float
    community: str | None
    engine: str
    concepts: tuple[str, ...] = ()
    confidence: float | None = None
    extracted_at: str = ""

    def as_dict(self) -> Values:
        """The claim in the form of `SearchResult.claims`."""
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
    """The claims without duplicates, best first, with new scores: the mean of the score and ten times the share of the
    question's terms in the statement."""
    terms = [frozenset(some) for some in index.keywords.terms([claim.statement for claim in claims])]
    scored = [
        (round((claim.score + 10 * question.share(some)) / 2, 2), claim, some)
        for claim, some in zip(claims, terms, strict=True)
    ]
    scored.sort(key=lambda item: (-item[0], item[1].sentences[0].sentence_id, item[1].statement))
    return merged([(replace(claim, score=score), some) for score, claim, some in scored[:MOST]])


def merged(claims: Sequence[tuple[Claim, frozenset[str]]]) -> list[Claim]:
    """The claims in order without those that repeat an earlier one, to which their sentences are added. Each claim is
    given with its terms.

    Two sets that agree to a share t have one of their rarest `n - ceil(t n) + 1` terms in common, so only such pairs
    are compared (prefix filtering, Chaudhuri, Ganti and Kaushik 2006).
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
    """The first claim, supported by the sentences of both."""
    known = {sentence.sentence_id for sentence in claim.sentences}
    more = tuple(s for s in other.sentences if s.sentence_id not in known)
    return replace(claim, sentences=claim.sentences + more)


def merged_by_meaning(claims: Sequence[Claim], vectors: NDArray[np.float32]) -> list[Claim]:
    """The claims in order without those whose cosine with an earlier one is at least `SAME_MEANING`, to which their
    sentences are added. `vectors` (n, d), of length 1, are those of the statements."""
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
    """All claims, in parts that each have at most `most` tokens, or a single claim."""
    batches = in_batches(count_many([claim.statement for claim in claims]), most)
    return [[claims[place] for place in batch] for batch in batches]


def in_batches(sizes: Sequence[int], most: int) -> list[list[int]]:
    """Indices in order, in batches whose total size is at most `most`; a larger item is a separate batch."""
    batches: list[list[int]] = []
    total = 0
    for place, size in enumerate(sizes):
        if not batches or total + size > most:
            batches.append([])
            total = 0
        batches[-1].append(place)
        total += size
    return batches


def within_tokens(claims: Sequence[Claim], most: int, at_least: int = 1) -> list[Claim]:
    """The first claims that have at most `most` tokens together, but at least `at_least`."""
    return list(claims[: first_within([claim.statement for claim in claims], most, at_least)])


MOST_PASSAGES = 12
"""The maximum number of chunks from which an answer is composed of claims."""
_USUAL_BUDGET = 50
"""The number of tests for an answer of the usual length."""
_MOST_ROOM, _OF_FACT = 2.0, 1.4
_ROOM_OF_REPORT = 5.0
PAPERS = 6
"""The number of papers in a usual answer about the collection as a whole."""


def room_of(ask: Ask, budget: int) -> float:
    """The factor by which an answer may be longer than usual: the square root of the budget divided by 50 tests, so
    that 100 tests allow 1.4 times and 200 tests twice the length. The maximum is 2, for a question for a fact 1.4.
    Reports have a factor of 5, and answers without a chosen mode or budget 1."""
    request = ask.request
    if request.response_type == "report":
        return _ROOM_OF_REPORT
    if request.open_ended and ask.settings.mode == "auto":
        return 1.0
    narrow = form_of(request.query, ask.routing.query_type) in NARROW
    return min(max(math.sqrt(budget / _USUAL_BUDGET), 1.0), _OF_FACT if narrow else _MOST_ROOM)


def compose_hits(
    tools: Tools, ask: Ask, question: Question, hits: Sequence[Passage], similarity: float, room: float
) -> Answer:
    """The answer from the best passages, up to `room` times as long as usual."""
    sentences = load_sentences(ask.index.snapshot.cursor_of(one.paper_id for one in hits), hits)
    return compose(asked_of(tools, ask, question, room), hits, sentences, similarity)


def overview(ask: Ask, claims: Sequence[Claim], budget: int) -> Answer:
    """The answer to a question about the collection as a whole: the best claim of each paper, one of each community
    before a second of any, under the headings of their themes."""
    room = room_of(ask, budget)
    language = message_language(ask.request.query)
    turns: Counter[str | None] = Counter()
    ranked: dict[str, tuple[int, int, Claim]] = {}
    for place, claim in enumerate(claims):
        paper = claim.sentences[0].passage.paper_id
        if paper not in ranked:
            ranked[paper] = (turns[claim.community], place, claim)
            turns[claim.community] += 1
    most = SHORT if ask.request.response_type == "short" else round(PAPERS * room)
    best = [claim.sentences[0] for _, _, claim in sorted(ranked.values(), key=lambda one: one[:2])][:most]
    cursor = ask.index.snapshot.cursor_of(sentence.passage.paper_id for sentence in best)
    neighbours = Neighbours(load_sentences(cursor, passages_of(best)))
    cited = cite_windows(cursor, [neighbours.grown(sentence) for sentence in best])
    if not cited:
        return abstained("no retrieved sentence is in its source", language)
    quotes = quoted(cited)
    labels = paper_labels(ask.index, list(quotes), language)
    aspects = papers_by_aspect(ask.index, ask.request.query, quotes)
    parts = in_sections("survey", language, cited, labels, aspects)
    segments, _, citations = numbered(parts, [], cited)
    return Answer(segments, "complete", citations, verified=True)


def compose_claims(tools: Tools, ask: Ask, question: Question, claims: Sequence[Claim], similarity: float) -> Answer:
    """The answer from the chunks of the best claims; `question` has its terms, `similarity` is that of the closest
    chunk."""
    claimed = [claim.sentences[0] for claim in claims]
    passages = passages_of(claimed)[:MOST_PASSAGES]
    sentences = load_sentences(ask.index.snapshot.cursor_of(one.paper_id for one in passages), passages)
    return compose(asked_of(tools, ask, question), passages, sentences, similarity)


def passages_of(sentences: Sequence[PassageSentence]) -> list[Passage]:
    """The chunks of the sentences, in their order, without repetitions."""
    return list({sentence.passage.chunk_id: sentence.passage for sentence in sentences}.values())


def claim_passages(claims: Sequence[Claim], *, every: bool = False) -> list[Passage]:
    """The chunks of the claims' first sentences as passages for a model, whose text is the chunk's claims with their
    quotes instead of the whole chunk. With `every`, also those of their other sentences, so that a claim about several
    papers can be checked against all of them."""
    statements: dict[str, list[str]] = {}
    sources = [sentence for claim in claims for sentence in claim.sentences[: None if every else 1]]
    for claim in claims:
        for place, sentence in enumerate(claim.sentences[: None if every else 1]):
            quote = " ".join(sentence.text.split())
            lines = statements.setdefault(sentence.passage.chunk_id, [])
            lines += [quote] if place else [claim.statement, quote]
    return [replace(p, text="\n".join(dict.fromkeys(statements[p.chunk_id]))) for p in passages_of(sources)]
