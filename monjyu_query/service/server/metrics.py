"""Metrics for Prometheus. Several workers write to a shared folder, and each of them can report the metrics of all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from monjyu_query.asking.result import SearchResult, Usage
from monjyu_query.digests.result import Digest

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Line:
    """The numbers of waiting and running searches of a queue."""

    def __init__(self, waiting: Gauge, running: Gauge, begun: Counter) -> None:
        self._waiting = waiting
        self._running = running
        self._begun = begun

    def wait(self, by: int) -> None:
        self._waiting.inc(by)

    def run(self, by: int) -> None:
        self._running.inc(by)
        if by > 0:
            self._begun.inc(by)


class Metrics:
    """The metrics, one per process."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "monjyu_http_requests", "Requests answered.", ("method", "route", "status"), registry=registry
        )
        self._seconds = Histogram(
            "monjyu_http_request_seconds",
            "Time to the end of the answer.",
            ("route",),
            registry=registry,
            buckets=_SECONDS,
        )
        gauge = partial(Gauge, registry=registry, multiprocess_mode="livesum")
        self._under_way = gauge("monjyu_http_requests_under_way", "Requests being answered.")
        self._waiting = gauge("monjyu_searches_waiting", "Searches that wait for their turn.", ("line",))
        self._running = gauge("monjyu_searches_running", "Searches in progress.", ("line",))
        self._begun = Counter("monjyu_searches_begun", "Searches started.", ("line",), registry=registry)
        self._searches = Counter(
            "monjyu_searches",
            "Searches finished, by mode and outcome.",
            ("collection", "mode", "status"),
            registry=registry,
        )
        self._kept = Counter("monjyu_results_kept", "Searches answered from the result cache.", registry=registry)
        self._tests = Counter("monjyu_relevance_tests", "Relevance tests of lazy searches.", registry=registry)
        self._tokens = Counter("monjyu_model_tokens", "Tokens of models.", ("kind",), registry=registry)
        self._calls = Counter("monjyu_model_calls", "Calls of models by searches.", registry=registry)
        self._cost = Counter("monjyu_model_cost_usd", "Cost of models in searches.", registry=registry)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method if method.isalpha() and len(method) < 10 else "other", route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        with self._under_way.track_inprogress():
            yield

    def line(self, name: Literal["quick", "long"]) -> Line:
        """The metrics of one queue of searches."""
        return Line(self._waiting.labels(name), self._running.labels(name), self._begun.labels(name))

    def searched(self, result: SearchResult) -> None:
        self._searches.labels(result.collection, result.mode, result.status).inc()
        self._spent(result.usage)

    def digested(self, digest: Digest) -> None:
        """Count a digest as a search of mode `digest`."""
        self._searches.labels(digest.collection, "digest", digest.status).inc()
        self._spent(digest.usage)

    def _spent(self, used: Usage) -> None:
        self._tests.inc(used.relevance_tests)
        self._calls.inc(used.llm_calls)
        self._tokens.labels("prompt").inc(used.prompt_tokens)
        self._tokens.labels("completion").inc(used.completion_tokens)
        self._cost.inc(used.cost_usd)

    def kept(self) -> None:
        self._kept.inc()

    def text(self) -> bytes:
        """Return the metrics in Prometheus' text format."""
        if FOLDER not in os.environ:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
