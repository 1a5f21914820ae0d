"""`AsyncMonjyu`: the Python API as coroutines. Searches run in threads, so they never block the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, Unpack

from monjyu_query.api.facade import Event, Monjyu
from monjyu_query.asking.events import heard_by, last_events

if TYPE_CHECKING:
    from types import TracebackType

    from monjyu_query.asking.events import Emit, Listeners
    from monjyu_query.asking.request import SearchOptions, SearchRequest
    from monjyu_query.asking.result import SearchResult

T = TypeVar("T")
P = ParamSpec("P")

THREADS = 16
"""The maximum number of concurrent requests of one object; further ones wait."""


def _in_a_thread(
    method: Callable[Concatenate[Monjyu, P], T],
) -> Callable[Concatenate[AsyncMonjyu, P], Coroutine[Any, Any, T]]:
    """Return the method as a coroutine with the same parameters (except `emit` and `cancel`), types and docstring
    (except the examples). A method with the parameter `cancel` ends when its task is cancelled."""
    signature = inspect.signature(method)
    cancellable = "cancel" in signature.parameters

    @wraps(method)
    async def call(self: AsyncMonjyu, /, *arguments: P.args, **named: P.kwargs) -> T:
        cancel = threading.Event()
        more: Any = {"cancel": cancel} if cancellable else {}
        try:
            return await self.run(partial(method, self.blocking, *arguments, **named, **more))
        finally:
            cancel.set()

    call.__doc__ = (method.__doc__ or "").partition(">>>")[0].rstrip()
    kept = [one for name, one in signature.parameters.items() if name not in ("emit", "cancel")]
    call.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
    return call


class AsyncMonjyu:
    """The API of `Monjyu` as coroutines, with the same names, arguments, results and errors. A cancelled search stops
    at its next test.

    >>> import asyncio
    >>> from monjyu_query import AsyncMonjyu
    >>> async def ask():
    ...     async with AsyncMonjyu(data) as monjyu:
    ...         questions = ("What is a reader lease?", "What is checked of a quotation?")
    ...         return await asyncio.gather(*(monjyu.search(question) for question in questions))
    >>> [result.status for result in asyncio.run(ask())]
    ['complete', 'complete']
    """

    def __init__(self, data: str | Path | None = None) -> None:
        self._blocking = Monjyu(data)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="monjyu")

    @property
    def blocking(self) -> Monjyu:
        """The object whose methods the coroutines call in threads."""
        return self._blocking

    async def __aenter__(self) -> AsyncMonjyu:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Release snapshots and threads."""
        await self.run(self.blocking.close)
        self._threads.shutdown(wait=False)

    collections = _in_a_thread(Monjyu.collections)
    papers = _in_a_thread(Monjyu.papers)
    paper = _in_a_thread(Monjyu.paper)
    citations = _in_a_thread(Monjyu.citations)
    missing_works = _in_a_thread(Monjyu.missing_works)
    top_phrases = _in_a_thread(Monjyu.top_phrases)
    co_occurrences = _in_a_thread(Monjyu.co_occurrences)
    embed = _in_a_thread(Monjyu.embed)
    search_by_vector = _in_a_thread(Monjyu.search_by_vector)
    summarize = _in_a_thread(Monjyu.summarize)
    compare = _in_a_thread(Monjyu.compare)
    locate = _in_a_thread(Monjyu.locate)
    check_citations = _in_a_thread(Monjyu.check_citations)
    tensions = _in_a_thread(Monjyu.tensions)
    survey = _in_a_thread(Monjyu.survey)
    table = _in_a_thread(Monjyu.table)

    async def search(
        self,
        query: str,
        collection: str | None = None,
        *,
        on_event: Listeners | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchResult:
        """Return passages and a cited answer. `on_event` is called in the event loop."""
        return await self.ask(await self.run(partial(self.blocking.request, query, collection, **options)), on_event)

    async def stream(
        self, query: str, collection: str | None = None, **options: Unpack[SearchOptions]
    ) -> AsyncIterator[Event]:
        """Yield the events of a search as it runs; the last, `done`, contains the whole result. Closing the iterator
        cancels the search.

        >>> async def watch():
        ...     async with AsyncMonjyu(data) as monjyu:
        ...         return [event async for event in monjyu.stream("How is a budget spent?", mode="lazy", budget=5)]
        >>> asyncio.run(watch())[-1]["event"]
        'done'
        """
        request = await self.run(partial(self.blocking.request, query, collection, **options))
        async for event in self.events(request):
            yield event

    async def ask(self, request: SearchRequest, on_event: Listeners | None = None) -> SearchResult:
        """Return the result of a request. `on_event` is called in the event loop."""
        cancel, loop, tell = threading.Event(), asyncio.get_running_loop(), heard_by(on_event)

        def hear(event: Event) -> None:
            if tell is not None and not cancel.is_set():
                loop.call_soon_threadsafe(tell, event)

        try:
            return await self.run(partial(self.blocking.ask, request, hear if tell else None, cancel))
        finally:
            cancel.set()

    async def events(self, request: SearchRequest) -> AsyncIterator[Event]:
        """Yield the events of a request."""

        def ask(emit: Emit, cancel: threading.Event) -> None:
            for event in last_events(self.blocking.ask(request, emit, cancel).model_dump(mode="json")):
                emit(event)

        async with aclosing(self.heard(ask)) as events:
            async for event in events:
                yield event

    async def heard(self, work: Callable[[Emit, threading.Event], object]) -> AsyncGenerator[Event, None]:
        """Yield the events that `work(emit, cancel)` emits in one of the threads. Closing the iterator cancels it."""
        loop, cancel = asyncio.get_running_loop(), threading.Event()
        found: asyncio.Queue[Event | None] = asyncio.Queue()

        def emit(event: Event | None) -> None:
            if not cancel.is_set():  # otherwise no one listens, and the loop may be closed
                loop.call_soon_threadsafe(found.put_nowait, event)

        def run() -> None:
            try:
                work(emit, cancel)
            finally:
                emit(None)

        running = asyncio.ensure_future(self.run(run))
        try:
            while (event := await found.get()) is not None:
                yield event
            await running
        finally:
            cancel.set()
            running.cancel()  # work that still waits for a thread never starts

    async def run(self, work: Callable[[], T]) -> T:
        """Run blocking work in one of the threads, with the caller's context variables, and return its result."""
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: context.run(work))
