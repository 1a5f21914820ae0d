"""The tool `monjyu_tensions`."""

from __future__ import annotations

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from monjyu_query.answers.render import quotable
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.digests.digest_result import source_line
from monjyu_query.mcp_server.register import Tools
from monjyu_query.mcp_server.search_tools import Collection
from monjyu_query.mcp_server.texts import QUOTED, given
from monjyu_query.mcp_server.tool_errors import as_tool_errors
from monjyu_query.tensions.tension_list import LONGEST_CONCEPT, Tensions


def add_tension_tools(tools: Tools, monjyu: AsyncMonjyu) -> None:
    """Register it."""
    tools.add("Find where papers contradict each other", TensionTools(monjyu).monjyu_tensions)


class TensionTools:
    """The tool; its name, parameters and docstring are what clients see."""

    def __init__(self, monjyu: AsyncMonjyu) -> None:
        self._monjyu = monjyu

    async def monjyu_tensions(
        self,
        collection: Collection = None,
        concept: Annotated[
            str, Field(max_length=LONGEST_CONCEPT, description="Words that all must be there; nothing for all.")
        ] = "",
        most: Annotated[int, Field(ge=1, le=50, description="Pairs at most, the plainest first.")] = 10,
    ) -> Annotated[CallToolResult, Tensions]:
        """Pairs of statements of papers that do not go together: opposite directions, one denies the other, numbers of
        one measure that lie apart. Both sides are quoted. Found by rules: read both before you call it a
        contradiction."""
        with as_tool_errors():
            found = await self._monjyu.tensions(collection, concept=concept or None, most=most)
        return given(_text(found), found)


def _text(found: Tensions) -> str:
    if not found.built:
        return "The index has no tensions: they are found at level 4."
    if not found.tensions:
        return "No tensions were found."
    quotes = {one.n: one for one in found.citations}
    lines = [f"{found.total} found; {len(found.tensions)} shown.", QUOTED]
    for number, tension in enumerate(found.tensions, start=1):
        lines += ["", f"({number}) {quotable(tension.concept)}: {tension.kind}, score {tension.score:.2f}"]
        for side in (tension.first, tension.second):
            lines.append(f"- {quotable(side.cue)}: “{quotable(quotes[side.citation].quote)}”")
            lines.append(f"  {source_line(quotes[side.citation])}")
    return "\n".join(lines)
