"""A record of a review as JSON and for the terminal."""

from __future__ import annotations

from typing import Any

from monjyu_query.answers.render import safe
from monjyu_query.reviews.handing_on.prisma import record_reason
from monjyu_query.reviews.review_protocol import Protocol
from monjyu_query.reviews.review_records import Record


def record_json(one: Record) -> dict[str, Any]:
    """`outcome`, who decided (`by`) and why (`reason`), the verdict on each criterion with its quotes, and what a
    person said."""
    return {
        "paper_id": one.paper_id,
        "title": one.title,
        "year": one.year,
        "source": one.source,
        "outcome": one.outcome,
        "by": one.by,
        "reason": one.reason,
        "outdated": one.outdated,
        "screened_in": one.screening.snapshot_id if one.screening else None,
        "verdicts": [verdict.model_dump(mode="json") for verdict in (one.screening.verdicts if one.screening else [])],
        "override": one.override.model_dump(mode="json", exclude={"key", "sha256"}) if one.override else None,
    }


def record_lines(protocol: Protocol, one: Record) -> list[str]:
    """Outcome and title, then the reason, then what was found on each criterion with its quote."""
    year = f" ({one.year})" if one.year else ""
    lines = [f"{one.outcome.upper()}  {safe(one.title or one.paper_id)}{year}", f"  {safe(one.paper_id)}"]
    if one.override:
        old = " The paper has changed since." if one.outdated else ""
        lines.append(f"  {safe(one.override.by)}, {one.override.at[:10]}: {safe(one.override.reason)}.{old}")
    elif one.reason:
        lines.append(f"  Reason: {safe(record_reason(protocol, one))}")
    for verdict in one.screening.verdicts if one.screening else ():
        lines.append(f"  {verdict.criterion}: {verdict.holds} ({safe(verdict.why)})")
        for quote in verdict.quotes:
            page = f", page {quote.page}" if quote.page else ""
            lines.append(f"    “{safe(' '.join(quote.quote.split()))}”{page}")
    return lines
