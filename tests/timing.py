"""Limits of time that hold on a busy machine.

CPU seconds of this process are counted where the work is done in it: others that wait for the same cores change them
little. A try that takes too long is made again, twice; what is slow by itself is slow each time.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
Clock = Callable[[], float]
TRIES = 3


def is_traced() -> bool:
    """Whether coverage (or a debugger) looks at every line, which makes Python code several times slower."""
    monitoring = getattr(sys, "monitoring", None)  # what coverage uses from Python 3.12 on
    return sys.gettrace() is not None or (monitoring is not None and any(map(monitoring.get_tool, range(6))))


def within(limit: float, work: Callable[[], T], clock: Clock = time.process_time) -> T:
    """The result of `work`, which must take less than `limit` seconds in one of three tries.

    It must be something that nothing remembers: a second try would find the result of the first. Under a tracer the
    work is done once and its time is not judged.
    """
    taken = []
    for _ in range(TRIES):
        result, seconds = timed(work, clock)
        taken.append(round(seconds, 2))
        if seconds < limit or is_traced():
            return result
    raise AssertionError(f"took {taken} seconds of {clock.__name__} ({limit} at most)")


def seconds(work: Callable[[], object], clock: Clock = time.process_time) -> float:
    """How long the work takes."""
    return timed(work, clock)[1]


def timed(work: Callable[[], T], clock: Clock) -> tuple[T, float]:
    """Result and seconds, without the garbage collector's: its share grows with all that earlier tests have loaded."""
    gc.disable()
    began = clock()
    try:
        result = work()
        return result, clock() - began
    finally:
        gc.enable()
