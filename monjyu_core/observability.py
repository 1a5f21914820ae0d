"""Logs and telemetry as the settings say, for whatever works on a collection: indexing and searching alike."""

from __future__ import annotations

from monjyu_core.logs import set_up_logs
from monjyu_core.settings.settings import Settings
from monjyu_core.telemetry import set_up_telemetry


def set_up_observability(settings: Settings) -> None:
    """By the settings `log` and `telemetry`; it may be called before every piece of work."""
    set_up_logs(settings.log)
    set_up_telemetry(settings.telemetry)
