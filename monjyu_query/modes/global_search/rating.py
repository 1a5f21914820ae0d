"""How relevant reports are by words and vectors, without a model."""

from __future__ import annotations

from monjyu_query.modes.global_search.asking import Asking


def own_ratings(asking: Asking) -> list[float]:
    """Of all reports, without a model: as a sentence is scored, and never less than nine tenths of the best report
    below, whose words a summary of many may lack. For the whole collection the reports' own ratings."""
    reports = asking.reports
    if asking.whole:
        return [report.rating for report in reports.all]
    pairs = zip(asking.report_terms, asking.near, strict=True)
    found = [asking.worth(asking.terms.share(own), float(near)) for own, near in pairs]
    for place in sorted(range(len(found)), key=lambda place: -reports.all[place].level):
        found[place] = max([found[place], *(0.9 * found[child] for child in reports.below(place))])
    return found
