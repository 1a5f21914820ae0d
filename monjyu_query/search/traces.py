"""The trace of each search: enough to replay and audit it, without any text of the papers."""

import logging
import time
import uuid
import zlib
from collections.abc import Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, NamedTuple

from monjyu_core.errors import MonjyuError, QueryError
from monjyu_core.settings.operations import TraceSettings
from monjyu_core.storage.state_store import StateStore
from monjyu_core.values import Values
from monjyu_query.asking.lazy_explanation import LazyExplanation
from monjyu_query.asking.request import SearchRequest
from monjyu_query.asking.result import SearchResult
from monjyu_query.asking.write_behind import WriteBehind

NAMESPACE = "traces"
_MOST_WAITING = 1000
"""The maximum number of traces waiting for the disk."""
_TRACED = {
    *("event", "n", "subquery", "community_id", "level", "chunk_id", "paper_id", "sentence_ids"),
    *("score", "relevant", "used", "total", "status", "mode"),
}
"""The stored fields of an event: ids and numbers. Claims and subqueries contain words of papers."""
_OF_LAZY: Any = {
    **dict.fromkeys(("ended", "depth", "rounds", "frontier_left"), True),
    "subqueries": {"__all__": {"tests", "relevant"}},
    "sentences": {"__all__": {"sentence_id", "chunk_id", "community_id", "score"}},
    "communities": {"__all__": {"id", "level", "tested", "relevant"}},
}
"""The stored fields of a `LazyExplanation`. Its subqueries, reasons, titles and concepts contain words of papers."""
_TIDY_EVERY = 100
_MOST_GIVEN = 10_000
"""The number of (trace, asker) pairs remembered, so that a result that is reused often is recorded once."""
_DAY = 24 * 60 * 60

_log = logging.getLogger(__name__)

asked_by: ContextVar[str | None] = ContextVar("asked by", default=None)
"""The caller: a principal's name, such as `key:ID`; None on the command line, in Python, and without a key."""


def new_trace_id() -> str:
    return uuid.uuid4().hex[:16]


def trace_of(request: SearchRequest, result: SearchResult, settings: Values, events: Sequence[Values] = ()) -> Values:
    """The trace of a search: request and settings, snapshot, hits by id and score, cited sentences, how a lazy search
    ran, and the events, all without texts of papers. `quotes` are the checksums of the citations' quotes."""
    told = (event for event in events if event["event"] != "phase_start")  # its `phase` event follows
    ordered = sorted(told, key=lambda event: event.get("mode", ""))  # modes that run side by side report in any order
    return {
        "collection": result.collection,  # by which a purge finds it
        "asked_by": asked_by.get(),
        "asked_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "request": request.model_dump(),
        "settings": settings,
        "snapshot_id": result.snapshot_id,
        "mode": result.mode,
        "routing": result.routing.model_dump(),
        "status": result.status,
        "warnings": result.warnings,
        "hits": [{"chunk_id": hit.chunk_id, "score": hit.score} for hit in result.hits],
        "citations": [{"chunk_id": c.chunk_id, "sentence_ids": c.sentence_ids} for c in result.citations],
        "quotes": [check_sum(c.quote) for c in result.citations],
        "lazy": None if result.lazy is None else _lazy(result.lazy),
        "model": result.model,
        "phases": result.phases,
        "usage": result.usage.model_dump(),
        "events": [{name: value for name, value in event.items() if name in _TRACED} for event in ordered],
    }


def _lazy(told: LazyExplanation) -> Values:
    kept = told.model_dump(include=_OF_LAZY)
    for sentence, full in zip(kept["sentences"], told.sentences, strict=True):
        sentence["check"] = check_sum(full.text)
    return kept


def check_sum(text: str) -> int:
    """The checksum of a text without white space, which shows whether a sentence's id, which is its position in the
    paper, still refers to the same words."""
    return zlib.crc32("".join(text.split()).encode("utf-8", "surrogatepass"))


def without_cost(trace: Values) -> Values:
    """What a replay must repeat of a trace: all except times, costs, cache hits. Older traces may lack some."""
    same = ("snapshot_id", "mode", "status", "hits", "citations", "quotes", "lazy", "events")
    return {name: trace[name] for name in same if name in trace} | {"tests": trace["usage"]["relevance_tests"]}


def read_trace(store: StateStore, trace_id: str) -> Values:
    """Read a trace. Raises QueryError if it does not exist, because only the newest traces are stored."""
    trace = store.get(NAMESPACE, trace_id)
    if not isinstance(trace, dict):
        raise no_such_trace(trace_id)
    return trace


def no_such_trace(trace_id: str) -> QueryError:
    """The error for a missing trace."""
    return QueryError(
        f"Trace {trace_id!r} does not exist or is no longer kept.",
        "The newest are kept, as the settings traces.newest and traces.days say, until a purge or the end of their "
        "collection. Ask the question again.",
    )


def may_see(trace: Values, asker: str | None) -> bool:
    """Whether the caller asked, or was given the cached result. False for traces of versions that did not record it."""
    return trace.get("asked_by", "") == asker or asker in trace.get("given_to", [])


class _Given(NamedTuple):
    """The return of a cached result to another caller."""

    trace_id: str
    asker: str | None


class TraceLog:
    """Writes traces in the background. A full disk only loses traces."""

    def __init__(self, store: StateStore, pause: float = 0.0) -> None:
        """`pause`: seconds during which traces are collected before they are written together."""
        self._store = store
        self._writer: WriteBehind[tuple[str, Values] | str | _Given] = WriteBehind(
            self._write, "traces", _MOST_WAITING, pause
        )
        self._limits = TraceSettings()
        self._forgotten: set[str] = set()
        self._given: set[_Given] = set()
        self._written = 0
        self._failed = False

    def write(self, trace_id: str, trace: Values, limits: TraceSettings) -> None:
        self._limits = limits
        self._writer.add((trace_id, trace))

    def give(self, trace_id: str, asker: str | None) -> None:
        """Record that the cached result answered another caller's question, who may then see the trace."""
        given = _Given(trace_id, asker)
        if given not in self._given:
            if len(self._given) >= _MOST_GIVEN:
                self._given.clear()
            self._given.add(given)
            self._writer.add(given)

    def forget(self, collection: str) -> None:
        """Delete the traces of this collection, including those not written yet."""
        if collection not in self._forgotten:
            self._forgotten.add(collection)
            self._writer.add(collection)

    def flush(self) -> None:
        """Wait until all traces so far are written."""
        self._writer.flush()

    def _write(self, items: list[tuple[str, Values] | str | _Given]) -> None:
        traces: dict[str, Values] = {}
        try:
            for item in items:
                if isinstance(item, _Given):
                    self._note_given(item, traces)
                elif isinstance(item, tuple):
                    traces[item[0]] = item[1]
                else:
                    traces = {name: trace for name, trace in traces.items() if trace.get("collection") != item}
                    self._store.delete_those(NAMESPACE, "collection", item)
            if traces:
                self._store.put_many(NAMESPACE, traces)
                self._tidy(len(traces))
        except MonjyuError as error:
            if not self._failed:
                _log.warning("Traces are not kept: %s", error)
            self._failed = True

    def _note_given(self, given: _Given, traces: dict[str, Values]) -> None:
        """Record the callers in `traces`, which are about to be written; nothing if a trace no longer exists."""
        trace = traces.get(given.trace_id) or self._store.get(NAMESPACE, given.trace_id)
        if isinstance(trace, dict) and not may_see(trace, given.asker):
            traces[given.trace_id] = trace | {"given_to": [*trace.get("given_to", []), given.asker]}

    def _tidy(self, written: int) -> None:
        """Remove old traces, with the first write and then from time to time."""
        if not self._written or self._written // _TIDY_EVERY != (self._written + written) // _TIDY_EVERY:
            since = time.time() - self._limits.days * _DAY if self._limits.days else 0.0
            self._store.keep_newest(NAMESPACE, self._limits.newest, since)
        self._written += written
