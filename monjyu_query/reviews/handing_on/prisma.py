"""The counts of a PRISMA 2020 flow diagram (Page et al., BMJ 2021;372:n71), and the diagram as Mermaid text.

Both come from the records of a review and from nothing else: every record is counted once, by its outcome.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pydantic import BaseModel

from monjyu_query.reviews.review_protocol import Protocol
from monjyu_query.reviews.review_records import Record

_HUMAN = "Decided by a person"
_KINDS = {"database": "Database: ", "register": "Register: "}


class Reason(BaseModel):
    """`criterion` is empty where a person gave a reason of their own."""

    criterion: str
    text: str
    count: int


class SourceCount(BaseModel):
    """The records identified from one source of the protocol; `kind` as it stands there."""

    name: str
    kind: str
    count: int


class Prisma(BaseModel):
    """`identified` = `duplicates` + `unsupported` + `unreadable` + `screened` + `pending`, and `screened` =
    `excluded` + `unsure` + `included`. `sources`: those identified; `reasons`: those excluded."""

    identified: int
    sources: list[SourceCount]
    duplicates: int
    unsupported: int
    unreadable: int
    pending: int
    screened: int
    excluded: int
    excluded_by_automation: int
    excluded_by_human: int
    reasons: list[Reason]
    unsure: int
    included: int
    included_by_automation: int
    included_by_human: int


def prisma(protocol: Protocol, records: Sequence[Record]) -> Prisma:
    """Counted from the records. Reasons are in the protocol's order, a person's own last."""
    of = Counter(record.outcome for record in records)
    who = Counter((record.outcome, record.by) for record in records)
    return Prisma(
        identified=len(records),
        sources=[
            SourceCount(name=name, kind=kind, count=count)
            for (name, kind), count in Counter((record.source, record.kind) for record in records).most_common()
        ],
        duplicates=of["duplicate"],
        unsupported=of["unsupported"],
        unreadable=of["unreadable"],
        pending=of["pending"],
        screened=of["excluded"] + of["unsure"] + of["included"],
        excluded=of["excluded"],
        excluded_by_automation=who["excluded", "automation"],
        excluded_by_human=who["excluded", "human"],
        reasons=_reasons(protocol, records),
        unsure=of["unsure"],
        included=of["included"],
        included_by_automation=who["included", "automation"],
        included_by_human=who["included", "human"],
    )


def _reasons(protocol: Protocol, records: Sequence[Record]) -> list[Reason]:
    counts = Counter(
        record.reason if protocol.criterion(record.reason) else "" for record in records if record.outcome == "excluded"
    )
    order = [one.id for one in protocol.criteria]
    return [
        Reason(criterion=name, text=reason_text(protocol, name), count=counts[name])
        for name in sorted(counts, key=lambda name: order.index(name) if name in order else len(order))
    ]


def reason_text(protocol: Protocol, name: str) -> str:
    """As the diagram says it: a criterion that includes is one that was not met."""
    criterion = protocol.criterion(name)
    if criterion is None:
        return _HUMAN
    return f"Not met: {criterion.text}" if criterion in protocol.include else criterion.text


def record_reason(protocol: Protocol, record: Record) -> str:
    """Why a record stands where it does, in words; empty for one that is included by all criteria."""
    if record.override:
        return record.override.reason
    criterion = protocol.criterion(record.reason)
    if criterion and record.outcome == "unsure":
        return f"Not clear: {criterion.text}"
    return reason_text(protocol, record.reason) if criterion else record.reason


Box = tuple[str, list[str]]
"""The heading of a box of the diagram, and its lines."""


def boxes(counts: Prisma) -> dict[str, Box]:
    """What stands in the diagram: in the middle `identified`, `screened`, `included`, and beside them what left."""
    removed = [
        f"Duplicate records (n = {counts.duplicates})",
        f"Files of other types (n = {counts.unsupported})",
        f"Files that cannot be read (n = {counts.unreadable})",
    ]
    excluded = [f"{reason.text} (n = {reason.count})" for reason in counts.reasons]
    found: dict[str, Box] = {
        "identified": (
            f"Records identified (n = {counts.identified})",
            [f"{_KINDS.get(one.kind, '')}{one.name} (n = {one.count})" for one in counts.sources],
        ),
        "removed": ("Records removed before screening", removed),
        "screened": (
            f"Records screened (n = {counts.screened})",
            [f"Not screened yet (n = {counts.pending})"] if counts.pending else [],
        ),
        "excluded": (
            f"Records excluded (n = {counts.excluded})",
            [
                f"by automation (n = {counts.excluded_by_automation}), by people (n = {counts.excluded_by_human})",
                *excluded,
            ],
        ),
        "included": (
            f"Studies included in review (n = {counts.included})",
            [f"by automation (n = {counts.included_by_automation}), by people (n = {counts.included_by_human})"],
        ),
    }
    if counts.unsure:
        found["unsure"] = (f"Awaiting a person's decision (n = {counts.unsure})", [])
    return found


def mermaid(counts: Prisma) -> str:
    """A flowchart; what papers and people wrote stands in quotes, its signs as entities."""
    shown = boxes(counts)
    arrows = [("identified", "removed"), ("identified", "screened"), ("screened", "excluded")]
    arrows += [("screened", "unsure")] if "unsure" in shown else []
    arrows += [("screened", "included")]
    nodes = [f'  {name}["{"<br/>".join(map(_escaped, (head, *lines)))}"]' for name, (head, lines) in shown.items()]
    return "\n".join(["flowchart TD", *nodes, *(f"  {a} --> {b}" for a, b in arrows)]) + "\n"


def _escaped(text: str) -> str:
    """Mermaid reads `#35;` as `#`."""
    plain = " ".join(text.split())
    return "".join(sign if sign.isalnum() or sign in " .,:=()-–’'" else f"#{ord(sign)};" for sign in plain)
