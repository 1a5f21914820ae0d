"""Answers a search from the result cache, or runs it in a thread when its turn comes."""

import re
import threading
from dataclasses import dataclass

from monjyu_core.errors import StorageError
from monjyu_core.storage.collection import known_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.asking.events import Emit
from monjyu_query.asking.request import PASSAGES, SearchRequest
from monjyu_query.asking.result import SearchResult
from monjyu_query.search.traces import asked_by
from monjyu_query.service.searches.result_cache import cached_copy, keepable, result_key
from monjyu_query.service.server.error_responses import ServiceError
from monjyu_query.service.worker_state import Served, Service

# A request may name an older snapshot to search, which must exist and contain no purged paper.
SNAPSHOT = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$"


class SnapshotGone(ServiceError):
    """The snapshot never existed, was removed, contains a purged paper, or was written by another version of Monjyu.
    The caller does not learn which."""

    status = 404

    def __init__(self, snapshot_id: str) -> None:
        super().__init__(f"Snapshot {snapshot_id} no longer exists.", "Search the current snapshot.")


def refuse_purged(data: DataFolder, snapshot: Snapshot) -> None:
    """Raise SnapshotGone if the snapshot contains a purged paper. A purge removes such snapshots, but one may be
    searched before that, or come back with a restored copy of the folder."""
    excluded = known_record(data, snapshot.collection.name).excluded
    query = "SELECT 1 FROM papers WHERE paper_id IN (SELECT unnest($ids::VARCHAR[])) LIMIT 1"
    if excluded and snapshot.cursor().execute(query, {"ids": excluded}).fetchall():
        raise SnapshotGone(snapshot.id)


_TRACE = re.compile(rb'"trace_id":"([0-9a-f]{16})"')
"""Matches only a field of the JSON and never its texts, in which quotation marks are escaped."""


@dataclass(frozen=True)
class CachedResult:
    content: bytes


@dataclass
class Search:
    """A search to run. `key` is its key in the cache; `snapshot_id` names an older snapshot to search. After `run`,
    `was_kept` is true if the shared cache had the result."""

    service: Service
    asked: SearchRequest
    served: Served
    key: str
    snapshot_id: str | None = None
    was_kept: bool = False

    @property
    def long(self) -> bool:
        """Whether the search may take more than milliseconds, so that it can be watched and cancelled."""
        return self.asked.mode not in PASSAGES or self.asked.controller != "unified"

    async def run(self, emit: Emit | None = None, cancel: threading.Event | None = None) -> bytes:
        """Return the result as JSON. After `search_seconds`, or when `cancel` is set, a running search ends with the
        result so far. Cancelling the task frees its slot: at once if the search waits, otherwise with its next step."""
        cancel = cancel or threading.Event()
        turns = self.service.long_turns if self.long else self.service.turns
        seconds = self.service.settings.service.search_seconds
        return await turns.take(lambda: self._search(emit, cancel), cancel, seconds)

    def _search(self, emit: Emit | None, cancel: threading.Event) -> bytes:
        results = self.service.results
        kept = results.get(self.key) if results.shared else None
        if kept is not None:
            self.was_kept = True
            self.service.metrics.kept()
            _give(self.service, kept)
            return kept
        searcher = self.served.searcher
        if self.snapshot_id is not None:
            searcher = searcher.at(self.snapshot_id)
            refuse_purged(self.service.data, searcher.current().snapshot)
        result = searcher.search(self.asked, emit, cancel)
        self.service.metrics.searched(result)
        if results.keeps and keepable(result) and not cancel.is_set():
            self._keep(result)
        return result.model_dump_json().encode()

    def _keep(self, result: SearchResult) -> None:
        """Store the result under the snapshot that answered, which may be newer than that of the request."""
        key = result_key(self.asked, result.snapshot_id, self.served.settings_key)
        self.service.results.put(key, cached_copy(result).model_dump_json().encode(), result)


def look_up(service: Service, asked: SearchRequest, snapshot_id: str | None = None) -> CachedResult | Search:
    """Return the cached result of an equal question, or the search to run, on the published snapshot or on
    `snapshot_id`. Raises NotFound for an unknown collection, SnapshotGone for a snapshot that does not exist."""
    served = service.served(asked.collection)
    current = service.current_id(asked.collection)
    service.results.follow(asked.collection, current)
    key = result_key(asked, snapshot_id or current, served.settings_key)
    if snapshot_id is not None and snapshot_id != current:
        try:
            read_manifest(service.folder(asked.collection), snapshot_id)
        except StorageError as error:
            raise SnapshotGone(snapshot_id) from error
        return Search(service, asked, served, key, snapshot_id)
    kept = None if service.results.shared else service.results.get(key)
    if kept is None:
        return Search(service, asked, served, key)
    service.metrics.kept()
    _give(service, kept)
    return CachedResult(kept)


def _give(service: Service, kept: bytes) -> None:
    """Record who gets a cached result, which contains the trace id of the first search: this caller may then see that
    trace, and export the answer."""
    named = _TRACE.search(kept)
    if named is not None:
        service.traces.give(named[1].decode(), asked_by.get())
