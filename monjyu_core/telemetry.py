"""OpenTelemetry traces and metrics, by the setting `telemetry.endpoint`; without it nothing is imported or sent.

Attributes hold names, counts and ids, never text. What is not sent yet goes when the process ends.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from monjyu_core.errors import ConfigurationError
from monjyu_core.extras import install_line
from monjyu_core.settings.operations_settings import TelemetrySettings

if TYPE_CHECKING:
    import requests

TIMEOUT_SECONDS = 5
Value = str | int | float | bool
Attributes = Mapping[str, Value]


def one_host_session() -> requests.Session:
    """For clients that follow redirects by themselves: a server may not send what it is given on to another host."""
    import requests

    class OneHost(requests.Session):
        def resolve_redirects(self, *_: Any, **__: Any) -> Generator[requests.Response, None, None]:
            yield from ()

    return OneHost()


class Telemetry:
    """The providers of one endpoint. They are ours alone: an application's global ones are left as they are."""

    def __init__(self, settings: TelemetrySettings) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.metrics import MeterProvider
            from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            raise ConfigurationError(
                f"telemetry.endpoint is set, but OpenTelemetry is not installed ({error.name}).",
                f"Install it: {install_line('otel')}.",
            ) from error
        endpoint = (settings.endpoint or "").rstrip("/")
        resource = Resource.create({"service.name": settings.service_name})
        traces = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", timeout=TIMEOUT_SECONDS, session=one_host_session())
        metrics = OTLPMetricExporter(
            endpoint=f"{endpoint}/v1/metrics", timeout=TIMEOUT_SECONDS, session=one_host_session()
        )
        self._spans = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._spans.add_span_processor(BatchSpanProcessor(traces))
        self._metrics = MeterProvider([PeriodicExportingMetricReader(metrics)], resource, shutdown_on_exit=False)
        atexit.register(self.close)
        self._tracer = self._spans.get_tracer("monjyu")
        self._meter = self._metrics.get_meter("monjyu")
        self._instruments: dict[str, Any] = {}

    @contextmanager
    def span(self, name: str, attributes: Attributes) -> Iterator[dict[str, Value]]:
        """A span; what is put into the dictionary inside is added. An error is recorded by its class, not its text."""
        found: dict[str, Value] = {}
        with self._tracer.start_as_current_span(name, attributes=dict(attributes), record_exception=False) as current:
            try:
                yield found
            except BaseException as error:
                found["error.type"] = type(error).__name__
                raise
            finally:
                current.set_attributes(found)

    def past_span(self, name: str, seconds: float, attributes: Attributes) -> None:
        """A span that ends now and began `seconds` ago, inside the current one."""
        now = time.time_ns()
        span = self._tracer.start_span(name, attributes=dict(attributes), start_time=now - int(seconds * 1e9))
        span.end(now)

    def count(self, name: str, value: float, attributes: Attributes) -> None:
        if name not in self._instruments:
            self._instruments[name] = self._meter.create_counter(name)
        self._instruments[name].add(value, dict(attributes))

    def measure(self, name: str, value: float, unit: str, attributes: Attributes) -> None:
        if name not in self._instruments:
            self._instruments[name] = self._meter.create_histogram(name, unit=unit)
        self._instruments[name].record(value, dict(attributes))

    def close(self) -> None:
        """Send what is left. An unreachable collector costs no more than its timeout."""
        atexit.unregister(self.close)
        self._spans.shutdown()
        self._metrics.shutdown()


_current: Telemetry | None = None
_made_with: TelemetrySettings | None = None


def set_up_telemetry(settings: TelemetrySettings) -> None:
    """Send to what the settings name from now on, in this process. ConfigurationError without the extra `otel`."""
    global _current, _made_with
    if settings.endpoint is not None and settings != _made_with:
        before, _current, _made_with = _current, Telemetry(settings), settings
        if before is not None:
            before.close()


def telemetry() -> Telemetry | None:
    """What is set up, or None."""
    return _current


@contextmanager
def span(name: str, **attributes: Value) -> Iterator[dict[str, Value]]:
    """A span around a piece of work, nothing where telemetry is not set up. What is put into the dictionary that it
    gives becomes attributes of the span."""
    if _current is None:
        yield {}
        return
    with _current.span(name, attributes) as found:
        yield found
