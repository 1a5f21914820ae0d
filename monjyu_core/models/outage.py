"""A server that failed is left alone for a while, so that nobody waits for it again and again."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from monjyu_core.errors import MonjyuError

T = TypeVar("T")
SECONDS = 30.0
"""For which it is left alone."""
_log = logging.getLogger(__name__)


class Outage:
    """Of one server. `without` says what is done meanwhile, for the log."""

    def __init__(self, without: str) -> None:
        self._without = without
        self._until = 0.0

    @property
    def lasts(self) -> bool:
        return time.monotonic() < self._until

    def begin(self, error: object) -> None:
        """A call failed just now."""
        _log.warning("%s for %.0f s: %s", self._without, SECONDS, error)
        self._until = time.monotonic() + SECONDS

    def tried(self, work: Callable[[], T]) -> T | None:
        """What `work` gives; None where it fails, or the server is left alone."""
        if self.lasts:
            return None
        try:
            return work()
        except MonjyuError as error:
            self.begin(error)
            return None
