"""With MONJYU_NO_SKIP=1 (CI), a test skipped only because something is not installed fails instead."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

AVOIDABLE = ("apt-get install", "make validator")
"""A skip reason that can be mended by installing something says so with one of these commands."""


def _fail_avoidable_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if os.environ.get("MONJYU_NO_SKIP") != "1" or not report.skipped or not isinstance(report.longrepr, tuple):
        return
    reason = report.longrepr[2]
    if any(command in reason for command in AVOIDABLE):
        report.outcome = "failed"
        report.longrepr = f"No test may be left out here: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _fail_avoidable_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail_avoidable_skip(report)
    return report
