"""Sets up logs and telemetry from the settings, for indexing and searching."""

from __future__ import annotations

import atexit
import json
import logging
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from monjyu_core.errors import ConfigurationError
from monjyu_core.extras import install_line
from monjyu_core.settings.operations import LogSettings, TelemetrySettings
from monjyu_core.settings.settings import Settings
from monjyu_core.text.unicode_words import escaped_in_json
from monjyu_core.values import Values

if TYPE_CHECKING:
    import requests


# OpenTelemetry traces and metrics, by the setting `telemetry.endpoint`; without it nothing is imported or sent.
# Attributes contain names, counts and ids, never text. What has not been sent is lost when the process ends.
TIMEOUT_SECONDS = 5
Value = str | int | float | bool
Attributes = Mapping[str, Value]


def one_host_session() -> requests.Session:
    """A session for clients that would follow redirects: a server must not redirect a request to another host."""
    import requests

    class OneHost(requests.Session):
        def resolve_redirects(self, *_: object, **__: object) -> Generator[requests.Response, None, None]:
            yield from ()

    return OneHost()


class Telemetry:
    """The providers of one endpoint. They are separate from an application's global ones."""

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
        self._instruments: Values = {}

    @contextmanager
    def span(self, name: str, attributes: Attributes) -> Iterator[dict[str, Value]]:
        """A context for a span; entries added to the dictionary that it yields become attributes. An error is recorded
        by its class, not its text."""
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
        """Record a span inside the current one that began `seconds` ago and ends now."""
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
        """Send what has not been sent. An unreachable collector delays this by its time-out at most."""
        atexit.unregister(self.close)
        self._spans.shutdown()
        self._metrics.shutdown()


_current: Telemetry | None = None
_made_with: TelemetrySettings | None = None


def set_up_telemetry(settings: TelemetrySettings) -> None:
    """Send this process's telemetry to the configured endpoint. Raises ConfigurationError without `otel`."""
    global _current, _made_with
    if settings.endpoint is not None and settings != _made_with:
        before, _current, _made_with = _current, Telemetry(settings), settings
        if before is not None:
            before.close()


def telemetry() -> Telemetry | None:
    """The telemetry that is set up, or None."""
    return _current


@contextmanager
def span(name: str, **attributes: Value) -> Iterator[dict[str, Value]]:
    """A context for a span, which does nothing if telemetry is not set up. Entries added to the dictionary that it
    yields become attributes."""
    if _current is None:
        yield {}
        return
    with _current.span(name, attributes) as found:
        yield found


# Structured logs, by the setting `log.format`: one JSON object per line on stderr, with counts, names and ids but no
# text of papers.
PACKAGES = ("monjyu_core", "monjyu_assets", "monjyu_query")
_log = logging.getLogger("monjyu_core.events")
_FIELDS = "monjyu_fields"


class JsonFormatter(logging.Formatter):
    """Formats log records as JSON lines: `time` (UTC), `level`, `logger`, `message`, then the event's fields: run,
    collection, asset, shard, paper."""

    def format(self, record: logging.LogRecord) -> str:
        line: Values = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= getattr(record, _FIELDS, {})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return escaped_in_json(json.dumps(line, ensure_ascii=False, default=str))


class _Stderr(logging.StreamHandler[Any]):
    """Writes to the current `sys.stderr`, because Dagster and tests replace it."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(JsonFormatter())

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, value: object) -> None:
        raise AttributeError("stderr is what it writes to")


def set_up_logs(settings: LogSettings) -> None:
    """Make the packages' loggers write JSON, or leave Python's defaults (warnings as text). Idempotent."""
    for name in PACKAGES:
        logger = logging.getLogger(name)
        ours = [handler for handler in logger.handlers if isinstance(handler, _Stderr)]
        if settings.format == "json" and not ours:
            logger.addHandler(_Stderr())
            logger.setLevel(logging.INFO)
            logger.propagate = False
        elif settings.format == "text" and ours:
            logger.removeHandler(ours[0])
            logger.setLevel(logging.NOTSET)
            logger.propagate = True


def log_event(message: str, fields: Mapping[str, object], level: int = logging.INFO) -> None:
    """Log an event with its fields, except empty ones and None. Does nothing if logging is not set up: Python would
    print the event, and the command line has messages of its own."""
    if not _log.hasHandlers():
        return
    kept = {name: value for name, value in fields.items() if value is not None and value != ""}
    _log.log(level, message, extra={_FIELDS: kept})


def set_up_observability(settings: Settings) -> None:
    """Set up logs and telemetry; it may be called repeatedly."""
    set_up_logs(settings.log)
    set_up_telemetry(settings.telemetry)
