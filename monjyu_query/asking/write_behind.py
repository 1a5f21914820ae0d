"""Writing in the background: no answer waits for a disk, and what comes close together is one write."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class WriteBehind(Generic[T]):
    """Gives what was added to `write`, in order, in a thread of its own. No more than `most` wait: the oldest go."""

    def __init__(self, write: Callable[[list[T]], None], name: str, most: int, pause: float = 0.0) -> None:
        """`pause`: seconds in which more is waited for, after the first; a write costs much more than what is in it."""
        self._write = write
        self._pause = pause
        self._waiting: deque[T] = deque(maxlen=most)
        self._lock = threading.Lock()
        self._hurry = threading.Event()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix=name)

    def add(self, item: T) -> None:
        with self._lock:
            first = not self._waiting
            self._waiting.append(item)
        if first:
            self._writer.submit(self._take)

    def flush(self) -> None:
        """Wait until all that was added so far is written."""
        self._hurry.set()
        self._writer.submit(self._hurry.clear).result()

    def close(self) -> None:
        self._hurry.set()
        self._writer.shutdown()

    def _take(self) -> None:
        if self._pause:
            self._hurry.wait(self._pause)
        with self._lock:
            items = list(self._waiting)
            self._waiting.clear()
        self._write(items)
