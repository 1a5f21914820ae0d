"""The response cache in Redis, for several hosts. Durability is a setting of Redis (`appendfsync`).

Values are hashes `{monjyu}:answer:KEY`, ordered by age in `{monjyu}:ages`; labels and claims are keys of their own. The
braces keep all of them on one node of a cluster, where the scripts need them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from monjyu_core.errors import ConfigurationError, ExternalAPIError
from monjyu_core.extras import install_line
from monjyu_core.storage.folders import owner_is_dead

if TYPE_CHECKING:
    from redis import Redis

T = TypeVar("T")

_PREFIX = "{monjyu}:"
_AGES = _PREFIX + "ages"
_SCORES = _PREFIX + "score:"
_SCORE_SECONDS = 30 * 24 * 3600
_REMOVE = """
local function remove(key)
    local labels = redis.call('HGET', '{monjyu}:answer:' .. key, 'labels')
    for label in string.gmatch(labels or '', '[^\\n]+') do
        redis.call('SREM', '{monjyu}:label:' .. label, key)
    end
    redis.call('ZREM', '{monjyu}:ages', key)
    return redis.call('DEL', '{monjyu}:answer:' .. key)
end
"""
# ARGV: now, max_entries, labels (one per line), the time before which values expire, then each key and its value.
_PUT = (
    _REMOVE
    + """
for _, key in ipairs(redis.call('ZRANGEBYSCORE', '{monjyu}:ages', '-inf', '(' .. ARGV[4])) do remove(key) end
for i = 5, #ARGV, 2 do
    local key = ARGV[i]
    if redis.call('HSETNX', '{monjyu}:answer:' .. key, 'value', ARGV[i + 1]) == 1 then
        redis.call('ZADD', '{monjyu}:ages', ARGV[1], key)
        redis.call('HSET', '{monjyu}:answer:' .. key, 'labels', ARGV[3])
        for label in string.gmatch(ARGV[3], '[^\\n]+') do redis.call('SADD', '{monjyu}:label:' .. label, key) end
    end
    redis.call('DEL', '{monjyu}:claim:' .. key)
end
local surplus = redis.call('ZCARD', '{monjyu}:ages') - tonumber(ARGV[2])
if surplus > 0 then
    for _, key in ipairs(redis.call('ZRANGE', '{monjyu}:ages', 0, surplus - 1)) do remove(key) end
end
"""
)
_FORGET = (
    _REMOVE
    + """
local gone = 0
for _, key in ipairs(redis.call('SMEMBERS', '{monjyu}:label:' .. ARGV[1])) do gone = gone + remove(key) end
redis.call('DEL', '{monjyu}:label:' .. ARGV[1])
return gone
"""
)
_DISCARD = _REMOVE + "return remove(ARGV[1])"
# Creates or renews the claim and returns false; returns the owner of another's claim.
_CLAIM = """
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return false end
local holder = redis.call('GET', KEYS[1])
if holder ~= ARGV[1] then return holder end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return false
"""
_RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end"


class RedisCache:
    """A `ResponseCache` on a Redis server (7 or newer). Its methods raise ExternalAPIError if the server does not
    answer; the constructor raises ConfigurationError for an invalid URL, or without the extra `redis`."""

    def __init__(self, url: str, max_entries: int, max_age: float = 0.0) -> None:
        """`max_age`: seconds after which values are not returned and the next write removes them; 0 means no limit."""
        try:
            from redis import Redis
            from redis.backoff import ExponentialBackoff
            from redis.retry import Retry
        except ImportError as error:
            raise ConfigurationError(
                "cache.redis_url is set, but Redis' Python client is not installed.",
                f"Install it: {install_line('redis')}. Or remove the setting: replies are then cached in SQLite.",
            ) from error
        try:
            self._client: Redis = Redis.from_url(
                url, socket_connect_timeout=5, socket_timeout=30, retry=Retry(ExponentialBackoff(cap=1, base=0.05), 3)
            )
        except ValueError:  # its text may repeat the URL, and with it a password
            raise ConfigurationError("cache.redis_url is not a Redis URL.", "Write redis://HOST:PORT/0.") from None
        self._max_entries = max_entries
        self._max_age = max_age

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        def get() -> dict[str, bytes]:
            with self._client.pipeline(transaction=False) as pipeline:
                for key in keys:
                    pipeline.hget(_answer(key), "value")
                    pipeline.zscore(_AGES, key)
                found = pipeline.execute()
            rows = zip(keys, found[::2], found[1::2], strict=True)
            return {key: value for key, value, at in rows if value is not None and self._is_recent(at)}

        return self._run(get)

    def has_many(self, keys: Sequence[str]) -> set[str]:
        def has() -> set[str]:
            with self._client.pipeline(transaction=False) as pipeline:
                for key in keys:
                    pipeline.zscore(_AGES, key)
                found = pipeline.execute()
            return {key for key, at in zip(keys, found, strict=True) if at is not None and self._is_recent(at)}

        return self._run(has)

    def put_many(self, values: Mapping[str, bytes], labels: Collection[str] = ()) -> None:
        flat = [part for pair in values.items() for part in pair]
        self._script(_PUT, time.time(), self._max_entries, "\n".join(labels), self._oldest(), *flat)

    def _oldest(self) -> float:
        return time.time() - self._max_age if self._max_age else 0.0

    def _is_recent(self, at: float | None) -> bool:
        """Whether a value stored at the time is recent enough to be returned."""
        return not self._max_age or (at is not None and at >= self._oldest())

    def read_scores(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The stored scores of the keys; a key without a score is left out."""
        names = [_SCORES + key for key in keys]
        found: list[Any] = self._run(lambda: list(self._client.mget(names))) if keys else []
        return {key: value for key, value in zip(keys, found, strict=True) if value is not None}

    def write_scores(self, scores: Mapping[str, str]) -> None:
        """Store scores for a month. They do not count as entries of the cache, because they cost no model call."""

        def write() -> None:
            with self._client.pipeline(transaction=False) as pipeline:
                for key, value in scores.items():
                    pipeline.set(_SCORES + key, value, ex=_SCORE_SECONDS)
                pipeline.execute()

        self._run(write)

    def claim(self, key: str, owner: str, seconds: float) -> bool:
        name = _PREFIX + "claim:" + key
        holder = self._script(_CLAIM, owner, round(seconds * 1000), keys=[name])
        if holder is not None and owner_is_dead(holder.decode()):
            self.release(key, holder.decode())
            holder = self._script(_CLAIM, owner, round(seconds * 1000), keys=[name])
        return holder is None

    def release(self, key: str, owner: str) -> None:
        self._script(_RELEASE, owner, keys=[_PREFIX + "claim:" + key])

    def forget(self, label: str) -> int:
        return int(self._script(_FORGET, label))

    def discard(self, key: str) -> None:
        self._script(_DISCARD, key)

    def __len__(self) -> int:
        return self._run(lambda: int(self._client.zcard(_AGES)))

    def close(self) -> None:
        self._client.close()

    def _script(self, script: str, *arguments: Any, keys: Sequence[str] = (_AGES,)) -> Any:
        return self._run(lambda: self._client.eval(script, len(keys), *keys, *arguments))

    def _run(self, work: Callable[[], T]) -> T:
        from redis.exceptions import RedisError

        try:
            return work()
        except RedisError as error:
            where = self._client.connection_pool.connection_kwargs
            raise ExternalAPIError(
                f"The cache in Redis at {where.get('host', where.get('path', 'the address given'))} "
                f"does not answer: {type(error).__name__}.",
                "Start it, correct cache.redis_url, or unset it to use SQLite.",
            ) from error


def _answer(key: str) -> str:
    return _PREFIX + "answer:" + key
