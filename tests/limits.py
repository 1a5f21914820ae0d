"""A limit for work that might never end, so generous that no machine's speed decides."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
CPU_SECONDS = 60


def ends(work: Callable[[], T], cpu_seconds: float = CPU_SECONDS) -> T:
    """The result of work that takes less than a second or two of this process, and for ever where it is wrong.

    What grows too fast below that is measured by bench/bench_parser_growth.py.
    """

    def stop(*_: object) -> None:
        raise AssertionError(f"not done after {cpu_seconds} CPU seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
