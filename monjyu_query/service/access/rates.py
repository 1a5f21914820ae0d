"""How often one key (or, without one, one address) may ask: a bucket for each, which fills evenly."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from monjyu_core.models.outage import Outage
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_query.service.server.error_responses import TooMany

if TYPE_CHECKING:
    from redis.asyncio import Redis

BURST_SECONDS = 10
"""A bucket holds what flows in during this time: so much may come at once after a pause."""
_MOST_BUCKETS = 10_000
"""Buckets kept; who has not asked for longest is forgotten, with a full bucket."""
_TAKE = """
local now = redis.call('TIME')
now = now[1] + now[2] / 1000000
local rate, size = tonumber(ARGV[1]), tonumber(ARGV[2])
local held = redis.call('HMGET', KEYS[1], 'left', 'then')
local left = math.min(size, (tonumber(held[1]) or size) + (now - (tonumber(held[2]) or now)) * rate)
local taken = left >= 1 and 1 or 0
redis.call('HSET', KEYS[1], 'left', tostring(left - taken), 'then', tostring(now))
redis.call('PEXPIRE', KEYS[1], math.ceil(1000 * size / rate) + 1000)
return tostring(left)
"""
"""Gives what the bucket KEYS[1] held before; it is forgotten when it is full again. ARGV: a second's flow, its size."""


class Rates:
    """Buckets of one worker, used from its event loop only."""

    def __init__(self, per_minute: int) -> None:
        self.per_second = per_minute / 60
        self.size = max(1.0, self.per_second * BURST_SECONDS)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str) -> None:
        """Count one request. TooMany, with the seconds to wait, where there have been too many."""
        if not self.per_second:
            return
        now = time.monotonic()
        left, then = self._buckets.pop(who, (self.size, now))
        left = min(self.size, left + (now - then) * self.per_second)
        self._buckets[who] = (left - 1 if left >= 1 else left), now
        if len(self._buckets) > _MOST_BUCKETS:
            self._buckets.popitem(last=False)
        self.check(left)

    def check(self, left: float) -> None:
        """TooMany where a bucket that held so much before a request had too little."""
        if left < 1:
            wait = str(int((1 - left) / self.per_second) + 1)
            raise TooMany("Too many requests.", f"Ask again in {wait} s.", {"Retry-After": wait})


class SharedRates:
    """Buckets at a Redis server, one for all workers and replicas; while it does not answer, those of this worker.

    Who asks is a hash there.
    """

    def __init__(self, per_minute: int, url: str | None) -> None:
        self._own = Rates(per_minute)
        self._url = url
        self._client: Redis | None = None
        self._outage = Outage("Rates are counted by each worker")

    async def take(self, who: str) -> None:
        """As `Rates.take`."""
        if self._url is None or not self._own.per_second or self._outage.lasts:
            self._own.take(who)
            return
        from redis.exceptions import RedisError

        try:
            left = await self._ask(self._url, "{monjyu}:rate:" + digest(who))
        except (RedisError, OSError) as error:
            self._outage.begin(type(error).__name__)
            self._own.take(who)
            return
        self._own.check(left)

    async def _ask(self, url: str, key: str) -> float:
        from redis.asyncio import Redis

        if self._client is None:
            self._client = Redis.from_url(url, socket_connect_timeout=1, socket_timeout=1)
        return float(await self._client.eval(_TAKE, 1, key, str(self._own.per_second), str(self._own.size)))


def open_rates(settings: Settings) -> SharedRates:
    """Shared where the service keeps its results in Redis."""
    url = settings.cache.redis_url if settings.service.cache == "redis" else None
    return SharedRates(settings.service.requests_per_minute, None if url is None else url.get_secret_value())
