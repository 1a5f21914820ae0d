"""A review as Markdown: question, criteria, flow, what is included and what is not, the evidence table."""

from __future__ import annotations

from collections.abc import Sequence

from monjyu_query.answers.render import safe
from monjyu_query.answers.segments import escaped
from monjyu_query.digests.digest_result import Digest
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.reviews.handing_on.prisma import mermaid, prisma, record_reason
from monjyu_query.reviews.review_protocol import Criterion, Protocol
from monjyu_query.reviews.review_records import Outcome, Record

_HEADINGS: tuple[tuple[Outcome, str], ...] = (
    ("included", "Included"),
    ("unsure", "Awaiting a person's decision"),
    ("excluded", "Excluded"),
    ("pending", "Not screened yet"),
)


def review_report(index: OpenIndex, protocol: Protocol, records: Sequence[Record], tables: Sequence[Digest]) -> str:
    lines = [f"# {_text(protocol.title or protocol.name)}", "", _text(protocol.question), ""]
    lines += [f"Collection {index.snapshot.collection.name}, snapshot {index.snapshot.id}.", ""]
    lines += ["## Criteria", ""]
    lines += [_criterion("Include", one) for one in protocol.include]
    lines += [_criterion("Exclude", one) for one in protocol.exclude]
    lines += ["", "## Flow of records (PRISMA 2020)", "", "```mermaid", mermaid(prisma(protocol, records)) + "```", ""]
    for outcome, heading in _HEADINGS:
        some = [one for one in records if one.outcome == outcome]
        if some:
            lines += [f"## {heading} ({len(some)})", ""]
            lines += [line for one in some for line in _record(protocol, one)] + [""]
    if tables:
        lines += ["## Evidence", "", *(table.text() for table in tables)]
    return "\n".join(lines).rstrip() + "\n"


def _criterion(kind: str, one: Criterion) -> str:
    rule = one.rule.model_dump_json(by_alias=True, exclude_unset=True) if one.rule else "searched for in the paper"
    return f"- {kind}: {_text(one.text)} (`{one.id}`: `{rule.replace('`', '')}`)"


def _record(protocol: Protocol, one: Record) -> list[str]:
    """The record, why it stands where it does, and the quotes that show it."""
    year = f" ({one.year})" if one.year else ""
    lines = [f"- **{_text(one.title or one.paper_id)}**{year}, `{one.paper_id}`"]
    if one.override:
        old = "; the paper has changed since" if one.outdated else ""
        lines.append(f"  - by {_text(one.override.by)} on {one.override.at[:10]}: {_text(one.override.reason)}{old}")
    elif one.reason:
        lines.append(f"  - {_text(record_reason(protocol, one))}")
    for verdict in one.screening.verdicts if one.screening else ():
        if one.reason in ("", verdict.criterion) or one.override:
            lines.append(f"  - `{verdict.criterion}` {verdict.holds}: {_text(verdict.why)}")
            for quote in verdict.quotes:
                page = f", page {quote.page}" if quote.page else ""
                lines.append(f"    > {_text(quote.quote)}{page}")
    return lines


def _text(text: str) -> str:
    return escaped(safe(" ".join(text.split())))
