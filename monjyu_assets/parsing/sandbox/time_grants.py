"""How a parser asks for more time and memory while it works: the process that it runs in decides what becomes of it."""

from __future__ import annotations

from collections.abc import Callable

Listener = Callable[[int, int], None]
_listeners: list[Listener] = []


def on_request(listener: Listener) -> None:
    """Have `listener` called at each request with the same arguments; it takes the place of an earlier one."""
    _listeners[:] = [listener]


def ask_for_time(page: int, pages: int) -> None:
    """Before the first of some pages that take long (`page` 0), and before each (1 to `pages`)."""
    for listener in _listeners:
        listener(page, pages)
