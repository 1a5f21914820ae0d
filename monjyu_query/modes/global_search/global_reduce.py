"""The reduce step: the answer from the best points, every sentence followed to its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from monjyu_core.text.language import message_language
from monjyu_query.answers.answering import Answer, abstained
from monjyu_query.answers.claim_answer import compose_claims
from monjyu_query.answers.claims import Claim
from monjyu_query.answers.evidence import spread_answer
from monjyu_query.asking.passages import Passage
from monjyu_query.modes.global_search.asking import Asking
from monjyu_query.ranking.tools import Tools

MOST_SOURCES = 24
"""Chunks that a model writes an answer from; of each it sees a few sentences."""


def answer_points(asking: Asking, points: Sequence[Claim], tools: Tools) -> tuple[Answer, str]:
    """Answer with the engine of the role `answer`; if its model fails, compose the answer and mark it as partial."""
    failure, ask = "", asking.ask
    if tools.uses_model("answer") and points and not ask.cancel.is_set():
        passages = point_passages(points)[:MOST_SOURCES]
        from monjyu_query.answers.model.model_answer import answer_with_model

        written, failure = answer_with_model(
            tools,
            ask.index,
            ask.request,
            passages,
            asking.asked,
            ask.account,
            ask.emit,
            query_type=ask.routing.query_type,
        )
        if written is not None:
            return written, "llm"
    answer = compose(asking, points, tools)
    if failure:
        status = "partial" if answer.status == "complete" else answer.status
        answer = replace(answer, status=status, warnings=[failure, *answer.warnings])
    return answer, "extractive"


def point_passages(points: Sequence[Claim]) -> list[Passage]:
    """What a model writes from: for each chunk its sentences that points rest on, and each point with its first one. So
    a point that joins several papers can be held against all of them."""
    statements: dict[str, list[str]] = {}
    passages: dict[str, Passage] = {}
    for point in points:
        for place, sentence in enumerate(point.sentences):
            passage = passages.setdefault(sentence.passage.chunk_id, sentence.passage)
            quote = " ".join(sentence.text.split())
            statements.setdefault(passage.chunk_id, []).extend([quote] if place else [point.statement, quote])
    return [replace(p, text="\n".join(dict.fromkeys(statements[name]))) for name, p in passages.items()]


def compose(asking: Asking, points: Sequence[Claim], tools: Tools) -> Answer:
    """From the passages that the points rest on; to a question about the collection as a whole, which is about whatever
    is in it, the best points themselves, one of each report before a second of any."""
    if not points:
        return abstained("no community report was judged relevant", message_language(asking.ask.request.query))
    if asking.whole:
        return spread_answer(asking.ask, points)
    similarity = max(asking.similarity(point.sentences[0]) for point in points)
    return compose_claims(tools, asking.ask, asking.terms, points, similarity)
