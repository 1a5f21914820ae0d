"""Writes a review in several formats, all from the same records."""

import json
import threading
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from monjyu_core.records.reviews import Human, Verdict
from monjyu_core.values import Values
from monjyu_query.answers.render import safe
from monjyu_query.answers.segments import escaped
from monjyu_query.asking.fields import ExportForm
from monjyu_query.citations.export import entries, entries_of, ris
from monjyu_query.digests.draft import Asker
from monjyu_query.digests.result import Digest
from monjyu_query.digests.study_table import MOST_PAPERS, study_table
from monjyu_query.digests.table_export import as_csv, csv_text
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.reviews.prisma import Prisma, mermaid, prisma, prisma_svg, record_reason
from monjyu_query.reviews.protocol import Criterion, Protocol
from monjyu_query.reviews.records import Outcome, Record


# A record of a review as JSON and for the terminal.
class HumanDecision(BaseModel):
    """A person's decision. `by` is the person's name in the audit log, `at` the time (ISO, UTC)."""

    decision: Human
    reason: str
    criterion: str
    by: str
    at: str


class ReviewedRecord(BaseModel):
    """A record in JSON: who decided (`by`) and why (`reason`), the verdict on each criterion with its quotes, the
    snapshot in which the paper was screened (`screened_in`), and a person's decision (`override`)."""

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
    """The fields with which all JSON of a review begins."""

    review: str
    collection: str
    snapshot_id: str
    counts: Prisma


def record_json(one: Record) -> Values:
    """Return the record as the JSON object of a `ReviewedRecord`."""
    screening = {
        "screened_in": one.screening and one.screening.snapshot_id,
        "verdicts": one.screening.verdicts if one.screening else [],
        "override": one.override and one.override.model_dump(),
    }
    return ReviewedRecord.model_validate(vars(one) | screening).model_dump(mode="json")


def review_json(index: OpenIndex, protocol: Protocol, records: Sequence[Record]) -> Values:
    """Return the review as the JSON object of a `Reviewed`."""
    return Reviewed(
        review=protocol.name,
        collection=index.snapshot.collection.name,
        snapshot_id=index.snapshot.id,
        counts=prisma(protocol, records),
    ).model_dump(mode="json")


def record_lines(protocol: Protocol, one: Record) -> list[str]:
    """Return a record as lines: outcome, title and id, the reason, then each criterion's verdict with quotes."""
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


# Decisions for spreadsheets and reference managers: CSV, RIS of included papers, labels for ASReview.
_LABELS = {"included": 1, "excluded": 0, "unsure": -1, "pending": -1}
"""The labels of ASReview: 1 relevant, 0 irrelevant, -1 not decided."""
_ABSTRACTS = "SELECT paper_id, coalesce(abstract, '') FROM papers"


def decisions_csv(protocol: Protocol, records: Sequence[Record]) -> str:
    """Return a CSV file with a row for each record and criterion (a single row for a record that was not screened),
    with the verdict and its quotes."""
    heads = ["paper_id", "title", "year", "source", "outcome", "by", "reason", "criterion", "holds", "why", "engine"]
    rows: list[list[str]] = [[*heads, "quote", "page"]]
    for one in records:
        reason = record_reason(protocol, one)
        first = [one.paper_id, one.title, str(one.year or ""), one.source, one.outcome, one.by, reason]
        verdicts = one.screening.verdicts if one.screening else []
        for verdict in verdicts:
            quotes = "\n".join(" ".join(quote.quote.split()) for quote in verdict.quotes)
            pages = ", ".join(str(quote.page) for quote in verdict.quotes if quote.page)
            told = [verdict.criterion, verdict.holds, verdict.why, verdict.engine, quotes, pages]
            rows.append([*first, *told])
        if not verdicts:
            rows.append([*first, *[""] * 6])
    return csv_text(rows)


def asreview_csv(index: OpenIndex, records: Sequence[Record]) -> str:
    """Return a data set with prior knowledge for ASReview (CSV): `included` is 1, 0, or -1 if undecided."""
    abstracts = dict(index.snapshot.cursor().execute(_ABSTRACTS).fetchall())
    known = {entry.id: entry for entry in entries(index.snapshot, None)}
    rows: list[list[str | int]] = [["record_id", "title", "abstract", "authors", "year", "doi", "included"]]
    for one in records:
        entry = known.get(one.paper_id)
        if one.outcome in _LABELS and entry is not None:
            about = [entry.title, safe(abstracts.get(one.paper_id, "")), "; ".join(entry.authors)]
            rows.append([one.paper_id, *about, str(entry.year or ""), entry.doi or "", _LABELS[one.outcome]])
    return csv_text(rows)


# A review as Markdown: question, criteria, flow, included and excluded papers, the evidence table.
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
    """Return a record as list items: its title, the reason for its outcome, and the supporting quotes."""
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


# The evidence table of a review: the study table of included papers, with a column per field of the protocol.
def evidence_tables(
    searcher: Asker,
    index: OpenIndex,
    protocol: Protocol,
    papers: Sequence[str],
    cancel: threading.Event | None = None,
) -> list[Digest]:
    """Return the study tables of the papers: several if there are more papers than one table can have."""
    batches = [papers[start : start + MOST_PAPERS] for start in range(0, len(papers), MOST_PAPERS)]
    return [
        study_table(searcher, protocol.fields, batch, most=MOST_PAPERS, index=index, cancel=cancel) for batch in batches
    ]


_BOM = "\ufeff"
"""The byte order mark, which spreadsheets expect; ASReview reads plain UTF-8."""


def exported(form: str, searcher: Asker, index: OpenIndex, protocol: Protocol, records: Sequence[Record]) -> str:
    """Return the review in the format `form` of `FORMS`."""
    if form in ("svg", "mermaid"):
        counts = prisma(protocol, records)
        return prisma_svg(counts) if form == "svg" else mermaid(counts)
    included = [one.paper_id for one in records if one.outcome == "included"]
    if form == "csv":
        return _BOM + decisions_csv(protocol, records)
    if form == "ris":
        return ris(entries_of(index.snapshot, included))
    if form == "asreview":
        return asreview_csv(index, records)
    tables = evidence_tables(searcher, index, protocol, included)
    if form == "evidence":
        rows = [as_csv(table).decode("utf-8-sig").split("\r\n", 1) for table in tables]
        return _BOM + "\r\n".join([rows[0][0], "".join(rest for _, rest in rows)]) if rows else ""
    if form == "json":
        value = review_json(index, protocol, records) | {
            "protocol": protocol.model_dump(mode="json", by_alias=True, exclude_none=True),
            "records": [record_json(one) for one in records],
            "evidence": [table.model_dump(mode="json") for table in tables],
        }
        return json.dumps(value, ensure_ascii=False) + "\n"
    return review_report(index, protocol, records, tables)


def _form(name: str, media_type: str, ending: str, label: str) -> ExportForm:
    return ExportForm(lambda *review: exported(name, *review).encode(), media_type, ending, label)


_CSV = "text/csv; charset=utf-8"
FORMS = {
    "markdown": _form("markdown", "text/markdown; charset=utf-8", "md", "Report"),
    "csv": _form("csv", _CSV, "csv", "Decisions (CSV)"),
    "json": _form("json", "application/json", "json", "JSON"),
    "ris": _form("ris", "application/x-research-info-systems", "ris", "RIS"),
    "asreview": _form("asreview", _CSV, "csv", "ASReview"),
    "evidence": _form("evidence", _CSV, "csv", "Evidence (CSV)"),
    "svg": _form("svg", "image/svg+xml", "svg", "SVG"),
    "mermaid": _form("mermaid", "text/plain; charset=utf-8", "mmd", "Mermaid"),
}
