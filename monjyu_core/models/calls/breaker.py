"""A circuit breaker: a server that fails again and again is left alone for a while, and then tried with one call."""

from __future__ import annotations

import math

from monjyu_core.models.call_errors import ModelCallError, ModelUnavailable
from monjyu_core.models.calls.rate_limits import REAL, Timing

FAILURES = 5
PAUSE = 30.0
"""Seconds that it stays open."""


class Breaker:
    """Closed: calls pass. Open: none passes for `pause` seconds. Then half open: one passes, and its end decides.

    Failures of calls that were under way together count as one, or a moment's trouble would stop many calls at once.
    """

    def __init__(self, failures: int = FAILURES, pause: float = PAUSE, timing: Timing = REAL) -> None:
        self._most = failures
        self._pause = pause
        self._timing = timing
        self._failures = 0
        self._failed_at = self._open_until = -math.inf
        self._trying = False
        self._last: ModelCallError | None = None

    def check(self) -> None:
        """ModelUnavailable where a call would not pass now."""
        if self._failures < self._most:
            return
        left = self._open_until - self._timing.now()
        if left > 0 or self._trying:
            reason = self._last.message if self._last else ""
            error = ModelUnavailable(
                f"No call was made, because {self._failures} failed one after another: {reason}",
                f"One is tried in {max(left, 1):.0f} seconds. Look at the server, or use the extractive engine.",
                retry_after=max(left, 0.0),
            )
            error.cause = self._last
            raise error

    def admit(self) -> None:
        """As `check`, for a call that is made now. One of `succeeded`, `failed` or `left` must follow."""
        self.check()
        self._trying = self._failures >= self._most

    def succeeded(self) -> None:
        """The server has answered, be it with a refusal."""
        self._failures = 0
        self._trying = False
        self._last = None

    def failed(self, error: ModelCallError, started: float) -> None:
        """`started` is when the call began, on the breaker's clock."""
        self._trying = False
        self._last = error
        if started < self._failed_at:
            return
        self._failures += 1
        self._failed_at = self._timing.now()
        if self._failures >= self._most:
            self._open_until = self._failed_at + self._pause

    def left(self) -> None:
        """The call says nothing about the server: it was cancelled, or the server asked for a pause."""
        self._trying = False
