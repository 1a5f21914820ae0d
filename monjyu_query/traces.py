"""The trace of each search: enough to replay and audit it, without a word of the papers' text."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from typing import Any

from monjyu_core.errors import MonjyuError
from monjyu_core.state import StateStore
from monjyu_query.behind import Behind
from monjyu_query.request import SearchRequest
from monjyu_query.result import SearchResult

NAMESPACE = "traces"
KEPT = 1000
_TRACED = {
    *("event", "n", "subquery", "community_id", "level", "chunk_id", "paper_id", "sentence_ids"),
    *("score", "relevant", "used", "total", "status", "mode"),
}
"""Of an event: ids and numbers. Claims and subqueries hold words of papers."""
_TIDY_EVERY = 100

_log = logging.getLogger(__name__)


def new_trace_id() -> str:
    return uuid.uuid4().hex[:16]


def trace_of(
    request: SearchRequest, result: SearchResult, settings: dict[str, Any], events: Sequence[dict[str, Any]] = ()
) -> dict[str, Any]:
    """Request and settings, snapshot, hits by id and score, the sentences cited, and the events without their texts."""
    ordered = sorted(events, key=lambda event: event.get("mode", ""))  # modes side by side tell in any order
    return {
        "collection": result.collection,  # what a purge finds it by
        "request": request.model_dump(),
        "settings": settings,
        "snapshot_id": result.snapshot_id,
        "mode": result.mode,
        "routing": result.routing.model_dump(),
        "status": result.status,
        "warnings": result.warnings,
        "hits": [{"chunk_id": hit.chunk_id, "score": hit.score} for hit in result.hits],
        "citations": [{"chunk_id": c.chunk_id, "sentence_ids": c.sentence_ids} for c in result.citations],
        "usage": result.usage.model_dump(),
        "events": [{name: value for name, value in event.items() if name in _TRACED} for event in ordered],
    }


def without_cost(trace: dict[str, Any]) -> dict[str, Any]:
    """What a replay must repeat: all but times, money and what was found in a cache."""
    same = ("snapshot_id", "mode", "status", "hits", "citations", "events")
    return {name: trace.get(name) for name in same} | {"tests": trace["usage"]["relevance_tests"]}


class TraceLog:
    """Writes traces behind the searches' back. A full disk loses traces only."""

    def __init__(self, store: StateStore, pause: float = 0.0) -> None:
        """`pause`: seconds in which traces gather before they are written together."""
        self._store = store
        self._behind: Behind[tuple[str, dict[str, Any]]] = Behind(self._write, "traces", KEPT, pause)
        self._written = 0
        self._failed = False

    def write(self, trace_id: str, trace: dict[str, Any]) -> None:
        self._behind.add((trace_id, trace))

    def flush(self) -> None:
        """Wait until all traces given so far are written."""
        self._behind.flush()

    def _write(self, traces: list[tuple[str, dict[str, Any]]]) -> None:
        try:
            self._store.put_many(NAMESPACE, dict(traces))
            if self._written // _TIDY_EVERY != (self._written + len(traces)) // _TIDY_EVERY or not self._written:
                self._store.keep_newest(NAMESPACE, KEPT)
            self._written += len(traces)
        except MonjyuError as error:
            if not self._failed:
                _log.warning("Traces are not kept: %s", error)
            self._failed = True
