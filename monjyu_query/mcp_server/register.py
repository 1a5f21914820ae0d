"""How tools are registered: with their docstring as it reads, not as it is indented."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Any, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

F = TypeVar("F", bound=Callable[..., Any])

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def tool(server: MCPServer[Any], title: str, annotations: ToolAnnotations = READS) -> Callable[[F], F]:
    """A decorator that makes a function a tool under its own name."""

    def add(function: F) -> F:
        server.add_tool(function, title=title, description=cleandoc(function.__doc__ or ""), annotations=annotations)
        return function

    return add
