"""Errors in words that a model can act on: what went wrong, and which tool or value mends it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mcp.server.mcpserver.exceptions import ToolError

from monjyu_core.errors import MonjyuError
from monjyu_core.settings.settings import data_folder

_INSTEAD = {
    "`monjyu papers list` shows what it has.": "Find its papers with monjyu_search, or read the resource "
    "monjyu://COLLECTION/papers.",
    "Start with `monjyu index FOLDER`.": "monjyu_status shows what can be indexed, monjyu_index indexes it.",
    "There are none yet: run `monjyu index FOLDER`.": "There are none yet: monjyu_status shows what can be indexed.",
    "Name one (-c NAME, collection= in Python)": "Name one as `collection`",
}
"""Advice for the command line, and what a client of this server does instead."""


def advice(error: MonjyuError) -> str:
    """The error's message and hint, in terms of tools, without where the data folder lies."""
    text = str(error).replace(str(data_folder()), "the data folder")
    for command, tool in _INSTEAD.items():
        text = text.replace(command, tool)
    return text


@contextmanager
def as_tool_errors() -> Iterator[None]:
    """Errors meant for users are the tool's answer; others are logged and reported as a fault."""
    try:
        yield
    except MonjyuError as error:
        raise ToolError(advice(error)) from error
