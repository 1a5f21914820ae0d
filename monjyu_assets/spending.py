"""What a whole run may spend on models: one cap for all of its assets, or no call at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from monjyu_core.models.caps import Reservation, SpendingCap
from monjyu_core.models.errors import CostCapReached

_installed: list[SpendingCap | None] = []


class NoCalls(SpendingCap):
    """Admits nothing: a run that only takes away may use what is stored, and asks no model."""

    def __init__(self) -> None:
        super().__init__("run")

    def try_reserve(self, expected_usd: float) -> Reservation | None:
        raise CostCapReached("No model is asked in this run.", "`monjyu upgrade` asks for what is missing.")


@contextmanager
def spending_of(cap: SpendingCap | None) -> Iterator[None]:
    """Runs of this process spend within this cap meanwhile, all assets together; None = what the settings say."""
    _installed.append(cap)
    try:
        yield
    finally:
        _installed.pop()


def current_cap() -> SpendingCap | None:
    return _installed[-1] if _installed else None
