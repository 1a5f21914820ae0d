"""Which papers of a snapshot are retracted, by its table `paper_notices`."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

RETRACTED = """
    SELECT n.paper_id, arg_max(n.source, coalesce(n.date, '')) AS source, max(n.date) AS date FROM paper_notices n
    WHERE n.kind = 'retraction' AND NOT EXISTS (
        FROM paper_notices r WHERE r.paper_id = n.paper_id AND r.kind = 'reinstatement'
        AND coalesce(r.date, '9999') >= coalesce(n.date, ''))
    GROUP BY n.paper_id"""
"""Papers with a retraction that no later reinstatement takes back: who says so last, and since when."""
_ANY = "SELECT 1 FROM paper_notices WHERE kind = 'retraction' LIMIT 1"
"""A quarter of the time of the query above, and most collections have none."""


@dataclass(frozen=True)
class Retraction:
    source: str
    date: str | None

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.source, self.date)))


def retractions(cursor: duckdb.DuckDBPyConnection) -> dict[str, Retraction]:
    """By paper id; none in a snapshot of a version that had no such table."""
    try:
        rows = cursor.execute(RETRACTED).fetchall() if cursor.execute(_ANY).fetchone() else []
    except duckdb.CatalogException:
        return {}
    return {paper_id: Retraction(source, date) for paper_id, source, date in rows}
