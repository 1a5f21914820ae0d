"""Streams the events of a search as server-sent events."""

import asyncio
import contextlib
import json
import logging
import threading
from collections.abc import AsyncIterator

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

from monjyu_core.values import Values
from monjyu_query.asking.events import derived_events, last_events
from monjyu_query.service.searches.cancellation import Stoppable
from monjyu_query.service.searches.running_search import CachedResult, Search
from monjyu_query.service.server.error_responses import body_of, described

PING_SECONDS = 15.0

_log = logging.getLogger(__name__)


async def stream_events(found: CachedResult | Search, request_id: str, stoppable: Stoppable) -> AsyncIterator[bytes]:
    """Yield the server-sent events of a search as they occur, with keep-alive comments in between. Closing the stream
    early cancels the search; stopping the search by its id yields its result so far."""
    if isinstance(found, CachedResult):
        for event in derived_events(json.loads(found.content)):
            yield encoded(event)
        return
    stoppable.listen()
    running = Running(found, stoppable.cancel)
    try:
        async for heard in running.events():
            yield KEEPALIVE_COMMENT if heard is None else encoded(heard)
        for event in last_events(json.loads(await running.result())):
            yield encoded(event)
    except Exception as error:
        _log.info("Stream %s: %s", request_id, error)
        _, kind, message, _ = described(error)
        yield encoded({"event": "error", **body_of(kind, message, request_id)})
    finally:
        running.leave()
        stoppable.leave()


def encoded(event: Values) -> bytes:
    return format_sse_event(event=str(event["event"]), data_str=json.dumps(event, ensure_ascii=False))


class Running:
    """A search running in its thread, observed from the event loop."""

    def __init__(self, search: Search, cancel: threading.Event | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._heard: asyncio.Queue[Values | None] = asyncio.Queue()
        self._task = asyncio.create_task(search.run(self._hear, cancel))
        self._task.add_done_callback(self._end)

    async def events(self) -> AsyncIterator[Values | None]:
        """Yield events until the search ends, and None after `PING_SECONDS` without an event."""
        while True:
            event: Values | None = None
            with contextlib.suppress(TimeoutError):
                event = await asyncio.wait_for(self._heard.get(), PING_SECONDS)
                if event is None:
                    return
            yield event

    async def result(self) -> bytes:
        return await self._task

    def leave(self) -> None:
        """End the search, or remove it from the queue."""
        self._task.cancel()

    def _end(self, task: asyncio.Task[bytes]) -> None:
        if not task.cancelled():
            task.exception()  # asyncio logs errors that nobody retrieves, as after the client has disconnected
        self._heard.put_nowait(None)

    def _hear(self, event: Values) -> None:
        self._loop.call_soon_threadsafe(self._heard.put_nowait, event)
