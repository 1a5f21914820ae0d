"""Queries about the papers of a snapshot, for questions about the collection."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from monjyu_core.text.unicode_words import folded

_PAPERS = """SELECT p.paper_id, coalesce(p.title, ''), p.year, coalesce(p.venue, ''), coalesce(p.doi, ''),
  coalesce((SELECT list(a.name ORDER BY a.ord) FROM authors a WHERE a.paper_id = p.paper_id), [])
FROM papers p WHERE list_contains($papers, p.paper_id) ORDER BY p.year DESC NULLS LAST, lower(p.title), p.paper_id"""
_CITING = """SELECT DISTINCT e.paper_id, coalesce(e.contexts[1].context, '')
FROM citation_edges e JOIN paper_identity i ON i.canonical_id = e.cited_id WHERE i.paper_id = $paper ORDER BY ALL"""
_CITED = """SELECT DISTINCT min(b.paper_id), ''
FROM citation_edges e JOIN paper_identity a ON a.canonical_id = e.citing_id
JOIN paper_identity b ON b.canonical_id = e.cited_id WHERE a.paper_id = $paper GROUP BY e.cited_id ORDER BY ALL"""
_REFERENCES = 'SELECT count(*) FROM "references" WHERE paper_id = $paper'
PROLIFIC = """SELECT any_value(name), count(DISTINCT paper_id) AS n FROM authors WHERE list_contains($papers, paper_id)
GROUP BY lower(name) HAVING n > 1 ORDER BY n DESC, any_value(name) LIMIT $most"""
MOST_CITED = """SELECT min(b.paper_id), count(DISTINCT e.citing_id) AS n FROM citation_edges e
JOIN paper_identity b ON b.canonical_id = e.cited_id WHERE list_contains($papers, b.paper_id)
GROUP BY e.cited_id ORDER BY n DESC, min(b.paper_id) LIMIT $most"""
VENUES = """SELECT venue, count(*) AS n FROM papers WHERE list_contains($papers, paper_id) AND venue IS NOT NULL
AND venue <> '' GROUP BY venue ORDER BY n DESC, venue LIMIT $most"""
YEARS = """SELECT year, count(*) FROM papers WHERE list_contains($papers, paper_id) AND year IS NOT NULL
GROUP BY year ORDER BY year DESC LIMIT $most"""
_UNDATED = "SELECT count(*) FROM papers WHERE list_contains($papers, paper_id) AND year IS NULL"
_AUTHORS = "SELECT DISTINCT name FROM authors ORDER BY name"


@dataclass(frozen=True)
class CataloguePaper:
    paper_id: str
    title: str
    year: int | None
    venue: str
    doi: str
    authors: tuple[str, ...]


def papers(cursor: duckdb.DuckDBPyConnection, paper_ids: Sequence[str]) -> list[CataloguePaper]:
    """The papers, the newest first."""
    rows = cursor.execute(_PAPERS, {"papers": list(paper_ids)}).fetchall()
    return [
        CataloguePaper(name, title, year, venue, doi, tuple(authors)) for name, title, year, venue, doi, authors in rows
    ]


def citing(cursor: duckdb.DuckDBPyConnection, paper_id: str) -> list[tuple[str, str]]:
    """(id, a citing sentence or "") of each paper of the collection that cites the paper."""
    return cursor.execute(_CITING, {"paper": paper_id}).fetchall()


def cited(cursor: duckdb.DuckDBPyConnection, paper_id: str) -> tuple[list[tuple[str, str]], int]:
    """(id, "") of each paper of the collection that the paper cites, and the number of its references."""
    rows = cursor.execute(_CITED, {"paper": paper_id}).fetchall()
    return rows, int(cursor.execute(_REFERENCES, {"paper": paper_id}).fetchall()[0][0])


def counted(
    cursor: duckdb.DuckDBPyConnection, query: str, paper_ids: Sequence[str], most: int
) -> list[tuple[Any, int]]:
    """The first `most` rows of `PROLIFIC`, `VENUES` or `YEARS` (a value and its number of papers), or of `MOST_CITED`
    (a paper and its number of citing papers in the collection)."""
    return cursor.execute(query, {"papers": list(paper_ids), "most": most}).fetchall()


def undated(cursor: duckdb.DuckDBPyConnection, paper_ids: Sequence[str]) -> int:
    """The number of papers without a year."""
    return int(cursor.execute(_UNDATED, {"papers": list(paper_ids)}).fetchall()[0][0])


def close_authors(cursor: duckdb.DuckDBPyConnection, name: str) -> list[str]:
    """Up to three authors of the collection with a similar spelling."""
    names = [row[0] for row in cursor.execute(_AUTHORS).fetchall()]
    parts: dict[str, str] = {}
    for one in names:
        parts.setdefault(folded(one), one)
        parts.setdefault(folded(one.split()[-1]), one)
    near = difflib.get_close_matches(folded(name.split()[-1]), list(parts), 3, 0.75)
    return list(dict.fromkeys(parts[part] for part in near))
