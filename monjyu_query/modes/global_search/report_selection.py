"""Which reports a global question reads: those of one level, or those that a walk from the root finds relevant; and
how relevant they are by words and vectors, without a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from monjyu_query.knowledge.reports import Reports
from monjyu_query.modes.global_search.asking import Asking


def own_ratings(asking: Asking) -> list[float]:
    """The relevance of all reports (0 to 10): as a sentence is scored, never less than nine tenths of the best below,
    whose words a summary of many may lack. For the whole collection the reports' own ratings."""
    reports = asking.reports
    if asking.whole:
        return [report.rating for report in reports.all]
    pairs = zip(asking.report_terms, asking.near, strict=True)
    found = [asking.relevance(asking.terms.share(own), float(near)) for own, near in pairs]
    for place in sorted(range(len(found)), key=lambda place: -reports.all[place].level):
        found[place] = max([found[place], *(0.9 * found[child] for child in reports.below(place))])
    return found


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
