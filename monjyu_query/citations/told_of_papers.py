"""What scholarly services and their files tell of a paper: notices on it, and records beside what it prints itself."""

from __future__ import annotations

from typing import TypeVar

import duckdb
from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


class PaperNotice(BaseModel):
    """What was said of a paper: `kind` is retraction, concern, correction or reinstatement."""

    kind: str
    date: str | None = None
    source: str
    notice_doi: str | None = None
    reasons: list[str] = []


class PaperTold(BaseModel):
    """What a service (`source`) says of a paper: by what it was matched (doi, arxiv, title), how well (0 to 1), and on
    which day the service gave it (ISO; None: from a file). It may differ from what the paper prints."""

    source: str
    source_id: str
    matched_by: str
    match_score: float
    retrieved: str | None = None
    title: str
    authors: list[str] = []
    year: int | None = None
    venue: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    abstract: str | None = None
    citation_count: int | None = None
    influential_citation_count: int | None = None
    fields: list[str] = []
    open_access: str | None = None
    reference_dois: list[str] = []
    tags: list[str] = []
    shelves: list[str] = []


def times_cited(told: PaperTold) -> str:
    """`cited 41 times, 4 of them influential`, as far as it is known."""
    if told.citation_count is None:
        return ""
    of_them = told.influential_citation_count
    return f"cited {told.citation_count} times" + ("" if of_them is None else f", {of_them} of them influential")


def notices_on(cursor: duckdb.DuckDBPyConnection, paper_id: str) -> list[PaperNotice]:
    return _rows(cursor, "paper_notices", PaperNotice, paper_id)


def records_of(cursor: duckdb.DuckDBPyConnection, paper_id: str) -> list[PaperTold]:
    return _rows(cursor, "scholarly_records", PaperTold, paper_id)


def _rows(cursor: duckdb.DuckDBPyConnection, table: str, model: type[M], paper_id: str) -> list[M]:
    """None in a snapshot of a version that had no such table; without the columns that it did not have."""
    try:
        there = {row[0] for row in cursor.execute(f"DESCRIBE {table}").fetchall()}
    except duckdb.CatalogException:
        return []
    names = [name for name in model.model_fields if name in there]
    columns = ", ".join(f'"{name}"' for name in names)
    rows = cursor.execute(f"SELECT {columns} FROM {table} WHERE paper_id = ? ORDER BY ord", [paper_id]).fetchall()
    return [model.model_validate(dict(zip(names, row, strict=True))) for row in rows]


def labels_in(cursor: duckdb.DuckDBPyConnection) -> dict[str, list[dict[str, str | int]]]:
    """`tags` and `shelves` of imported libraries, by name, with the number of papers that have each."""
    found: dict[str, list[dict[str, str | int]]] = {"tags": [], "shelves": []}
    for name, into in found.items():
        query = f"""SELECT any_value(label), count(DISTINCT canonical_id) FROM (
            SELECT canonical_id, unnest({name}) AS label FROM scholarly_records JOIN paper_identity USING (paper_id))
            GROUP BY lower(label) ORDER BY lower(label)"""
        try:
            into += [{"name": label, "papers": count} for label, count in cursor.execute(query).fetchall()]
        except (duckdb.BinderException, duckdb.CatalogException):  # a snapshot of a version that knew no labels
            continue
    return found
