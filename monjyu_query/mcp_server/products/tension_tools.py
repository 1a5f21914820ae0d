"""The tool `monjyu_tensions`."""

from __future__ import annotations

from typing import Annotated

from mcp.types import CallToolResult
from pydantic import Field

from monjyu_core.wording import counted
from monjyu_query.answers.render import quotable
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.digests.result import source_line
from monjyu_query.mcp_server.search_tools import Collection
from monjyu_query.mcp_server.texts import QUOTED, given
from monjyu_query.mcp_server.tool_errors import as_tool_errors
from monjyu_query.questions.tension_list import LONGEST_CONCEPT, Tensions


class TensionTools:
    """The tool; its name, parameters and docstring are what clients see."""

    def __init__(self, monjyu: AsyncMonjyu) -> None:
        self._monjyu = monjyu

    async def monjyu_tensions(
        self,
        collection: Collection = None,
        concept: Annotated[
            str, Field(max_length=LONGEST_CONCEPT, description="Words of the subject; empty for all.")
        ] = "",
        most: Annotated[int, Field(ge=1, le=50, description="Limit of pairs.")] = 10,
    ) -> Annotated[CallToolResult, Tensions]:
        """Find pairs of statements of two papers that contradict each other, with both sides quoted. The model of
        roles.verify judges them: read both before you call it a contradiction. Without such a model there
        are no pairs."""
        with as_tool_errors():
            found = await self._monjyu.tensions(collection, concept=concept or None, most=most)
        return given(_text(found), found)


def _text(found: Tensions) -> str:
    warnings = [quotable(warning) for warning in found.warnings]
    if not found.tensions:
        read = (
            f"{counted(found.read, 'pair')} of statements were read; none is called contradictory."
            if found.built
            else ""
        )
        return "\n".join(filter(None, [*warnings, read]))
    quotes = {one.n: one for one in found.citations}
    lines = [*warnings, f"{found.total} found; {len(found.tensions)} shown.", QUOTED]
    for number, tension in enumerate(found.tensions, start=1):
        lines += ["", f"({number}) {quotable(tension.concept)}: {quotable(tension.reason)}"]
        for side in (tension.first, tension.second):
            lines.append(f"- “{quotable(quotes[side.citation].quote)}”")
            lines.append(f"  {source_line(quotes[side.citation])}")
    return "\n".join(lines)
