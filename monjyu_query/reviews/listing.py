"""A record of a review as JSON and for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel

from monjyu_core.records.reviews import Human, Verdict
from monjyu_query.answers.render import safe
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.reviews.prisma import Prisma, prisma, record_reason
from monjyu_query.reviews.protocol import Protocol
from monjyu_query.reviews.records import Outcome, Record


class HumanDecision(BaseModel):
    """What a person decided: `by` as the audit log names people, `at` ISO and UTC."""

    decision: Human
    reason: str
    criterion: str
    by: str
    at: str


class ReviewedRecord(BaseModel):
    """A record as JSON has it: who decided (`by`) and why (`reason`), the verdict on each criterion with its quotes,
    the snapshot that it was screened in, and what a person said."""

    paper_id: str
    title: str
    year: int | None
    source: str
    outcome: Outcome
    by: Literal["", "automation", "human"]
    reason: str
    outdated: bool
    screened_in: str | None
    verdicts: list[Verdict]
    override: HumanDecision | None


class Reviewed(BaseModel):
    """What all JSON of a review begins with."""

    review: str
    collection: str
    snapshot_id: str
    counts: Prisma


def record_json(one: Record) -> dict[str, Any]:
    """As `ReviewedRecord`."""
    said = one.override
    return ReviewedRecord(
        paper_id=one.paper_id,
        title=one.title,
        year=one.year,
        source=one.source,
        outcome=one.outcome,
        by=one.by,
        reason=one.reason,
        outdated=one.outdated,
        screened_in=one.screening.snapshot_id if one.screening else None,
        verdicts=one.screening.verdicts if one.screening else [],
        override=HumanDecision.model_validate(said.model_dump()) if said else None,
    ).model_dump(mode="json")


def review_json(index: OpenIndex, protocol: Protocol, records: Sequence[Record]) -> dict[str, Any]:
    """As `Reviewed`."""
    return Reviewed(
        review=protocol.name,
        collection=index.snapshot.collection.name,
        snapshot_id=index.snapshot.id,
        counts=prisma(protocol, records),
    ).model_dump(mode="json")


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
