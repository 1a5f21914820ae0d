"""Caches results: equal questions on the same snapshot with the same settings are answered only once."""

import threading
from collections import OrderedDict
from typing import Protocol

from monjyu_core.models.outage import Outage
from monjyu_core.models.response_cache import labels_of
from monjyu_core.reader.trained_weights import FILES
from monjyu_core.settings.models import CacheSettings
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_query.asking.request import SearchRequest
from monjyu_query.asking.result import SearchResult, Usage

_ENTRY = 200
"""The size in bytes of an entry without its value: the key, and estimated overhead."""


class ResultCache(Protocol):
    """Stores the JSON of results by key. Thread-safe. While its server fails, it returns None and stores nothing."""

    shared: bool
    """Whether a look-up asks a server, and so must not run in the event loop."""
    keeps: bool
    """False if results are never stored."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, key: str, value: bytes, result: SearchResult) -> None:
        """Store `value`, the JSON of `result`, which `get` returns."""
        ...

    def follow(self, collection: str, snapshot_id: str) -> None:
        """Called when this snapshot becomes the served one: results of earlier ones may be dropped."""
        ...

    def close(self) -> None: ...


def open_results(settings: Settings) -> ResultCache:
    kind = settings.service.cache
    if kind == "redis" and settings.cache.redis_url is not None:
        return RedisResults(settings.cache.redis_url.get_secret_value(), settings.cache)
    return MemoryResults(settings.service.cache_mb << 20 if kind == "memory" else 0)


def result_key(request: SearchRequest, snapshot_id: str, settings_key: str) -> str:
    weights = (file.sha256 for file in FILES.values())
    return "result:3:" + digest(request.model_dump_json(), snapshot_id, settings_key, *weights, length=40)


def keepable(result: SearchResult) -> bool:
    """Whether to store the result. A partial result with a warning comes from a truncated search or a failed model, and
    the next attempt may be better. Without a warning, it is partial because the papers contain no more."""
    return result.status != "partial" or not result.warnings


def cached_copy(result: SearchResult) -> SearchResult:
    """Return the result to store in the cache: its model calls count as cache hits, without tokens and cost."""
    used = result.usage
    free = Usage(
        relevance_tests=used.relevance_tests,
        budget_total=used.budget_total,
        cache_hits=used.cache_hits + used.llm_calls,
    )
    return result.model_copy(update={"usage": free})


def labels_for(result: SearchResult) -> list[str]:
    """Return labels of the result's papers, so that it is removed when one of them is purged."""
    papers = {hit.paper_id for hit in result.hits} | {citation.paper_id for citation in result.citations}
    papers |= {str(claim.get("paper_id")) for claim in result.claims}
    return labels_of(result.collection, papers)


class MemoryResults:
    """A cache of the most recently used results in memory, up to `most_bytes`. Results of a snapshot that is no longer
    served are removed immediately."""

    shared = False

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self.keeps = most_bytes > 0
        self._size = 0
        self._lock = threading.Lock()
        self._values: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._current: dict[str, str] = {}

    def follow(self, collection: str, snapshot_id: str) -> None:
        with self._lock:
            before = self._current.get(collection)
            self._current[collection] = snapshot_id
            if before not in (None, snapshot_id):
                for key in [key for key, (owner, _) in self._values.items() if owner == collection]:
                    self._drop(key)

    def get(self, key: str) -> bytes | None:
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[1]

    def put(self, key: str, value: bytes, result: SearchResult) -> None:
        if len(value) + _ENTRY > self._most:
            return
        with self._lock:
            if self._current.get(result.collection, result.snapshot_id) != result.snapshot_id:
                return  # a search that began before a publish
            self._drop(key)
            self._values[key] = (result.collection, value)
            self._size += len(value) + _ENTRY
            while self._size > self._most:
                self._drop(next(iter(self._values)))

    def close(self) -> None:
        with self._lock:
            self._values.clear()
            self._size = 0

    def _drop(self, key: str) -> None:
        found = self._values.pop(key, None)
        if found is not None:
            self._size -= len(found[1]) + _ENTRY


class RedisResults:
    """Results on the Redis server of the model cache. `monjyu purge` removes them like the entries of that cache."""

    shared = True
    keeps = True

    def __init__(self, url: str, limits: CacheSettings) -> None:
        from monjyu_core.models.cache_redis import RedisCache

        self._cache = RedisCache(url, limits.max_entries, limits.max_age_seconds)
        self._outage = Outage("Results are not kept")

    def get(self, key: str) -> bytes | None:
        return self._outage.tried(lambda: self._cache.get_many([key]).get(key))

    def put(self, key: str, value: bytes, result: SearchResult) -> None:
        self._outage.tried(lambda: self._cache.put_many({key: value}, labels_for(result)))

    def follow(self, collection: str, snapshot_id: str) -> None:
        """Do nothing, because other workers may still serve the previous snapshot. Redis drops the oldest results, and
        a purge removes those of its papers."""

    def close(self) -> None:
        self._cache.close()
