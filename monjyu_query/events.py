"""Events of a search while it runs: dictionaries with a key `event`, as INTERFACES lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Emit = Callable[[dict[str, Any]], None]


def unheard(_: dict[str, Any]) -> None:
    """No one listens."""


def last_events(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The last events of a search: the answer with its citations, then all of the result."""
    answer = {key: result[key] for key in ("answer", "status", "verified", "citations")}
    return [{"event": "answer", **answer}, {"event": "done", **result}]
