"""One event loop a process, in a thread of its own, for code that is not asynchronous: connections and limits are then
shared by all threads."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from threading import Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")

_loop: asyncio.AbstractEventLoop | None = None
_lock = Lock()


def run(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, run on that loop. An interrupt of the waiting thread (Ctrl-C) cancels it there.

    Not to be called from a coroutine: it would hold up the caller's loop.
    """
    future = asyncio.run_coroutine_threadsafe(work, _running_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            Thread(target=_loop.run_forever, name="models", daemon=True).start()
        return _loop


def _forget() -> None:
    """A forked child has the parent's loop without its thread: it must make its own."""
    global _loop, _lock
    _loop, _lock = None, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
