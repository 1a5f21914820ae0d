"""What each file of tests took when it was last measured (`make durations`): the longest start first."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from tests.properties import ALL_EXAMPLES

SLOW = " (slow)"
"""Behind the path for what `make slow` runs of a file: its slow tests, and all examples of its properties."""
FILE = Path(__file__).with_name("durations.json")
RECORD = os.environ.get("MONJYU_RECORD_DURATIONS") == "1"
_measured: Counter[str] = Counter()


def known_durations() -> dict[str, float]:
    """Seconds of a file's tests with their fixtures, by path."""
    return dict(json.loads(FILE.read_text())) if FILE.exists() else {}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    known = known_durations()
    items.sort(key=lambda item: -known.get(_file(item), 0.0))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _measured[_file(report)] += report.duration  # type: ignore[assignment]


def _file(test: pytest.Item | pytest.TestReport) -> str:
    return test.nodeid.partition("::")[0] + SLOW * ("slow" in test.keywords or ALL_EXAMPLES)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if RECORD and not hasattr(session.config, "workerinput"):
        known = known_durations() | {name: round(seconds, 1) for name, seconds in _measured.items()}
        there = {name: known[name] for name in sorted(known) if (FILE.parent.parent / name.removesuffix(SLOW)).exists()}
        FILE.write_text(json.dumps(there, indent=0) + "\n")
