"""Tools that search: `monjyu_search`, `monjyu_survey` and `monjyu_table`."""

import threading
from collections.abc import Callable
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any, TypeVar

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.api.product_requests import SurveyRequest, TableRequest
from monjyu_query.asking.events import Emit
from monjyu_query.asking.request import BasicQuestion, FurtherOptions
from monjyu_query.asking.result import SearchResult
from monjyu_query.digests.result import Digest
from monjyu_query.mcp_server.register import as_tool_errors, takes_fields_of
from monjyu_query.mcp_server.texts import digest_text, given, search_text

# The search of a tool call runs in a thread, reports progress to the client, and ends when the call is cancelled.
T = TypeVar("T")
Work = Callable[[Emit, threading.Event], T]


async def run_heard(monjyu: AsyncMonjyu, context: Context[Any, Any], work: Work[T]) -> T:
    """Return `work(emit, cancel)`; its events `budget`, `subquery` and `row` become progress notifications."""
    results: list[T] = []
    progress = Progress(context)
    async with aclosing(monjyu.heard(lambda emit, cancel: results.append(work(emit, cancel)))) as events:
        async for event in events:
            match event["event"]:
                case "subquery":
                    await progress.report(0.0, None, f"Searching: {event['text']}")
                case "row":
                    message = f"{event['done']} of {event['total']} papers read"
                    await progress.report(float(event["done"]), float(event["total"]), message)
                case "budget":
                    message = f"{event['used']} of {event['total']} passages tested"
                    await progress.report(float(event["used"]), float(event["total"]), message)
    return results[0]


class Progress:
    """Progress notifications with increasing numbers, as the protocol requires."""

    def __init__(self, context: Context[Any, Any]) -> None:
        self._context = context
        self._done = -1.0

    async def report(self, done: float, total: float | None, message: str) -> None:
        if done > self._done:
            self._done = done
            await self._context.report_progress(done, total, message)


Collection = Annotated[
    str | None, Field(description="Name of the collection (see monjyu_status); optional if there is only one.")
]
TopK = Annotated[int, Field(ge=1, le=100, description="The number of passages.")]
MaxPapers = Annotated[
    int | None, Field(ge=1, description="The maximum number of papers; by default 10 in a survey, 50 in a table.")
]
PAPERS = 10
"""The default number of papers in a survey."""


class SearchTools:
    """The tools for searches. Clients see their names, parameters and docstrings."""

    def __init__(self, monjyu: AsyncMonjyu) -> None:
        self._monjyu = monjyu

    @takes_fields_of(BasicQuestion)
    async def monjyu_search(
        self,
        context: Context[Any, Any],
        collection: Collection = None,
        top_k: TopK = 10,
        options: FurtherOptions = FurtherOptions(),  # noqa: B008
        **asked: Any,
    ) -> Annotated[CallToolResult, SearchResult]:
        """Find passages in a collection of papers, with an answer made of cited, verified sentences.

        The answer may abstain if the papers say too little: then report that, and do not fill the gap. Cite sources by
        their [n], title and page.
        """
        blocking, wanted = self._monjyu.blocking, asked | {"top_k": top_k} | options.model_dump(exclude_unset=True)
        with as_tool_errors():
            request = await self._monjyu.run(partial(blocking.request, collection=collection, **wanted))
            result = await run_heard(self._monjyu, context, partial(blocking.ask, request))
        return given(search_text(result), result)

    @takes_fields_of(SurveyRequest, without=("papers",))
    async def monjyu_survey(
        self, context: Context[Any, Any], topic: str, max_papers: MaxPapers = None, **asked: Any
    ) -> Annotated[CallToolResult, Digest]:
        """Show what each paper says on a topic, grouped by theme, with who cites whom and a table of the papers."""
        return await self._digest(
            context, partial(self._monjyu.blocking.survey, topic, papers=max_papers or PAPERS, **asked)
        )

    @takes_fields_of(TableRequest, without=("papers",))
    async def monjyu_table(
        self, context: Context[Any, Any], max_papers: MaxPapers = None, **asked: Any
    ) -> Annotated[CallToolResult, Digest]:
        """Make a table with one row per paper and one column per attribute; every cell has its quote and page."""
        return await self._digest(context, partial(self._monjyu.blocking.table, papers=max_papers, **asked))

    async def _digest(self, context: Context[Any, Any], made: Callable[..., Digest]) -> CallToolResult:
        with as_tool_errors():
            digest = await run_heard(self._monjyu, context, lambda emit, cancel: made(emit=emit, cancel=cancel))
        return given(digest_text(digest), digest)
