"""Tools that search: `monjyu_search`, `monjyu_survey` and `monjyu_table`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field

from monjyu_core.errors import QueryError
from monjyu_core.paper import SectionType
from monjyu_core.settings.search_settings import FusedMode
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.digests.digest_result import Digest
from monjyu_query.mcp_server.register import Tools
from monjyu_query.mcp_server.texts import digest_text, given, search_text
from monjyu_query.mcp_server.tool_errors import as_tool_errors
from monjyu_query.mcp_server.tool_searches import run_heard
from monjyu_query.search.request import Controller, Mode, ResponseType, Sufficiency, Turn
from monjyu_query.search.result import SearchResult

Collection = Annotated[
    str | None, Field(description="Name of the collection (see monjyu_status); may be left out where there is one.")
]
Question = Annotated[str, Field(description="The question in words, in any language of the papers.")]
ModeChoice = Annotated[
    Mode,
    Field(
        description="auto chooses; hybrid is quick and good for facts; lazy explores broad questions step by "
        "step; keyword finds exact words; vector finds meanings; local follows entities (level 2); global "
        "sums up the whole collection (level 3); multi joins several."
    ),
]
Modes = Annotated[
    list[FusedMode], Field(max_length=6, description="Which modes multi joins; else those of the settings.")
]
Rerank = Annotated[
    bool | None,
    Field(description="Whether a model orders the best passages anew, where one is set up (not lazy, local, global)."),
]
ControllerChoice = Annotated[
    Controller,
    Field(
        description="unified asks one mode; progressive begins cheaply and goes on while the answer is thin; "
        "hybrid asks several modes at once."
    ),
]
TopK = Annotated[int, Field(ge=1, le=100, description="How many passages to give.")]
Budget = Annotated[
    Literal["z100", "z500", "z1500"] | int | None,
    Field(
        description="Mode lazy only: how many passages may be tested for relevance. More finds more and takes longer."
    ),
]
MinScore = Annotated[
    float | None,
    Field(
        description="Lowest score of a passage, on the scale of the mode: vector -1 to 1, keyword 0 and up, "
        "hybrid standard deviations above the mean (3 is strong), lazy and global 0 to 10; local and multi "
        "refuse it."
    ),
]
Columns = Annotated[
    list[str],
    Field(
        max_length=12,
        description="What to ask of each paper, in words, as “sample size”; else what studies are compared by.",
    ),
]
History = Annotated[
    list[Turn],
    Field(
        max_length=50,
        description="The conversation before, oldest turn first. A follow-up (and for R? who wrote it?) is written out "
        "from it and shown as resolved_query; a question that stands alone takes nothing.",
    ),
]
WithAnswer = Annotated[bool, Field(description="False gives passages only.")]
YearFrom = Annotated[int | None, Field(description="Only papers of this year or later.")]
YearTo = Annotated[int | None, Field(description="Only papers of this year or earlier.")]
Authors = Annotated[list[str], Field(description="Only papers by one of these.")]
SectionTypes = Annotated[list[SectionType], Field(description="Only such sections.")]
PaperIds = Annotated[list[str], Field(description="Only these papers.")]
Languages = Annotated[list[str], Field(description="Only papers in these, as en or ja.")]
Tags = Annotated[list[str], Field(description="Only papers with one of these tags of an imported library.")]
Shelves = Annotated[list[str], Field(description="Only papers in one of these collections of it, as Thesis/Methods.")]
Academic = Annotated[bool | None, Field(description="Only what was judged an academic paper (true), or none (false).")]
Form = Annotated[
    ResponseType | None,
    Field(description="Form of the answer: two sentences, a paragraph a paper, a list, a table, a report."),
]
MaxLevel = Annotated[int | None, Field(ge=0, le=4, description="Mode lazy only: use nothing of levels above this.")]
MaxCalls = Annotated[int | None, Field(ge=1, description="Mode lazy only: most calls of models.")]
MaxCost = Annotated[float | None, Field(gt=0, description="Mode lazy only: most US dollars that models may cost.")]
Patience = Annotated[
    int | None, Field(ge=1, description="Mode lazy only: communities without a relevant passage before it goes down.")
]
Enough = Annotated[
    Sufficiency | int | None,
    Field(description="Mode lazy only: what ends it early: count, model, off, or a number of relevant sentences."),
]
Subqueries = Annotated[int | None, Field(ge=1, le=10, description="Mode lazy only: most subqueries.")]
Threshold = Annotated[
    float | None, Field(gt=0, le=10, description="Mode lazy only: score from which a sentence is relevant.")
]
Reasons = Annotated[bool, Field(description="Mode lazy only: say why each sentence was judged relevant.")]
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

    async def monjyu_search(
        self,
        query: Question,
        context: Context[Any, Any],
        collection: Collection = None,
        mode: ModeChoice = "auto",
        modes: Modes = [],  # noqa: B006
        controller: ControllerChoice = "unified",
        top_k: TopK = 8,
        budget: Budget = None,
        min_score: MinScore = None,
        rerank: Rerank = None,
        answer: WithAnswer = True,
        history: History = [],  # noqa: B006
        year_from: YearFrom = None,
        year_to: YearTo = None,
        authors: Authors = [],  # noqa: B006
        section_types: SectionTypes = [],  # noqa: B006
        paper_ids: PaperIds = [],  # noqa: B006
        languages: Languages = [],  # noqa: B006
        tags: Tags = [],  # noqa: B006
        shelves: Shelves = [],  # noqa: B006
        academic: Academic = None,
        response_type: Form = None,
        max_level: MaxLevel = None,
        max_calls: MaxCalls = None,
        max_cost_usd: MaxCost = None,
        patience: Patience = None,
        sufficiency: Enough = None,
        subqueries: Subqueries = None,
        threshold: Threshold = None,
        reasons: Reasons = False,
    ) -> Annotated[CallToolResult, SearchResult]:
        """Find passages in a collection of papers, with an answer made of cited, verified sentences.

        The answer may abstain where the papers hold too little: say so then, and do not fill it in. Cite sources by
        their [n], title and page.
        """
        filters: dict[str, Any] = {"year_from": year_from, "year_to": year_to, "authors": authors}
        filters |= {"section_types": section_types, "paper_ids": paper_ids, "languages": languages}
        filters |= {"tags": tags, "shelves": shelves, "academic": academic}
        wanted: dict[str, Any] = {"mode": mode, "controller": controller, "top_k": top_k, "budget": budget}
        wanted |= {"min_score": min_score, "answer": answer, "filters": filters, "history": history}
        wanted |= {"response_type": response_type, "max_level": max_level, "max_calls": max_calls}
        wanted |= {"max_cost_usd": max_cost_usd, "patience": patience, "sufficiency": sufficiency}
        wanted |= {"modes": modes or None, "rerank": rerank}
        wanted |= {"subqueries": subqueries, "threshold": threshold, "reasons": reasons}
        blocking = self._monjyu.blocking
        with as_tool_errors():
            request = await self._monjyu.run(partial(blocking.request, query, collection, **wanted))
            result = await run_heard(self._monjyu, context, partial(blocking.ask, request))
        return given(search_text(result), result)

    async def monjyu_survey(
        self,
        topic: Topic,
        context: Context[Any, Any],
        collection: Collection = None,
        max_papers: MaxPapers = None,
        budget: SurveyBudget = None,
        year_from: YearFrom = None,
        year_to: YearTo = None,
        papers: Papers = None,
    ) -> Annotated[CallToolResult, Digest]:
        """What each paper says on a topic, grouped by theme, with who cites whom and a table of the papers."""
        filters = {"year_from": year_from, "year_to": year_to}
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
        year_from: YearFrom = None,
        year_to: YearTo = None,
        max_papers: Annotated[int | None, Field(ge=1, le=200, description="At most so many papers.")] = None,
    ) -> Annotated[CallToolResult, Digest]:
        """A row a paper, a column for each thing asked of all of them; every cell with its quote and page."""
        filters = {"year_from": year_from, "year_to": year_to}
        of = partial(self._monjyu.blocking.table, columns, collection, paper_ids=paper_ids, about=about)
        table = partial(of, filters=filters, papers=max_papers)
        with as_tool_errors():
            digest = await run_heard(self._monjyu, context, lambda emit, cancel: table(emit=emit, cancel=cancel))
        return given(digest_text(digest), digest)
