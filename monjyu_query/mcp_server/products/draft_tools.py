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
        """Check the citations of a draft: for each citing sentence the nearest passages of the cited paper, and the
        figures, names and quotes that occur nowhere in it. With a model for this, also a verdict;
        otherwise read the passages."""
        with as_tool_errors():
            checked = await self._monjyu.check_citations(text, collection, format=format, bibliography=bibliography)
        return given(f"{QUOTED}\n\n{as_text(checked)}", checked)
