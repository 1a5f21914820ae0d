"""Ctrl-C ends a command that indexes, whatever it finds at work.

Python raises KeyboardInterrupt wherever the main thread stands. Where that is inside a library, it can be lost (in a
finalizer or callback, whose exceptions Python drops), leave a lock held for good, or come out as another error.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from monjyu_core.cli import INTERRUPTED, is_program, tell_interrupted

GRACE = 1.5
"""Seconds that the command has to end by itself. What it has written is safe: each part is whole or not there."""
SHOW_CURSOR = "\033[?25h"
"""For terminals: a progress bar hides the cursor."""


@contextmanager
def ended_by_interrupt(grace: float = GRACE) -> Iterator[None]:
    """After Ctrl-C in here the process ends within `grace` seconds, and an error is told as the interruption that
    caused it. Where the process is not the command's own, or this not its main thread, which alone gets signals, this
    does nothing."""
    if not is_program() or threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    interrupted = threading.Event()

    def watch() -> None:
        while numbers := os.read(reading, 64):
            if signal.SIGINT in numbers:
                interrupted.set()
                time.sleep(grace)
                _end_now()

    watcher = threading.Thread(target=watch, name="interrupts", daemon=True)
    watcher.start()
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)  # written to before any handler of Python runs
    try:
        yield
    except Exception as error:
        _stop_watching(writing, before)
        watcher.join(grace / 10)  # it ends at once, unless it has read a signal
        if interrupted.is_set():
            raise KeyboardInterrupt from error
        raise
    except KeyboardInterrupt:
        raise  # what closes after this, too, has only the grace
    else:
        _stop_watching(writing, before)


def _stop_watching(writing: int, before: int) -> None:
    signal.set_wakeup_fd(before)
    os.close(writing)


def _end_now() -> None:
    tell_interrupted()
    if sys.stderr.isatty():
        sys.stderr.write(SHOW_CURSOR)
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(INTERRUPTED)
