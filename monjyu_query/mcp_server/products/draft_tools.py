"""A tool about drafts: `monjyu_check_citations`."""

from __future__ import annotations

from typing import Annotated, Literal

from mcp.types import CallToolResult
from pydantic import Field

from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.drafts.checked import CheckedDraft
from monjyu_query.drafts.draft_text import as_text
from monjyu_query.mcp_server.register import Tools
from monjyu_query.mcp_server.search_tools import Collection
from monjyu_query.mcp_server.texts import QUOTED, given
from monjyu_query.mcp_server.tool_errors import as_tool_errors

MOST_TEXT = 200_000
"""Characters of a draft, and of its bibliography."""
Text = Annotated[str, Field(max_length=MOST_TEXT, description="The draft, or sentences of it, with their citations.")]


def add_draft_tools(tools: Tools, monjyu: AsyncMonjyu) -> None:
    """Register them."""
    tools.add("Check the citations of a draft", DraftTools(monjyu).monjyu_check_citations)


class DraftTools:
    """The tools; their names, parameters and docstrings are what clients see."""

    def __init__(self, monjyu: AsyncMonjyu) -> None:
        self._monjyu = monjyu

    async def monjyu_check_citations(
        self,
        text: Text,
        collection: Collection = None,
        format: Annotated[Literal["markdown", "latex", "text"], Field(description="Its format.")] = "markdown",
        bibliography: Annotated[
            str, Field(max_length=MOST_TEXT, description="The .bib file (or CSL JSON) of its keys.")
        ] = "",
    ) -> Annotated[CallToolResult, CheckedDraft]:
        """What the papers that a draft cites have on it: each citing sentence with the nearest passages of the cited
        paper, and its figures, names and quotes that stand nowhere in it; or its paper is not in the collection. With a
        model for it, whether the paper says so; else it is not judged: read the passages."""
        with as_tool_errors():
            checked = await self._monjyu.check_citations(text, collection, format=format, bibliography=bibliography)
        return given(f"{QUOTED}\n\n{as_text(checked)}", checked)
