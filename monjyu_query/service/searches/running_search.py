"""One search of the service: looked up among the results kept, else run in a thread when its turn comes."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from monjyu_query.search.events import Emit
from monjyu_query.search.request import SearchRequest
from monjyu_query.search.result import SearchResult
from monjyu_query.service.searches.kept_results import keepable, kept_copy, result_key
from monjyu_query.service.worker_state import Served, Service

QUICK = ("vector", "keyword", "hybrid")
"""Modes whose searches end by themselves at once; the others can be watched and cancelled."""


@dataclass(frozen=True)
class KeptResult:
    content: bytes


@dataclass(frozen=True)
class Search:
    """A search to be run. `key` is what its result is kept under."""

    service: Service
    asked: SearchRequest
    served: Served
    key: str

    @property
    def long(self) -> bool:
        return self.asked.mode not in QUICK or self.asked.controller != "unified"

    async def run(self, emit: Emit | None = None) -> bytes:
        """The result as JSON. A search still running after `search_seconds` is ended: it has what it found.

        Being cancelled gives the place back: at once where the search waits, with its next step where it runs.
        """
        cancel = threading.Event()
        turns = self.service.long_turns if self.long else self.service.turns
        seconds = self.service.settings.service.search_seconds
        return await turns.take(lambda: self._search(emit, cancel), cancel, seconds)

    def _search(self, emit: Emit | None, cancel: threading.Event) -> bytes:
        results = self.service.results
        kept = results.get(self.key) if results.shared else None
        if kept is not None:
            return kept
        result = self.served.searcher.search(self.asked, emit, cancel)
        self.service.metrics.searched(result)
        if results.keeps and keepable(result) and not cancel.is_set():
            self._keep(result)
        return result.model_dump_json().encode()

    def _keep(self, result: SearchResult) -> None:
        """Under the snapshot that answered, which may be a later one than was current when it was asked."""
        key = result_key(self.asked, result.snapshot_id, self.served.settings_key)
        self.service.results.put(key, kept_copy(result).model_dump_json().encode(), result)


def look_up(service: Service, asked: SearchRequest) -> KeptResult | Search:
    """The result kept of an equal question, or the search to be run. NotFound for an unknown collection."""
    served = service.served(asked.collection)
    snapshot_id = service.current_id(asked.collection)
    service.results.follow(asked.collection, snapshot_id)
    key = result_key(asked, snapshot_id, served.settings_key)
    kept = None if service.results.shared else service.results.get(key)
    if kept is None:
        return Search(service, asked, served, key)
    service.metrics.kept()
    return KeptResult(kept)
