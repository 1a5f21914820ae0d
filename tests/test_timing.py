"""The limits of time that other tests set: one slow try is forgiven, slow work is not."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests import timing
from tests.timing import within


def busy(seconds: float) -> str:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return "done"


def test_one_slow_try_is_forgiven() -> None:
    tries: Iterator[float] = iter((0.2, 0.0))
    assert within(0.1, lambda: busy(next(tries))) == "done"


def test_slow_work_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "is_traced", lambda: False)
    with pytest.raises(AssertionError, match=r"took \[0.2.*, 0.2.*, 0.2.*\] .*process_time \(0.1 at most\)"):
        within(0.1, lambda: busy(0.2))


def test_waiting_is_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "is_traced", lambda: False)
    within(0.05, lambda: time.sleep(0.1))
    with pytest.raises(AssertionError):
        within(0.05, lambda: time.sleep(0.1), time.monotonic)


def test_a_tracer_is_seen_and_judges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "is_traced", lambda: True)
    assert within(0.0, lambda: busy(0.01)) == "done"
