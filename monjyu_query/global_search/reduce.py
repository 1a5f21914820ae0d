"""The reduce step: the answer from the best points, every sentence followed to its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monjyu_query.answer import alike, weigh_evidence
from monjyu_query.answering import Answer, abstained
from monjyu_query.citations import cite
from monjyu_query.global_search.asking import Asking
from monjyu_query.lazy.claims import SAME, Claim
from monjyu_query.lazy.compose import MOST_PASSAGES, claim_passages, passages_of
from monjyu_query.passages import PassageSentence
from monjyu_query.tools import Tools

_WORTH = 0.5
"""A sentence of an extractive answer must have this share of the best point's score."""


def answer_points(asking: Asking, points: Sequence[Claim], tools: Tools) -> tuple[Answer, str]:
    """By the engine of the role `answer`; where its model fails the composed answer, marked as partial."""
    failure, ask = "", asking.ask
    if tools.uses_model("answer") and points and not ask.cancel.is_set():
        passages = claim_passages(points)[:MOST_PASSAGES]
        written, failure = tools.llm_answers().answer(
            ask.index, ask.request, passages, asking.asked, ask.account, ask.emit
        )
        if written is not None:
            return written, "llm"
    answer = compose(asking, points, tools.settings.answer.min_support)
    if failure:
        status = "partial" if answer.status == "complete" else answer.status
        answer = replace(answer, status=status, warnings=[failure, *answer.warnings])
    return answer, "extractive"


def compose(asking: Asking, points: Sequence[Claim], min_support: float) -> Answer:
    """The first sentences of the best points, one of each report before a second of any. Abstains where the evidence is
    thin; a question about the whole collection is about whatever is in it."""
    if not points:
        return abstained("no report speaks of it")
    index = asking.ask.index
    sentences = [point.sentences[0] for point in points]
    passages = passages_of(sentences)[:MOST_PASSAGES]
    terms = index.keywords.terms([*(f"{p.header}\n{p.text}" for p in passages), *(s.text for s in sentences)])
    if not asking.whole:
        similarity = max(map(asking.similarity, sentences))
        evidence = weigh_evidence(asking.terms, terms[: len(passages)], similarity, index.scale)
        if evidence.support < min_support:
            return abstained(evidence.thin_because())
    chosen = _spread(
        points, [frozenset(some) for some in terms[len(passages) :]], asking.ask.settings.reports.max_sentences
    )
    citations = cite(index.snapshot.cursor(), chosen)
    if not citations:
        return abstained("no sentence of the reports was found in its source")
    text = " ".join(f"{' '.join(citation.quote.split())} [{citation.n}]" for citation in citations)
    return Answer(text, "complete", citations, verified=True)


def _spread(points: Sequence[Claim], terms: Sequence[frozenset[str]], most: int) -> list[PassageSentence]:
    """In turns over the reports, in order of their best points; none twice, none that says what another says."""
    floor = _WORTH * points[0].score
    turns: dict[str | None, int] = {}
    ranked: list[tuple[int, int]] = []
    for place, point in enumerate(points):
        turn = turns[point.community] = turns.get(point.community, -1) + 1
        if point.score >= floor:
            ranked.append((turn, place))
    chosen: list[int] = []
    for _, place in sorted(ranked):
        if len(chosen) < most and all(alike(terms[place], terms[other]) < SAME for other in chosen):
            chosen.append(place)
    return [points[place].sentences[0] for place in chosen]
