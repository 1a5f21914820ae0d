"""Events of a search while it runs: dictionaries with a key `event`, as INTERFACES lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Emit = Callable[[dict[str, Any]], None]


def unheard(_: dict[str, Any]) -> None:
    """No one listens."""
