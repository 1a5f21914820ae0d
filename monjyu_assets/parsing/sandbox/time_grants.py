"""How a parser asks for more time and memory while it works: the process that it runs in decides what to do."""

from __future__ import annotations

from collections.abc import Callable

Listener = Callable[[int, int], None]
_listeners: list[Listener] = []


def on_request(listener: Listener) -> None:
    """Call `listener` at each request, with the same arguments; it replaces an earlier one."""
    _listeners[:] = [listener]


def ask_for_time(page: int, pages: int) -> None:
    """Call it before the first of several slow pages (`page` 0), and before each of them (1 to `pages`)."""
    for listener in _listeners:
        listener(page, pages)
