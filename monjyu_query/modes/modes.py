"""The modes by name, each made at its first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from monjyu_query.search.result import SearchResult
from monjyu_query.search.tools import Ask, Tools

Search = Callable[[Ask], SearchResult]


class Modes:
    """The modes of one collection. May be shared by threads."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self._lock = threading.Lock()
        self._made: dict[str, Search] = {}

    def search(self, ask: Ask) -> SearchResult:
        """The result of the ask's mode."""
        return self.of(ask.mode)(ask)

    def of(self, mode: str) -> Search:
        with self._lock:
            if mode not in self._made:
                self._made[mode] = _MAKERS[mode](self)
            return self._made[mode]


def _passages(modes: Modes) -> Search:
    from monjyu_query.modes.passages.passage_search import search_passages

    return partial(search_passages, modes.tools)


def _lazy(modes: Modes) -> Search:
    from monjyu_query.modes.lazy.lazy_search import LazySearch

    return LazySearch(modes.tools).search


def _local(modes: Modes) -> Search:
    from monjyu_query.modes.local_search.local_search import LocalSearch

    return LocalSearch(modes.tools).search


def _global(modes: Modes) -> Search:
    from monjyu_query.modes.global_search.global_search import GlobalSearch

    return GlobalSearch(modes.tools).search


def _multi(modes: Modes) -> Search:
    from monjyu_query.modes.multi import search_multi

    return partial(search_multi, modes)


_MAKERS: dict[str, Callable[[Modes], Search]] = {
    "vector": _passages,
    "keyword": _passages,
    "hybrid": _passages,
    "lazy": _lazy,
    "local": _local,
    "global": _global,
    "multi": _multi,
}
