"""What digests ask of the searcher of a collection; a protocol, for the searcher in turn answers with digests."""

from __future__ import annotations

import threading
from typing import Protocol

from monjyu_core.models.account import Account
from monjyu_core.settings.settings import Settings
from monjyu_query.asking.events import Emit
from monjyu_query.asking.request import SearchRequest
from monjyu_query.asking.result import SearchResult
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.tools import Tools


class Asker(Protocol):
    """`monjyu_query.search.searcher.Searcher`."""

    collection: str
    settings: Settings
    tools: Tools

    def current(self) -> OpenIndex:
        """The published snapshot, open."""
        ...

    def search(
        self, request: SearchRequest, emit: Emit | None = None, cancel: threading.Event | None = None
    ) -> SearchResult:
        """The result of a question."""
        ...

    def account(self, index: OpenIndex) -> Account:
        """Who pays for calls beside a search."""
        ...
