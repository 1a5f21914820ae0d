"""Judgements kept at the Redis server that keeps models' answers, for several machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from monjyu_core.models.cache.cache_redis import RedisCache
from monjyu_core.models.cache.outage import Outage


class SharedJudgements:
    """As `JudgementStore`: what fails costs repeated tests, never a result."""

    def __init__(self, url: str) -> None:
        self._cache = RedisCache(url, 0)
        self._outage = Outage("Judgements are not shared")

    def get_many(self, keys: Sequence[str]) -> dict[str, tuple[float, ...]]:
        found = self._outage.tried(lambda: self._cache.read_scores(keys)) or {}
        return {key: tuple(map(float, json.loads(scores))) for key, scores in found.items()}

    def put_many(self, judgements: Mapping[str, Sequence[float]]) -> None:
        packed = {key: json.dumps(list(some)) for key, some in judgements.items()}
        self._outage.tried(lambda: self._cache.write_scores(packed))

    def keep_newest(self) -> None:
        """Redis drops each of them some time after it was written."""
