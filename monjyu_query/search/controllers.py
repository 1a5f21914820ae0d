"""How modes are chosen for one question: by the router, one after another, or side by side."""

from __future__ import annotations

from collections.abc import Callable

from monjyu_query.asking.result import SearchResult
from monjyu_query.ranking.tools import Ask
from monjyu_query.search.multi import Modes

Control = Callable[[Modes, Ask], SearchResult]


def _unified(modes: Modes, ask: Ask) -> SearchResult:
    """The mode that the router chose."""
    return modes.search(ask)


def _progressive(modes: Modes, ask: Ask) -> SearchResult:
    from monjyu_query.search.progressive import search_progressively

    return search_progressively(modes, ask)


def _hybrid(modes: Modes, ask: Ask) -> SearchResult:
    from monjyu_query.search.multi import search_side_by_side

    return search_side_by_side(modes, ask)


CONTROLLERS: dict[str, Control] = {"unified": _unified, "progressive": _progressive, "hybrid": _hybrid}
