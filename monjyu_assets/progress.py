"""Who hears of the progress of a run: the command line while it runs one in its own process, else Dagster's log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from logging import Logger

from monjyu_assets.stages.common import Progress

_installed: list[Progress] = []
LOG_SECONDS = 5.0


@contextmanager
def reporting_to(progress: Progress) -> Iterator[None]:
    """Runs of this process report to `progress` meanwhile."""
    _installed.append(progress)
    try:
        yield
    finally:
        _installed.pop()


def reporter(log: Logger) -> Progress:
    """The installed reporter, else one that logs now and then."""
    if _installed:
        return _installed[-1]
    last = time.monotonic()

    def to_log(stage: str, done: int, total: int) -> None:
        nonlocal last
        if total and (done == total or time.monotonic() - last > LOG_SECONDS):
            last = time.monotonic()
            log.info("%s: %d of %d", stage, done, total)

    return to_log
