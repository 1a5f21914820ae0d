"""Tools described by their docstrings, which refuse wrong arguments in plain words and pass over empty ones."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from inspect import cleandoc
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import ValidationError

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


_NOTHING = frozenset({"", "null", "none", "undefined"})
"""What models write for an argument that they do not want."""


class StrictTool(Tool):
    """A tool that refuses arguments it does not know, and says in plain words which value is wrong."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """ToolError for arguments that are unknown, missing or of the wrong kind."""
        arguments = self.given(arguments)
        known = list(self.fn_metadata.arg_model.model_fields)
        unknown = [name for name in arguments if name not in known]
        if unknown:
            raise ToolError(f"{self.name} does not know {_listed(unknown)}.{_meant(unknown, known)} {self._takes()}")
        try:
            self.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            raise ToolError(f"{self.name}: {wrong_values(error.errors(include_url=False))} {self._takes()}") from error
        return await super().run(arguments, context, convert_result)

    def given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments without those that are null or, where they may be left out, say so in words."""
        fields = self.fn_metadata.arg_model.model_fields
        needed = {name for name, field in fields.items() if field.is_required()}
        given = {name: _without_nulls(value) for name, value in arguments.items()}
        return {name: v for name, v in given.items() if v is not None and (name in needed or not _is_nothing(v))}

    def _takes(self) -> str:
        return f"It takes {', '.join(self.fn_metadata.arg_model.model_fields)}."


class Tools:
    """The tools of a server, as they are added."""

    def __init__(self) -> None:
        self.all: list[Tool] = []

    def add(self, title: str, function: Callable[..., Any], annotations: ToolAnnotations = READS) -> None:
        """Make a function a tool under its own name, described by its docstring."""
        about = cleandoc(function.__doc__ or "")
        tool = StrictTool.from_function(function, title=title, description=about, annotations=annotations)
        tool.parameters["additionalProperties"] = False
        self.all.append(tool)


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().casefold() in _NOTHING)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value if not _is_nothing(inner)] if isinstance(value, list) else value


def wrong_values(errors: Sequence[Any]) -> str:
    """What is wrong with each argument, in a sentence: what it must be, once where several kinds of value would do."""
    by_name: dict[str, list[str]] = {}
    for error in errors:
        by_name.setdefault(str(error["loc"][0]) if error["loc"] else "arguments", []).append(_must(error))
    return "; ".join(f"{name} {' or '.join(dict.fromkeys(wording))}" for name, wording in by_name.items()) + "."


_KINDS = {
    "missing": "is needed",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "too_short": "has {actual_length} and needs {min_length} or more",
    "too_long": "has {actual_length} and may have {max_length}",
    "list_type": "must be a list",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
}
"""By pydantic's kind of error, with the values it gives."""


def _must(error: Any) -> str:
    wording = _KINDS.get(error["type"])
    item = next((f"item {place + 1} " for place in error["loc"][1:] if isinstance(place, int)), "")
    return item + (wording.format(**error.get("ctx", {})) if wording else f"is not as it must be: {error['msg']}")


def _listed(names: Sequence[str]) -> str:
    return f"the argument{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"


def _meant(unknown: Sequence[str], known: Sequence[str]) -> str:
    close = [near for name in unknown for near in difflib.get_close_matches(name, known, 1)]
    return f" Did you mean {', '.join(dict.fromkeys(close))}?" if close else ""
