"""The answer to the expanded query from the claims: composed of their sentences, or abstained where they are thin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monjyu_core.settings.settings import AnswerSettings
from monjyu_query.answers.answering import Answer, abstained, for_type, quoted
from monjyu_query.answers.citing import cite
from monjyu_query.answers.selection import Question, choose_sentences, weigh_evidence
from monjyu_query.modes.lazy.lazy_claims import Claim
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage, PassageSentence
from monjyu_query.search.request import ResponseType

MOST_PASSAGES = 12
ADDED_WEIGHT = 0.2
"""Weight of a term that expansion added; a term of the question has 1."""


def weighted_question(index: OpenIndex, query: str, own: Question) -> Question:
    """The terms of an expanded query; those that the question `own` lacks weigh less."""
    full = Question.of(index.keywords.query_terms(query).result(), len(index.corpus))
    weights = {t: w if t in own.weights else ADDED_WEIGHT * w for t, w in full.weights.items()}
    return Question(weights, full.words)


def compose(
    index: OpenIndex,
    question: Question,
    expanded: Question,
    claims: Sequence[Claim],
    similarity: float,
    settings: AnswerSettings,
    response_type: ResponseType | None = None,
) -> Answer:
    """Sentences of the claims, cited. Evidence is weighed by the question's own terms and the closest chunk."""
    sentences = [claim.sentences[0] for claim in claims]
    passages = passages_of(sentences)[:MOST_PASSAGES]
    terms = index.keywords.terms([*(f"{p.header}\n{p.text}" for p in passages), *(s.text for s in sentences)])
    evidence = weigh_evidence(question, terms[: len(passages)], similarity, index.scale)
    if evidence.support < settings.min_support:
        return abstained(evidence.thin_because())
    chosen = choose_sentences(expanded, sentences, terms[len(passages) :], for_type(settings, response_type))
    citations = cite(index.snapshot.cursor(), chosen)
    if not citations:
        return abstained("no sentence of the claims speaks of it")
    return Answer(quoted(citations, response_type), "complete", citations, verified=True)


def passages_of(sentences: Sequence[PassageSentence]) -> list[Passage]:
    """The chunks of the sentences, in their order, each once."""
    return list({sentence.passage.chunk_id: sentence.passage for sentence in sentences}.values())


def claim_passages(claims: Sequence[Claim]) -> list[Passage]:
    """What a model writes an answer from: for each chunk its claims, with their quotes, instead of all of its text."""
    statements: dict[str, list[str]] = {}
    for claim in claims:
        first = claim.sentences[0]
        lines = statements.setdefault(first.passage.chunk_id, [])
        lines += dict.fromkeys([claim.statement, " ".join(first.text.split())])
    chunks = passages_of([claim.sentences[0] for claim in claims])
    return [replace(passage, text="\n".join(dict.fromkeys(statements[passage.chunk_id]))) for passage in chunks]
