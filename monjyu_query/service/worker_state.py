"""The state that the requests of one worker share: searchers, caches, and limits on concurrent searches."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request

from monjyu_core.errors import ConfigurationError, QueryError, StorageError
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import CollectionFolder, DataFolder
from monjyu_core.storage.snapshot import Snapshot, read_current, reading
from monjyu_core.storage.state_store import StateStore
from monjyu_core.values import Values
from monjyu_query.search.searcher import Searcher
from monjyu_query.search.traces import TraceLog
from monjyu_query.service.access.audit import AuditLog
from monjyu_query.service.access.principals import Principal
from monjyu_query.service.operations.index_runs import IndexRuns
from monjyu_query.service.searches.cancellation import Stops
from monjyu_query.service.searches.result_cache import ResultCache, open_results
from monjyu_query.service.server.drawing import Drawing, Images
from monjyu_query.service.server.error_responses import Busy, NotFound
from monjyu_query.service.server.metrics import Line, Metrics

# Queues of searches: a limited number run concurrently, a limited number wait, and further ones are refused.
T = TypeVar("T")


class Turns:
    """A queue of searches: up to `running` of them run, each in a thread, and up to `waiting` wait, first come, first
    served."""

    def __init__(self, running: int, waiting: int, gauge: Line) -> None:
        self._places = asyncio.Semaphore(running)
        self._most = running + waiting
        self._threads = ThreadPoolExecutor(running, thread_name_prefix="search")
        self._gauge = gauge
        self.inside = 0

    @property
    def full(self) -> bool:
        return self.inside >= self._most

    async def take(self, work: Callable[[], T], cancel: threading.Event, seconds: float) -> T:
        """Run `work` in one of the threads, in the caller's context. Raises Busy if too many searches are waiting.

        `cancel` is set when the work has run for `seconds`, or when the caller is cancelled. A caller that is cancelled
        while waiting leaves the queue, and its work never starts. The slot of running work is freed when the work ends.
        """
        if self.full:
            raise Busy("Too many searches are waiting.", "Ask again in a few seconds.", {"Retry-After": "5"})
        self.inside += 1
        try:
            await self._in_line()
        except BaseException:
            self.inside -= 1
            raise
        begun = self._begin(work)
        late = asyncio.get_running_loop().call_later(seconds, cancel.set)
        try:
            return await asyncio.shield(begun)
        except asyncio.CancelledError:
            cancel.set()
            raise
        finally:
            late.cancel()

    async def _in_line(self) -> None:
        self._gauge.wait(1)
        try:
            await self._places.acquire()
        finally:
            self._gauge.wait(-1)

    def _begin(self, work: Callable[[], T]) -> asyncio.Future[T]:
        self._gauge.run(1)
        try:
            begun = asyncio.get_running_loop().run_in_executor(self._threads, copy_context().run, work)
        except BaseException:
            self._end()
            raise
        begun.add_done_callback(self._after)
        return begun

    def _after(self, done: asyncio.Future[Any]) -> None:
        """Free the slot and retrieve the error: asyncio logs unretrieved errors, and the caller may have left."""
        self._end()
        if not done.cancelled():
            done.exception()

    def _end(self) -> None:
        self._gauge.run(-1)
        self._places.release()
        self.inside -= 1

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


TRACE_PAUSE = 0.3
"""Seconds for which traces are collected before a write, because a write takes a tenth of a search's CPU time."""


@dataclass(frozen=True)
class Served:
    """A collection's searcher with the hash of its settings."""

    searcher: Searcher
    settings_key: str


class Service:
    """The state of a service process (settings, caches, queues, open snapshots), stored as `app.state.service`. Safe to
    share between threads."""

    def __init__(self, data: DataFolder, settings: Settings) -> None:
        self.data = data
        self.settings = settings
        self.store = StateStore(data.state)
        self.traces = TraceLog(self.store, TRACE_PAUSE)
        self.results: ResultCache = open_results(settings)
        self.images = Images(settings.service.page_cache_mb << 20)
        self.drawing = Drawing(settings.service.page_seconds, settings.service.page_memory_mb)
        self.metrics = Metrics()
        self.turns = Turns(settings.service.searches, settings.service.waiting, self.metrics.line("quick"))
        self.long_turns = Turns(settings.service.long_searches, settings.service.waiting, self.metrics.line("long"))
        self.stops = Stops(self.store)
        self.index_runs = IndexRuns(self.store)
        self.audit = AuditLog(data.state / "audit") if settings.service.audit else None
        self._whole = data
        self._lock = threading.Lock()
        self._served: dict[str, tuple[int, Served]] = {}

    def seen_by(self, collections: frozenset[str] | None) -> Service:
        """Return the service as seen by a caller who may see only `collections` (None = all)."""
        if collections is None:
            return self
        seen = copy.copy(self)
        seen.data = self._whole.seen_by(collections)
        return seen

    def admit(self, name: str) -> CollectionFolder:
        """Return the collection's folder, existing or not. Raises NotFound for an invalid or hidden name."""
        try:
            return self.data.collection(name)
        except ConfigurationError as error:
            raise NotFound(error.message, error.hint) from error

    def folder(self, name: str) -> CollectionFolder:
        """Return the folder of a published collection. Raises NotFound unless the caller may see one of this name."""
        folder = self.admit(name)
        if read_current(folder) is None or not folder.record.is_file():
            with self._lock:
                self._release_deleted()
            known = ", ".join(self.data.collections()) or "none"
            raise NotFound(f"Collection {name!r} is not published here.", f"Known: {known}.")
        return folder

    def served(self, name: str) -> Served:
        """Return the collection's searcher, cached until the collection's record (sources, level, model) changes.
        Raises NotFound like `folder`."""
        folder = self.folder(name)
        try:
            written = folder.record.stat().st_mtime_ns
        except FileNotFoundError as error:
            raise NotFound(f"Collection {name!r} was deleted during the request.") from error
        with self._lock:
            known = self._served.get(name)
            if known is None or known[0] != written:
                self._release_deleted()
                known = written, self._open(name)
                self._served[name] = known
            return known[1]

    def snapshot(self, name: str) -> Snapshot:
        """Return the published snapshot that searches use."""
        return self.served(name).searcher.current().snapshot

    def current_id(self, name: str) -> str:
        return read_current(self.folder(name)) or ""

    def published(self) -> list[str]:
        """Return the names of the collections that have a snapshot, readable or not."""
        return [name for name in self.data.collections() if not self._is_missing(name)]

    def check(self, name: str) -> None:
        """Raise StorageError if the published snapshot cannot be read; if it is not loaded, only one row is read."""
        if name in self.loaded():
            self.snapshot(name)
            return
        with reading(self.folder(name)) as snapshot:
            snapshot.cursor().execute("SELECT paper_id FROM papers LIMIT 1").fetchall()

    def forget(self) -> None:
        """Make all searchers open their snapshots again, because a file of one could not be read."""
        with self._lock:
            served = [one for _, one in self._served.values()]
        for one in served:
            one.searcher.forget()

    def loaded(self) -> list[str]:
        with self._lock:
            return sorted(set(self._served).intersection(self.data.collections()))

    def only_collection(self, name: str | None) -> str:
        """Return the given name, or else the name of the only collection. Raises QueryError unless there is one."""
        if name is not None:
            return name
        known = self.data.collections()
        if len(known) == 1:
            return known[0]
        raise QueryError(f"There are {len(known)} collections.", f"Name one: {', '.join(known)}.")

    def close(self) -> None:
        self.traces.flush()
        self.results.close()
        self.turns.close()
        self.long_turns.close()
        self.drawing.close()
        if self.audit is not None:
            self.audit.close()

    def _release_deleted(self) -> None:
        """Release the searchers of deleted collections, with their vectors, files and leases."""
        for name in [name for name in self._served if self._is_missing(name)]:
            del self._served[name]
            self.results.follow(name, "")

    def _is_missing(self, name: str) -> bool:
        with suppress(StorageError):
            return read_current(self._whole.collection(name)) is None
        return False

    def _open(self, name: str) -> Served:
        searcher = Searcher(self._whole, name, self.traces)
        chosen: Values = searcher.settings.model_dump(mode="json", exclude={"service"})
        return Served(searcher, hashlib.sha256(repr(chosen).encode()).hexdigest()[:16])


async def service_of(request: Request) -> Service:
    """Return the service as the caller may see it, for FastAPI's `Depends`. A plain `def` would run in a thread.

    A public path has no principal, and fails here.
    """
    service: Service = request.app.state.service
    principal: Principal = request.scope["state"]["principal"]
    return service.seen_by(principal.collections)
