"""Structured logs: one JSON object a line on stderr, by the setting `log.format`. Counts, names and ids, never text."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from monjyu_core.settings.operations_settings import LogSettings
from monjyu_core.text.controls import escaped_in_json

PACKAGES = ("monjyu_core", "monjyu_assets", "monjyu_query")
_log = logging.getLogger("monjyu_core.events")
_FIELDS = "monjyu_fields"


class JsonFormatter(logging.Formatter):
    """`time` (UTC), `level`, `logger`, `message`, then the event's fields: run, collection, asset, shard, paper."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
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
    """Writes to what stderr is when it writes: Dagster and tests put others in its place."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(JsonFormatter())

    @property
    def stream(self) -> Any:
        return sys.stderr

    @stream.setter
    def stream(self, value: Any) -> None:
        raise AttributeError("stderr is what it writes to")


def set_up_logs(settings: LogSettings) -> None:
    """Make the packages' loggers write JSON, or leave them to Python's defaults (warnings as text). Repeatable."""
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
    """An event with its fields; those that are empty or None are left out. Nothing where nobody set up logging: Python
    would print warnings by themselves, and the command line has its own words for them."""
    if not _log.hasHandlers():
        return
    kept = {name: value for name, value in fields.items() if value is not None and value != ""}
    _log.log(level, message, extra={_FIELDS: kept})
