"""What each file of tests took when it was last measured (`make durations`): the longest start first."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("durations.json")
RECORD = os.environ.get("MONJYU_RECORD_DURATIONS") == "1"
_measured: Counter[str] = Counter()


def known_durations() -> dict[str, float]:
    """Seconds of a file's tests with their fixtures, by path."""
    return dict(json.loads(FILE.read_text())) if FILE.exists() else {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    known = known_durations()
    items.sort(key=lambda item: -known.get(item.nodeid.partition("::")[0], 0.0))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _measured[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if RECORD and not hasattr(session.config, "workerinput"):
        known = known_durations() | {name: round(seconds, 1) for name, seconds in _measured.items()}
        there = {name: known[name] for name in sorted(known) if (FILE.parent.parent / name).exists()}
        FILE.write_text(json.dumps(there, indent=0) + "\n")
