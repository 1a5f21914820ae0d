"""A tool about drafts: `monjyu_check_citations`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.types import CallToolResult
from pydantic import Field

from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.api.product_requests import DraftRequest
from monjyu_query.drafts.checked import CheckedDraft, as_text
from monjyu_query.mcp_server.register import takes_fields_of
from monjyu_query.mcp_server.texts import QUOTED, given
from monjyu_query.mcp_server.tool_errors import as_tool_errors


class DraftTools:
    """The tools; their names, parameters and docstrings are what clients see."""

    def __init__(self, monjyu: AsyncMonjyu) -> None:
        self._monjyu = monjyu

    @takes_fields_of(DraftRequest)
    async def monjyu_check_citations(
        self,
        text: str,
        format: Annotated[Literal["markdown", "latex", "text"], Field(description="Its format.")] = "markdown",
        **asked: Any,
    ) -> Annotated[CallToolResult, CheckedDraft]:
        """Check the citations of a draft: for each citing sentence the nearest passages of the cited paper, and the
        figures, names and quotes that occur nowhere in it. With a model for this, also a verdict;
        otherwise read the passages."""
        with as_tool_errors():
            checked = await self._monjyu.check_citations(text, format=format, **asked)
        return given(f"{QUOTED}\n\n{as_text(checked)}", checked)
