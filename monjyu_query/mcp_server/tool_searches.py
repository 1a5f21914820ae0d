"""Searches of a tool call: run in a thread, with progress for the client, ended when the call is cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from mcp.server.mcpserver import Context

from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.asking.events import Emit

T = TypeVar("T")
Work = Callable[[Emit, threading.Event], T]


async def run_heard(monjyu: AsyncMonjyu, context: Context[Any, Any], work: Work[T]) -> T:
    """The result of `work(emit, cancel)`; its events of budgets, subqueries and rows become progress notifications."""
    loop, cancel = asyncio.get_running_loop(), threading.Event()
    heard: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    def emit(event: dict[str, Any] | None) -> None:
        if not cancel.is_set() and (event is None or event["event"] in ("budget", "subquery", "row")):
            loop.call_soon_threadsafe(heard.put_nowait, event)

    def run() -> T:
        try:
            return work(emit, cancel)
        finally:
            emit(None)

    running = asyncio.ensure_future(monjyu.run(run))
    progress = _Progress(context)
    try:
        while (event := await heard.get()) is not None:
            await progress.tell(event)
        return await running
    finally:
        cancel.set()
        running.cancel()  # one that still waits for a thread is never begun


class _Progress:
    """Progress notifications with rising numbers, as the protocol demands."""

    def __init__(self, context: Context[Any, Any]) -> None:
        self._context = context
        self._done = -1.0

    async def tell(self, event: dict[str, Any]) -> None:
        if event["event"] == "subquery":
            await self._report(0.0, None, f"Searching: {event['text']}")
        elif event["event"] == "row":
            message = f"{event['done']} of {event['total']} papers read"
            await self._report(float(event["done"]), float(event["total"]), message)
        else:
            message = f"{event['used']} of {event['total']} passages tested"
            await self._report(float(event["used"]), float(event["total"]), message)

    async def _report(self, done: float, total: float | None, message: str) -> None:
        if done > self._done:
            self._done = done
            await self._context.report_progress(done, total, message)
