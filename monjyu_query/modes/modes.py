"""The modes of one collection by name, each made at its first use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from monjyu_query.asking.result import SearchResult
from monjyu_query.ranking.tools import Ask, Tools

Search = Callable[[Ask], SearchResult]


class Modes:
    """May be shared by threads. A maker is given the others too: some modes ask several."""

    def __init__(self, tools: Tools, makers: Mapping[str, Callable[[Modes], Search]]) -> None:
        self.tools = tools
        self._makers = makers
        self._lock = threading.Lock()
        self._made: dict[str, Search] = {}

    def search(self, ask: Ask) -> SearchResult:
        """The result of the ask's mode."""
        return self.of(ask.mode)(ask)

    def of(self, mode: str) -> Search:
        with self._lock:
            if mode not in self._made:
                self._made[mode] = self._makers[mode](self)
            return self._made[mode]
