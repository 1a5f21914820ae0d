"""One event loop in a thread of its own, for LanceDB.

LanceDB is asynchronous inside; each of its blocking calls costs two switches of threads. From one coroutine eight
look-ups take a quarter of the time, and a caller may do something else until the future is done.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

_lock = threading.Lock()
_loops: list[asyncio.AbstractEventLoop] = []


def later(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Begin the work and return at once."""
    return asyncio.run_coroutine_threadsafe(work, _loop())


def now(work: Coroutine[Any, Any, T]) -> T:
    """Do the work and wait for it. Never from within the loop."""
    return later(work).result()


def _loop() -> asyncio.AbstractEventLoop:
    with _lock:
        if not _loops:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="lance", daemon=True).start()
            _loops.append(loop)
        return _loops[0]
