"""Judgements kept at the Redis server that keeps models' answers, for several machines."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from monjyu_core.errors import MonjyuError
from monjyu_core.models.cache.cache_redis import RedisCache

T = TypeVar("T")
_AWAY_SECONDS = 30.0
_log = logging.getLogger(__name__)


class SharedJudgements:
    """As `JudgementStore`: what fails costs repeated tests, never a result."""

    def __init__(self, url: str) -> None:
        self._cache = RedisCache(url, 0)
        self._away_until = 0.0

    def get_many(self, keys: Sequence[str]) -> dict[str, tuple[float, ...]]:
        found = self._try(lambda: self._cache.read_scores(keys)) or {}
        return {key: tuple(map(float, json.loads(scores))) for key, scores in found.items()}

    def put_many(self, judgements: Mapping[str, Sequence[float]]) -> None:
        self._try(lambda: self._cache.write_scores({key: json.dumps(list(some)) for key, some in judgements.items()}))

    def keep_newest(self) -> None:
        """Redis drops each of them some time after it was written."""

    def _try(self, work: Callable[[], T]) -> T | None:
        if time.monotonic() < self._away_until:
            return None
        try:
            return work()
        except MonjyuError as error:
            _log.warning("Judgements are not shared for %.0f s: %s", _AWAY_SECONDS, error)
            self._away_until = time.monotonic() + _AWAY_SECONDS
            return None
