"""A search's pieces as a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from monjyu_query.answers.answering import Answer
from monjyu_query.asking.passages import Passage, hit_of
from monjyu_query.asking.result import SearchResult, Usage
from monjyu_query.ranking.tools import Ask


def result_of(
    ask: Ask,
    answer: Answer,
    engine: str,
    passages: Sequence[Passage],
    *,
    warnings: Sequence[str] = (),
    claims: Sequence[dict[str, Any]] = (),
    communities: Sequence[str] = (),
) -> SearchResult:
    """`engine` wrote the answer; `warnings` are the mode's own; `passages` best first."""
    return SearchResult(
        query=ask.request.query,
        collection=ask.request.collection,
        snapshot_id=ask.index.snapshot.id,
        level=ask.index.snapshot.manifest.level,
        mode=ask.mode,
        routing=ask.routing,
        status=answer.status,
        warnings=list(dict.fromkeys([*ask.warnings(), *warnings, *answer.warnings])),
        trace_id=ask.account.scope.name,
        answer=answer.text,
        segments=answer.segments,
        tables=answer.tables,
        confidence=answer.confidence,
        answer_engine=engine,
        verified=answer.verified,
        citations=answer.citations,
        hits=[hit_of(passage) for passage in passages[: ask.settings.top_k]],
        claims=list(claims),
        communities_visited=list(communities),
        usage=Usage(**vars(ask.account.used)),
    )
