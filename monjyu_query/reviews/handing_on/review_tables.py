"""Decisions for spreadsheets and reference managers: CSV, RIS of what is included, labels for ASReview."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from monjyu_core.text.controls import without_controls
from monjyu_query.answers.render import safe
from monjyu_query.citations.citation_export import entries, entries_of, ris
from monjyu_query.reviews.handing_on.prisma import record_reason
from monjyu_query.reviews.review_protocol import Protocol
from monjyu_query.reviews.review_records import Record
from monjyu_query.search.open_index import OpenIndex

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_LABELS = {"included": "1", "excluded": "0", "unsure": "-1", "pending": "-1"}
"""As ASReview reads them: relevant, irrelevant, not seen by anyone."""
_ABSTRACTS = "SELECT paper_id, coalesce(abstract, '') FROM papers"


def included_ris(index: OpenIndex, records: Sequence[Record]) -> str:
    return ris(entries_of(index.snapshot, [one.paper_id for one in records if one.outcome == "included"]))


def decisions_csv(protocol: Protocol, records: Sequence[Record]) -> str:
    """A row for each record and criterion (one for a record that was not screened), with the verdict and its quote."""
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
    return _csv(rows)


def asreview_csv(index: OpenIndex, records: Sequence[Record]) -> str:
    """What ASReview takes as a data set with prior knowledge: `included` is 1, 0, or -1 where nobody has decided."""
    abstracts = dict(index.snapshot.cursor().execute(_ABSTRACTS).fetchall())
    known = {entry.id: entry for entry in entries(index.snapshot, None)}
    rows = [["record_id", "title", "abstract", "authors", "year", "doi", "included"]]
    for one in records:
        entry = known.get(one.paper_id)
        if one.outcome in _LABELS and entry is not None:
            about = [entry.title, safe(abstracts.get(one.paper_id, "")), "; ".join(entry.authors)]
            rows.append([one.paper_id, *about, str(entry.year or ""), entry.doi or "", _LABELS[one.outcome]])
    return _csv(rows, labels=True)


def _csv(rows: Iterable[Sequence[str]], *, labels: bool = False) -> str:
    """What a spreadsheet would take for a formula is quoted ('); a label in the last column is a number."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    for row in rows:
        texts = map(without_controls, row[:-1] if labels else row)
        cells = [f"'{text}" if text.startswith(_FORMULA) else text for text in texts]
        writer.writerow([*cells, row[-1]] if labels else cells)
    return out.getvalue()
