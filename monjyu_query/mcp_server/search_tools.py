"""Tools that search: `monjyu_search`, `monjyu_survey` and `monjyu_table`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from monjyu_core.errors import QueryError
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.digests.digest_result import Digest
from monjyu_query.mcp_server.register import Tools, takes_fields_of
from monjyu_query.mcp_server.texts import digest_text, given, search_text
from monjyu_query.mcp_server.tool_errors import as_tool_errors
from monjyu_query.mcp_server.tool_searches import run_heard
from monjyu_query.search.request import BasicQuestion, Filters, FurtherOptions
from monjyu_query.search.result import SearchResult

Collection = Annotated[
    str | None, Field(description="Name of the collection (see monjyu_status); may be left out where there is one.")
]
TopK = Annotated[int, Field(ge=1, le=100, description="The number of passages.")]
Restriction = Annotated[Filters, Field(description="What the papers must be.")]
Columns = Annotated[
    list[str],
    Field(
        max_length=12,
        description="What to ask of each paper, in words, as “sample size”; else what studies are compared by.",
    ),
]
Topic = Annotated[str, Field(description="The topic in words.")]
MaxPapers = Annotated[int | None, Field(ge=1, le=30, description="At most so many papers; 10 if left out.")]
SurveyBudget = Annotated[
    int | None,
    Field(ge=1, description="Find them by lazy search with so many relevance tests, as 100; else in one pass."),
]
Papers = Annotated[int | None, Field(ge=1, le=30, description="Another name of max_papers.")]

PAPERS = 10
"""Of a survey, where no number is asked for."""


def add_search_tools(tools: Tools, monjyu: AsyncMonjyu) -> None:
    """Register them."""
    searches = SearchTools(monjyu)
    tools.add("Search papers", searches.monjyu_search)
    tools.add("Survey a topic", searches.monjyu_survey)
    tools.add("Make a study table", searches.monjyu_table)


class SearchTools:
    """The tools; their names, parameters and docstrings are what clients see."""

    def __init__(self, monjyu: AsyncMonjyu) -> None:
        self._monjyu = monjyu

    @takes_fields_of(BasicQuestion)
    async def monjyu_search(
        self,
        context: Context[Any, Any],
        collection: Collection = None,
        top_k: TopK = 8,
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

    async def monjyu_survey(
        self,
        topic: Topic,
        context: Context[Any, Any],
        collection: Collection = None,
        max_papers: MaxPapers = None,
        budget: SurveyBudget = None,
        filters: Restriction = Filters(),  # noqa: B008
        papers: Papers = None,
    ) -> Annotated[CallToolResult, Digest]:
        """What each paper says on a topic, grouped by theme, with who cites whom and a table of the papers."""
        most = max_papers or papers or PAPERS
        survey = partial(self._monjyu.blocking.survey, topic, collection, papers=most, budget=budget, filters=filters)
        with as_tool_errors():
            if max_papers and papers and max_papers != papers:
                raise QueryError("max_papers and papers mean the same.", "Give one of them.")
            digest = await run_heard(self._monjyu, context, lambda emit, cancel: survey(emit=emit, cancel=cancel))
        return given(digest_text(digest), digest)

    async def monjyu_table(
        self,
        context: Context[Any, Any],
        collection: Collection = None,
        columns: Columns = [],  # noqa: B006
        paper_ids: Annotated[list[str], Field(max_length=200, description="Only these papers.")] = [],  # noqa: B006
        about: Annotated[str, Field(description="Only the papers that say most on this topic.")] = "",
        filters: Restriction = Filters(),  # noqa: B008
        max_papers: Annotated[int | None, Field(ge=1, le=200, description="At most so many papers.")] = None,
    ) -> Annotated[CallToolResult, Digest]:
        """A row a paper, a column for each thing asked of all of them; every cell with its quote and page."""
        of = partial(self._monjyu.blocking.table, columns, collection, paper_ids=paper_ids, about=about)
        table = partial(of, filters=filters, papers=max_papers)
        with as_tool_errors():
            digest = await run_heard(self._monjyu, context, lambda emit, cancel: table(emit=emit, cancel=cancel))
        return given(digest_text(digest), digest)
