"""How often one key (or, without one, one address) may ask: a bucket that fills evenly."""

from __future__ import annotations

import time
from collections import OrderedDict

from monjyu_query.service.server.error_responses import TooMany

BURST_SECONDS = 10
"""A bucket holds what flows in during this time: so much may come at once after a pause."""
_MOST = 10_000
"""Buckets kept; who has not asked for longest is forgotten, with a full bucket."""


class Rates:
    """Buckets of one worker, used from its event loop only."""

    def __init__(self, per_minute: int) -> None:
        self._per_second = per_minute / 60
        self._size = max(1.0, self._per_second * BURST_SECONDS)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str) -> None:
        """Count one request. TooMany, with the seconds to wait, where there have been too many."""
        if not self._per_second:
            return
        now = time.monotonic()
        left, then = self._buckets.pop(who, (self._size, now))
        left = min(self._size, left + (now - then) * self._per_second)
        self._buckets[who] = (left - 1 if left >= 1 else left), now
        if len(self._buckets) > _MOST:
            self._buckets.popitem(last=False)
        if left < 1:
            wait = str(int((1 - left) / self._per_second) + 1)
            raise TooMany("Too many requests.", f"Ask again in {wait} s.", {"Retry-After": wait})
