"""Tools that search: `monjyu_search`, `monjyu_survey` and `monjyu_table`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.api.product_requests import SurveyRequest, TableRequest
from monjyu_query.asking.request import BasicQuestion, FurtherOptions
from monjyu_query.asking.result import SearchResult
from monjyu_query.digests.result import Digest
from monjyu_query.mcp_server.register import takes_fields_of
from monjyu_query.mcp_server.texts import digest_text, given, search_text
from monjyu_query.mcp_server.tool_errors import as_tool_errors
from monjyu_query.mcp_server.tool_searches import run_heard

Collection = Annotated[
    str | None, Field(description="Name of the collection (see monjyu_status); optional if there is only one.")
]
TopK = Annotated[int, Field(ge=1, le=100, description="The number of passages.")]
MaxPapers = Annotated[
    int | None, Field(ge=1, description="The limit of papers; by default 10 in a survey, 50 in a table.")
]
PAPERS = 10
"""Of a survey, where no number is asked for."""


class SearchTools:
    """The tools; their names, parameters and docstrings are what clients see."""

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

        The answer may abstain where the papers hold too little: say so then, and do not fill it in. Cite sources by
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
        """What each paper says on a topic, grouped by theme, with who cites whom and a table of the papers."""
        return await self._digest(
            context, partial(self._monjyu.blocking.survey, topic, papers=max_papers or PAPERS, **asked)
        )

    @takes_fields_of(TableRequest, without=("papers",))
    async def monjyu_table(
        self, context: Context[Any, Any], max_papers: MaxPapers = None, **asked: Any
    ) -> Annotated[CallToolResult, Digest]:
        """A row a paper, a column for each thing asked of all of them; every cell with its quote and page."""
        return await self._digest(context, partial(self._monjyu.blocking.table, papers=max_papers, **asked))

    async def _digest(self, context: Context[Any, Any], made: Callable[..., Digest]) -> CallToolResult:
        with as_tool_errors():
            digest = await run_heard(self._monjyu, context, lambda emit, cancel: made(emit=emit, cancel=cancel))
        return given(digest_text(digest), digest)
