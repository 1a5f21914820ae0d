"""How a parser asks for more time and memory while it works: the process that it runs in decides what becomes of it."""

from __future__ import annotations

from collections.abc import Callable

_listeners: list[Callable[[float, str], None]] = []


def on_request(listener: Callable[[float, str], None]) -> None:
    """Have `listener(seconds, what)` called at each request; it takes the place of an earlier one."""
    _listeners[:] = [listener]


def ask_for(seconds: float, what: str) -> None:
    """Ask for this many seconds from now for one step; `what` tells people which."""
    for listener in _listeners:
        listener(seconds, what)
