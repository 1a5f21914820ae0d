"""Tools that search: `monjyu_search` and `monjyu_survey`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from monjyu_core.errors import QueryError
from monjyu_core.paper import SectionType
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.digests.digest_result import Digest
from monjyu_query.mcp_server.register import Tools
from monjyu_query.mcp_server.texts import digest_text, given, search_text
from monjyu_query.mcp_server.tool_errors import as_tool_errors
from monjyu_query.mcp_server.tool_searches import run_heard
from monjyu_query.search.request import Controller, Mode
from monjyu_query.search.result import SearchResult

Collection = Annotated[
    str | None, Field(description="Name of the collection (see monjyu_status); may be left out where there is one.")
]
Budget = Annotated[
    Literal["z100", "z500", "z1500"] | int | None,
    Field(
        description="Mode lazy only: how many passages may be tested for relevance. More finds more and takes longer."
    ),
]

PAPERS = 10
"""Of a survey, where no number is asked for."""


def add_search_tools(tools: Tools, monjyu: AsyncMonjyu) -> None:
    """Register them."""

    @tools.add("Search papers")
    async def monjyu_search(
        query: Annotated[str, Field(description="The question in words, in any language of the papers.")],
        context: Context[Any, Any],
        collection: Collection = None,
        mode: Annotated[
            Mode,
            Field(
                description="auto chooses; hybrid is quick and good for facts; lazy explores broad questions step by "
                "step; keyword finds exact words; vector finds meanings; local follows entities (level 2); global "
                "sums up the whole collection (level 3); multi joins several."
            ),
        ] = "auto",
        controller: Annotated[
            Controller,
            Field(
                description="unified asks one mode; progressive begins cheaply and goes on while the answer is thin; "
                "hybrid asks several modes at once."
            ),
        ] = "unified",
        top_k: Annotated[int, Field(ge=1, le=100, description="How many passages to give.")] = 8,
        budget: Budget = None,
        min_score: Annotated[
            float | None,
            Field(
                description="Lowest score of a passage, on the scale of the mode: vector -1 to 1, keyword 0 and up, "
                "hybrid standard deviations above the mean (3 is strong), lazy and global 0 to 10; local and multi "
                "refuse it."
            ),
        ] = None,
        answer: Annotated[bool, Field(description="False gives passages only.")] = True,
        year_from: Annotated[int | None, Field(description="Only papers of this year or later.")] = None,
        year_to: Annotated[int | None, Field(description="Only papers of this year or earlier.")] = None,
        authors: Annotated[list[str], Field(description="Only papers by one of these.")] = [],  # noqa: B006
        section_types: Annotated[list[SectionType], Field(description="Only such sections.")] = [],  # noqa: B006
        paper_ids: Annotated[list[str], Field(description="Only these papers.")] = [],  # noqa: B006
        languages: Annotated[list[str], Field(description="Only papers in these, as en or ja.")] = [],  # noqa: B006
    ) -> Annotated[CallToolResult, SearchResult]:
        """Find passages in a collection of papers, with an answer made of cited, verified sentences.

        The answer may abstain where the papers hold too little: say so then, and do not fill it in. Cite sources by
        their [n], title and page.
        """
        filters: dict[str, Any] = {"year_from": year_from, "year_to": year_to, "authors": authors}
        filters |= {"section_types": section_types, "paper_ids": paper_ids, "languages": languages}
        wanted: dict[str, Any] = {
            "mode": mode,
            "controller": controller,
            "top_k": top_k,
            "budget": budget,
            "min_score": min_score,
            "answer": answer,
            "filters": filters,
        }
        with as_tool_errors():
            request = await monjyu.run(partial(monjyu.blocking.request, query, collection, **wanted))
            result = await run_heard(monjyu, context, lambda emit, cancel: monjyu.blocking.ask(request, emit, cancel))
        return given(search_text(result), result)

    @tools.add("Survey a topic")
    async def monjyu_survey(
        topic: Annotated[str, Field(description="The topic in words.")],
        context: Context[Any, Any],
        collection: Collection = None,
        max_papers: Annotated[
            int | None, Field(ge=1, le=30, description="At most so many papers; 10 if left out.")
        ] = None,
        budget: Annotated[
            int | None,
            Field(ge=1, description="Find them by lazy search with so many relevance tests, as 100; else in one pass."),
        ] = None,
        year_from: Annotated[int | None, Field(description="Only papers of this year or later.")] = None,
        year_to: Annotated[int | None, Field(description="Only papers of this year or earlier.")] = None,
        papers: Annotated[int | None, Field(ge=1, le=30, description="Another name of max_papers.")] = None,
    ) -> Annotated[CallToolResult, Digest]:
        """An overview of a topic, then what each paper says on it, grouped by theme, with who cites whom."""
        filters = {"year_from": year_from, "year_to": year_to}
        most = max_papers or papers or PAPERS
        survey = partial(monjyu.blocking.survey, topic, collection, papers=most, budget=budget, filters=filters)
        with as_tool_errors():
            if max_papers and papers and max_papers != papers:
                raise QueryError("max_papers and papers mean the same.", "Give one of them.")
            digest = await run_heard(monjyu, context, lambda emit, cancel: survey(emit=emit, cancel=cancel))
        return given(digest_text(digest), digest)
