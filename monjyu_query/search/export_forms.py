"""A format that something is exported as, and registries of them as choices of a request.

A format is declared where it is written; commands, HTTP, MCP and the page take the names of its registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pydantic_core import CoreSchema, core_schema


@dataclass(frozen=True)
class ExportForm:
    """`write` gives the content of a file; `label` names the format; `is_text`: whether a terminal may show it."""

    write: Callable[..., bytes]
    media_type: str
    ending: str
    label: str
    is_text: bool = True


@dataclass(frozen=True)
class OneOf:
    """Annotates a text that must be one of these names: an `enum` in JSON schema."""

    names: Iterable[str]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.literal_schema([*self.names])
