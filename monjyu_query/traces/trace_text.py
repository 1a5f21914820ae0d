"""A trace for a terminal. Papers and questions are untrusted: each text is made one safe line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from monjyu_query.answers.render import safe
from monjyu_query.traces.shown_trace import ShownChunk, ShownCommunity, ShownLazy, ShownSentence, ShownTrace

GONE = "no longer in the collection"
MOST_LISTED = 20
"""Of sentences and communities; the best, or the first."""
_LONGEST = 200
_ENDED = {
    "enough": "it had enough",
    "budget": "the budget was spent",
    "everything": "everything was tested",
    "cap": "a cap was reached, or its model failed",
    "cancelled": "it was cancelled",
}


def trace_lines(trace: ShownTrace) -> Iterator[str]:
    """What was asked, how it went, what was found; empty lines between the parts."""
    yield from _head(trace)
    if trace.lazy is not None:
        yield from _lazy(trace.lazy)
    if trace.citations:
        yield from ("", "Cited")
        for number, cited in enumerate(trace.citations, start=1):
            yield f"  [{number}] {_place(cited)}: {_text(cited.text)}"
    if trace.hits:
        yield from ("", "Passages")
        for number, hit in enumerate(trace.hits, start=1):
            yield f"  {number:>3} {hit.score:8.3f}  {_place(hit)}: {_text(hit.text)}"


def _head(trace: ShownTrace) -> Iterator[str]:
    asker = f" by {safe(trace.asked_by)}" if trace.asked_by else ""
    since = "" if trace.current_snapshot_id == trace.snapshot_id else f" (now {trace.current_snapshot_id})"
    used, model = trace.usage, f", written by {safe(trace.model)}" if trace.model else ""
    tests = f", {used.relevance_tests} of {used.budget_total} tests" if used.budget_total else ""
    calls = f", {used.llm_calls} calls, {used.cost_usd:.4f} USD" if used.llm_calls else ""
    yield f"Trace       {trace.trace_id}" + (f", asked {trace.asked_at}{asker}" if trace.asked_at else "")
    yield f"Question    {safe(str(trace.request.get('query', '')))}"
    yield f"Collection  {safe(trace.collection)}, snapshot {trace.snapshot_id}{since}"
    yield f"Mode        {trace.mode}: {safe(trace.routing.reason)}"
    yield f"Status      {trace.status}{model}"
    yield f"Took        {used.seconds:.3f} s{tests}{calls}"
    if trace.phases:
        yield "Phases      " + ", ".join(f"{safe(name)} {seconds:.3f} s" for name, seconds in trace.phases.items())
    yield from (f"Note        {safe(warning)}" for warning in trace.warnings)


def _lazy(lazy: ShownLazy) -> Iterator[str]:
    yield ""
    yield (
        f"Lazy search ended because {_ENDED[lazy.ended]}: depth {lazy.depth}, {lazy.rounds} rounds, "
        f"{lazy.frontier_left} passages not tested"
    )
    for number, asked in enumerate(lazy.subqueries, start=1):
        yield f"  question {number}: {asked.tests} tests, {asked.relevant} relevant"
    yield from _listed("Communities, tested and relevant", [_community(one) for one in lazy.communities])
    yield from _listed("Relevant sentences", [_sentence(one) for one in lazy.sentences])


def _listed(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from ("", title, *lines[:MOST_LISTED])
    if len(lines) > MOST_LISTED:
        yield f"  and {len(lines) - MOST_LISTED} more, which --json shows"


def _community(one: ShownCommunity) -> str:
    return f"  {one.tested:>4} {one.relevant:>4}  {safe(one.id)} (level {one.level}): {_text(one.title)}"


def _sentence(one: ShownSentence) -> str:
    return f"  {one.score:5.2f}  {_place(one)}: {_text(one.text)}"


def _place(chunk: ShownChunk) -> str:
    if chunk.paper_id is None:
        return safe(chunk.chunk_id)
    return (safe(chunk.paper_title or "") or safe(chunk.paper_id)) + (f", page {chunk.page}" if chunk.page else "")


def _text(text: str | None) -> str:
    if text is None:
        return GONE
    line = safe(text)
    return line if len(line) <= _LONGEST else line[:_LONGEST].rsplit(" ", 1)[0] + " …"
