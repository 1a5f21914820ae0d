"""Writes in the background, so that no answer waits for a disk and items that arrive close together are one write."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")


class WriteBehind(Generic[T]):
    """Passes items to `write`, in order, in its own thread. At most `most` wait; then the oldest are dropped."""

    def __init__(self, write: Callable[[list[T]], None], name: str, most: int, pause: float = 0.0) -> None:
        """`pause`: seconds to wait for more items after the first, because a write costs much more than its items."""
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
        """Wait until everything added so far is written."""
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
