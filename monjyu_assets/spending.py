"""What a whole run may spend on models: one cap for all of its assets, or no call at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from monjyu_core.models.caps import SpendingCap


@dataclass(frozen=True)
class Spending:
    """`cap` is shared by the assets of a run; without `calls` no model is asked, whatever it would cost."""

    cap: SpendingCap | None = None
    calls: bool = True


_installed: list[Spending] = []


@contextmanager
def spending_of(spending: Spending | None) -> Iterator[None]:
    """Runs of this process spend within it meanwhile."""
    _installed.append(spending or Spending())
    try:
        yield
    finally:
        _installed.pop()


def current_spending() -> Spending:
    return _installed[-1] if _installed else Spending()
