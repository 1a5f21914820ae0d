"""A trace for display: its ids with the texts and titles that they have in the collection's current snapshot."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import duckdb
from pydantic import BaseModel

from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.values import Values
from monjyu_query.answers.render import safe
from monjyu_query.asking.lazy_explanation import EndedBy
from monjyu_query.asking.result import Routing, Status, Usage
from monjyu_query.knowledge.concept_graph import has_tables
from monjyu_query.search.traces import check_sum

_CHUNKS = """SELECT c.chunk_id, c.paper_id, coalesce(p.title, ''), c.page_start, c.text
FROM chunks c JOIN papers p ON p.paper_id = c.paper_id WHERE c.chunk_id IN (SELECT unnest($ids::VARCHAR[]))"""
_SENTENCES = "SELECT sentence_id, text FROM sentences WHERE sentence_id IN (SELECT unnest($ids::VARCHAR[]))"
_COMMUNITIES = """SELECT community_id, array_to_string(top_phrases[:3], ', ') FROM communities
WHERE community_id IN (SELECT unnest($ids::VARCHAR[]))"""

Rows = dict[str, tuple[Any, ...]]
"""The rest of a row, by its id."""


class ShownChunk(BaseModel):
    """A chunk of a trace. All fields except the id are None if the collection no longer has the chunk."""

    chunk_id: str
    paper_id: str | None
    paper_title: str | None
    page: int | None


class ShownHit(ShownChunk):
    """A passage with its score, on the scale of the mode."""

    score: float
    text: str | None


class ShownCitation(ShownChunk):
    """A quote; `text` is None if the collection no longer has it unchanged."""

    sentence_ids: list[str]
    text: str | None


class ShownSentence(ShownChunk):
    """A sentence that lazy search found relevant (`score`: 0 to 10); `text` as in a citation."""

    sentence_id: str
    community_id: str | None
    score: float
    text: str | None


class ShownSubquery(BaseModel):
    """The n-th question for which chunks were tested; its words are not stored."""

    tests: int
    relevant: int


class ShownCommunity(BaseModel):
    """A community of a trace. `title` is None if the collection no longer has the community."""

    id: str
    title: str | None
    level: int
    tested: int
    relevant: int


class ShownLazy(BaseModel):
    """How a lazy search ran: the fields of `lazy` in its result that are stored."""

    ended: EndedBy
    depth: int
    rounds: int
    frontier_left: int
    subqueries: list[ShownSubquery]
    sentences: list[ShownSentence]
    communities: list[ShownCommunity]


class ShownTrace(BaseModel):
    """The question and settings of a search, its steps, and its results.

    Words of papers come from `current_snapshot_id`, the published snapshot; `snapshot_id` is the one that was searched.
    `asked_by` is `key:ID` or `user:SUBJECT`, None if no key was sent. Traces of older versions have no `asked_at`,
    `lazy`, `model` and `phases`.
    """

    trace_id: str
    collection: str
    asked_at: str | None
    asked_by: str | None
    request: Values
    settings: Values
    snapshot_id: str
    current_snapshot_id: str
    mode: str
    routing: Routing
    status: Status
    warnings: list[str]
    model: str | None
    phases: dict[str, float]
    usage: Usage
    hits: list[ShownHit]
    citations: list[ShownCitation]
    lazy: ShownLazy | None
    events: list[Values]


def show_trace(snapshot: Snapshot, trace_id: str, trace: Values) -> ShownTrace:
    """The trace with texts from the given snapshot, the current one of its collection."""
    lazy = trace.get("lazy")
    found = _Found(snapshot, trace, lazy)
    return ShownTrace(
        trace_id=trace_id,
        current_snapshot_id=snapshot.id,
        hits=[ShownHit(score=hit["score"], text=found.chunk_text(hit), **found.chunk(hit)) for hit in trace["hits"]],
        citations=found.citations(trace),
        lazy=None if lazy is None else found.lazy(lazy),
        **{name: trace[name] for name in ("collection", "request", "settings", "snapshot_id", "mode", "routing")},
        **{name: trace[name] for name in ("status", "warnings", "usage", "events")},
        **{name: trace.get(name) for name in ("asked_at", "asked_by", "model")},
        phases=trace.get("phases", {}),
    )


class _Found:
    """The snapshot's rows for the ids in a trace: one query per table."""

    def __init__(self, snapshot: Snapshot, trace: Values, lazy: Values | None) -> None:
        cursor = snapshot.cursor()
        told = lazy or {"sentences": [], "communities": []}
        places = [*trace["hits"], *trace["citations"], *told["sentences"]]
        quoted = [name for citation in trace["citations"] for name in citation["sentence_ids"]]
        self._same = snapshot.id == trace["snapshot_id"]
        self._chunks = _rows(cursor, _CHUNKS, (place["chunk_id"] for place in places))
        self._sentences = _rows(cursor, _SENTENCES, [*quoted, *(one["sentence_id"] for one in told["sentences"])])
        graph = bool(told["communities"]) and has_tables(cursor, ["communities"])
        self._communities = _rows(cursor, _COMMUNITIES, (one["id"] for one in told["communities"])) if graph else {}

    def chunk(self, place: Values) -> Values:
        """Fields of a `ShownChunk`."""
        paper_id, title, page, _ = self._chunks.get(place["chunk_id"], (None,) * 4)
        return {"chunk_id": place["chunk_id"], "paper_id": paper_id, "paper_title": title, "page": page}

    def chunk_text(self, place: Values) -> str | None:
        """The chunk's text; None if it no longer exists. An existing one is unchanged: ids hash the content."""
        found = self._chunks.get(place["chunk_id"])
        return found[-1] if found else None

    def citations(self, trace: Values) -> list[ShownCitation]:
        checks = trace.get("quotes") or [None] * len(trace["citations"])
        return [
            ShownCitation(
                sentence_ids=cited["sentence_ids"],
                text=self._words(cited, cited["sentence_ids"], check),
                **self.chunk(cited),
            )
            for cited, check in zip(trace["citations"], checks, strict=True)
        ]

    def lazy(self, told: Values) -> ShownLazy:
        sentences = [
            ShownSentence(
                text=self._words(one, [one["sentence_id"]], one["check"]),
                **{name: one[name] for name in ("sentence_id", "community_id", "score")},
                **self.chunk(one),
            )
            for one in told["sentences"]
        ]
        communities = [
            ShownCommunity(title=self._communities.get(one["id"], (None,))[0], **one) for one in told["communities"]
        ]
        return ShownLazy(**told | {"sentences": sentences, "communities": communities})

    def _words(self, place: Values, sentence_ids: list[str], check: int | None) -> str | None:
        """The sentences' text; None if it has changed. Ids of sentences are their positions, at which another snapshot
        may have other sentences."""
        texts = [found[0] for name in sentence_ids if (found := self._sentences.get(name))]
        if place["chunk_id"] not in self._chunks or len(texts) < len(sentence_ids):
            return None
        text = " ".join(" ".join(texts).split())
        return text if self._same or check == check_sum(text) else None


def _rows(cursor: duckdb.DuckDBPyConnection, query: str, ids: Iterable[str]) -> Rows:
    wanted = list(dict.fromkeys(ids))
    return {name: tuple(rest) for name, *rest in cursor.execute(query, {"ids": wanted}).fetchall()} if wanted else {}


# A trace for a terminal. Papers and questions are untrusted: each text is made one safe line.
GONE = "no longer in the collection"
MOST_LISTED = 20
"""The maximum number of sentences (the best) and of communities (the first visited) that are listed."""
_LONGEST = 200
_ENDED = {
    "enough": "it had enough",
    "budget": "the budget was spent",
    "everything": "everything was tested",
    "cap": "a cap was reached, or its model failed",
    "cancelled": "it was cancelled",
}


def trace_lines(trace: ShownTrace) -> Iterator[str]:
    """The question, the steps and the results, separated by empty lines."""
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
