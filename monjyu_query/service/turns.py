"""Searches take turns: so many run at once, so many may wait, and one more is told to come back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar

from monjyu_query.service.errors import Busy

T = TypeVar("T")


class Turns:
    """`running` places, each with a thread; `waiting` more in line, first come first served."""

    def __init__(self, running: int, waiting: int) -> None:
        self._places = asyncio.Semaphore(running)
        self._most = running + waiting
        self._threads = ThreadPoolExecutor(running, thread_name_prefix="search")
        self.inside = 0

    @property
    def full(self) -> bool:
        return self.inside >= self._most

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a place and hold it. Busy where too many wait."""
        if self.full:
            raise Busy("Too many searches wait.", "Ask again in a few seconds.", {"Retry-After": "5"})
        self.inside += 1
        try:
            async with self._places:
                yield
        finally:
            self.inside -= 1

    async def run(self, work: Callable[[], T]) -> T:
        """The result of `work` in one of the threads; called within a turn."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
