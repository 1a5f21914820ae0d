"""Completion of the arguments `collection`, `paper_id` and `snapshot_id` of prompts and resources."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)

from monjyu_core.errors import MonjyuError
from monjyu_core.storage.snapshot import published
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.search.which_collection import chosen_collection

MOST = 100
"""Values of one answer, by the protocol."""


def add_completion(server: MCPServer[Any], monjyu: AsyncMonjyu) -> None:
    """Register it."""

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
    async def complete(
        _: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        """Names that begin with what was typed."""
        chosen = (context.arguments or {}).get("collection") if context else None
        try:
            names = await _names(monjyu, argument.name, chosen or None)
        except MonjyuError:
            return None
        fitting = [name for name in names if name.startswith(argument.value)]
        return Completion(values=fitting[:MOST], total=len(fitting), has_more=len(fitting) > MOST)


async def _names(monjyu: AsyncMonjyu, argument: str, collection: str | None) -> list[str]:
    data = monjyu.blocking.data
    if argument == "collection":
        return await monjyu.run(data.collections)
    if argument == "paper_id":
        return [paper.paper_id for paper in await monjyu.papers(collection)]
    if argument == "snapshot_id":
        return await monjyu.run(lambda: published(data.collection(chosen_collection(data, collection))))
    return []
