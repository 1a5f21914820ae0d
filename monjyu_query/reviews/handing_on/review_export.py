"""What a review is handed on as; every form is made from the same records."""

from __future__ import annotations

import json
from collections.abc import Sequence

from monjyu_query.asking.fields import ExportForm
from monjyu_query.digests.asker import Asker
from monjyu_query.digests.study_table.table_export import as_csv
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.reviews.handing_on.evidence_table import evidence_tables
from monjyu_query.reviews.handing_on.prisma import mermaid, prisma
from monjyu_query.reviews.handing_on.prisma_svg import prisma_svg
from monjyu_query.reviews.handing_on.review_listing import record_json, review_json
from monjyu_query.reviews.handing_on.review_report import review_report
from monjyu_query.reviews.handing_on.review_tables import asreview_csv, decisions_csv, included_ris
from monjyu_query.reviews.review_protocol import Protocol
from monjyu_query.reviews.review_records import Record

_BOM = "\ufeff"
"""Which spreadsheets want; ASReview reads plain UTF-8."""


def exported(form: str, searcher: Asker, index: OpenIndex, protocol: Protocol, records: Sequence[Record]) -> str:
    """`form` is one of `FORMS`."""
    if form in ("svg", "mermaid"):
        counts = prisma(protocol, records)
        return prisma_svg(counts) if form == "svg" else mermaid(counts)
    if form == "csv":
        return _BOM + decisions_csv(protocol, records)
    if form == "ris":
        return included_ris(index, records)
    if form == "asreview":
        return asreview_csv(index, records)
    tables = evidence_tables(searcher, index, protocol, [one.paper_id for one in records if one.outcome == "included"])
    if form == "evidence":
        rows = [as_csv(table).decode("utf-8-sig").split("\r\n", 1) for table in tables]
        return _BOM + "\r\n".join([rows[0][0], "".join(rest for _, rest in rows)]) if rows else ""
    if form == "json":
        return _as_json(index, protocol, records, [table.model_dump(mode="json") for table in tables])
    return review_report(index, protocol, records, tables)


def _as_json(index: OpenIndex, protocol: Protocol, records: Sequence[Record], tables: Sequence[object]) -> str:
    value = review_json(index, protocol, records) | {
        "protocol": protocol.model_dump(mode="json", by_alias=True, exclude_none=True),
        "records": [record_json(one) for one in records],
        "evidence": tables,
    }
    return json.dumps(value, ensure_ascii=False) + "\n"


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
