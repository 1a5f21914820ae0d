"""Which reports a global question reads: those of one level, or those that a walk from the root finds relevant."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from monjyu_query.knowledge.reports import Reports

Rate = Callable[[Sequence[int]], list[float]]
"""Places of reports to their relevance, 0 to 10 each."""


def static_selection(reports: Reports, level: int) -> list[int]:
    """The reports of a level, and the leaves above it."""
    return [
        place
        for place, report in enumerate(reports.all)
        if report.level == level or (report.level < level and not reports.below(place))
    ]


def dynamic_selection(reports: Reports, rate: Rate, relevant_from: float) -> tuple[dict[int, float], list[int]]:
    """The relevant reports with their ratings, and all that were rated, in order.

    Level by level from the roots: the children of a relevant report are rated next, and where one of them is relevant
    it stands for its parent. Where no report of a level is relevant, and none was before, the next level is looked at.
    """
    kept: dict[int, float] = {}
    rated: list[int] = []
    frontier = reports.roots
    while frontier:
        ratings = dict(zip(frontier, rate(frontier), strict=True))
        rated += frontier
        relevant = {place: rating for place, rating in ratings.items() if rating >= relevant_from}
        places = {report.id: place for place, report in enumerate(reports.all)}
        for place in relevant:
            parent = reports.all[place].parent
            if parent is not None:
                kept.pop(places[parent], None)
        kept |= relevant
        followed = relevant if relevant or kept else ratings
        frontier = [child for place in followed for child in reports.below(place)]
    return dict(sorted(kept.items(), key=lambda pair: (-pair[1], pair[0]))), rated
