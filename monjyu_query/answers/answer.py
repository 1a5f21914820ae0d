"""An answer: its text, its citations, and whether it answers the question."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from monjyu_core.language.packs import LANGUAGES, Texts
from monjyu_core.values import Values
from monjyu_query.answers.segments import answer_markdown
from monjyu_query.asking.passages import Passage, hit_of
from monjyu_query.asking.result import AnswerTable, Citation, SearchResult, Segment, Status, Usage
from monjyu_query.ranking.tools import Ask

_TEXTS, _REASONS = Texts("answer"), Texts("reasons")


@dataclass(frozen=True)
class Answer:
    """An answer. `verified`: the answer has citations, each quote is in its source, and no sentence lacks support."""

    segments: list[Segment]
    status: Status
    citations: list[Citation] = field(default_factory=list)
    verified: bool = False
    warnings: list[str] = field(default_factory=list)
    tables: list[AnswerTable] = field(default_factory=list)
    confidence: float | None = None

    @property
    def text(self) -> str:
        """The answer as Markdown."""
        return answer_markdown(self.segments, self.tables)


def abstained(reason: str, language: str, warnings: Sequence[str] = ()) -> Answer:
    """An abstention in the language. The English `reason` is translated, or omitted without a translation."""
    words, known = _TEXTS[language], _REASONS[language]
    text = words["because"].format(nothing=words["nothing"], reason=known.get(reason, "" if known else reason))
    return Answer([Segment(text=text)], "abstained", warnings=list(warnings), confidence=0.0)


def not_settled(result: SearchResult, failure: str) -> SearchResult:
    """The result of a search in which a model call failed. An abstention becomes a partial answer that states the
    failure, because the failed call may be its cause; other results are unchanged."""
    if result.status != "abstained":
        return result
    segments = [segment.model_copy() for segment in result.segments]
    for segment in segments:
        for words in map(_TEXTS.__getitem__, LANGUAGES):
            segment.text = segment.text.replace(words["nothing"], words["not_settled"])
    told = any(failure in warning for warning in result.warnings)
    update = {
        "status": "partial",
        "segments": segments,
        "answer": answer_markdown(segments, result.tables),
        "confidence": None,
        "warnings": [*result.warnings, *([] if told else [f"Part of the search failed: {failure}"])],
    }
    return result.model_copy(update=update)


def result_of(
    ask: Ask,
    answer: Answer,
    engine: str,
    passages: Sequence[Passage],
    *,
    warnings: Sequence[str] = (),
    claims: Sequence[Values] = (),
    communities: Sequence[str] = (),
) -> SearchResult:
    """The result of a search. `engine` wrote the answer, the mode gave the `warnings`, and the best `top_k` of the
    `passages`, which are best first, are the hits."""
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
