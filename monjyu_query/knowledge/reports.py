"""The community reports of a snapshot in memory: a tree, with one vector per report."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import duckdb
import numpy as np

from monjyu_query.knowledge.concept_graph import has_tables
from monjyu_query.ranking.fusion import Scores

_REPORTS = """SELECT r.community_id, r.level, r.title, r.summary, r.findings, coalesce(r.rating, 0), r.text, r.engine
FROM community_reports r ORDER BY r.level, r.community_id"""
_PARENTS = "SELECT community_id, parent_id FROM entity_communities"
_VECTORS = "SELECT community_id, vector FROM report_embeddings"


@dataclass(frozen=True)
class Finding:
    """A finding of a report. `sentence_ids` are the source sentences that support it."""

    summary: str
    explanation: str
    sentence_ids: tuple[str, ...]

    @property
    def text(self) -> str:
        """The finding's text on one line."""
        return " ".join(f"{self.summary} {self.explanation}".split())


@dataclass(frozen=True)
class Report:
    """A community report. `rating` is 0 to 10; `parent` is the nearest community above that has a report."""

    id: str
    level: int
    parent: str | None
    title: str
    summary: str
    findings: tuple[Finding, ...]
    rating: float
    text: str
    engine: str


@dataclass(frozen=True)
class Reports:
    """All reports, sorted by level and id; `vectors` (r, d) has a row of zeros for a report without a vector."""

    all: tuple[Report, ...]
    vectors: Scores

    @cached_property
    def children(self) -> dict[str | None, list[int]]:
        """The indices of the reports directly below each report, by its id; those under None are the roots."""
        below: dict[str | None, list[int]] = {}
        for place, report in enumerate(self.all):
            below.setdefault(report.parent, []).append(place)
        return below

    @property
    def roots(self) -> list[int]:
        return self.children.get(None, [])

    def below(self, place: int) -> list[int]:
        """Indices of the reports directly below one."""
        return self.children.get(self.all[place].id, [])

    def similarity(self, vector: Scores) -> Scores:
        """Cosine similarity (r,) with a query's vector (d,) of length 1."""
        if not len(self.vectors):
            return np.zeros(len(self.all), np.float32)
        found: Scores = np.vecdot(self.vectors, vector)
        return found


def load_reports(cursor: duckdb.DuckDBPyConnection) -> Reports:
    """The reports; empty if the snapshot has none."""
    if not has_tables(cursor, ("community_reports", "entity_communities")):
        return Reports((), np.zeros((0, 0), np.float32))
    rows = cursor.execute(_REPORTS).fetchall()
    known = {row[0] for row in rows}
    parents = dict(cursor.execute(_PARENTS).fetchall())
    found = [_report(row, nearest(row[0], parents, known)) for row in rows]
    return Reports(tuple(found), _vectors(cursor, [report.id for report in found]))


def _report(
    row: tuple[str, int, str, str, list[dict[str, object]] | None, float, str, str], above: str | None
) -> Report:
    name, level, title, summary, findings, rating, text, engine = row
    said = tuple(
        Finding(str(f["summary"] or ""), str(f["explanation"] or ""), tuple(f["sentence_ids"] or ()))  # type: ignore[arg-type]
        for f in findings or ()
    )
    return Report(name, level, above, title or "", summary or "", said, float(rating), text or "", engine or "")


def nearest(name: str, parents: dict[str, str | None], known: set[str]) -> str | None:
    """The first community above that has a report. A cycle among parents, which no asset writes, ends the search."""
    seen = {name}
    above = parents.get(name)
    while above is not None and above not in known and above not in seen:
        seen.add(above)
        above = parents.get(above)
    return above if above in known and above != name else None


def _vectors(cursor: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Scores:
    found = dict(cursor.execute(_VECTORS).fetchall()) if has_tables(cursor, ("report_embeddings",)) else {}
    size = len(next(iter(found.values()), ()))
    matrix = np.zeros((len(names), size), np.float32)
    for place, name in enumerate(names):
        if name in found:
            matrix[place] = found[name]
    return matrix if size else np.zeros((0, 0), np.float32)


# The stored claims of level 4, for chunks that a search has found.
_CLAIMS = """SELECT chunk_id, statement, sentence_ids, coalesce(confidence, 0), engine FROM claims
WHERE chunk_id IN (SELECT unnest($chunks::VARCHAR[])) ORDER BY chunk_id, claim_id"""
_COVERED = """SELECT chunk_id FROM chunks WHERE chunk_id IN (SELECT unnest($chunks::VARCHAR[]))
    AND chunk_id NOT IN (SELECT chunk_id FROM claim_failures WHERE failed)"""

_ANY_BY_MODEL = "SELECT 1 FROM claims WHERE engine NOT LIKE 'extractive%' LIMIT 1"
_WITHOUT_MODEL = """SELECT DISTINCT chunk_id FROM claims
WHERE engine LIKE 'extractive%' AND chunk_id IN (SELECT unnest($chunks::VARCHAR[]))"""


@dataclass(frozen=True)
class StoredClaim:
    chunk_id: str
    statement: str
    sentence_ids: tuple[str, ...]
    confidence: float
    engine: str


def claims_of(cursor: duckdb.DuckDBPyConnection, chunks: Iterable[str]) -> list[StoredClaim]:
    """The claims of `chunks`; empty if the snapshot has no level 4."""
    wanted = sorted(set(chunks))
    if not wanted or not has_tables(cursor, ("claims",)):
        return []
    rows = cursor.execute(_CLAIMS, {"chunks": wanted}).fetchall()
    return [
        StoredClaim(chunk, statement, tuple(ids or ()), float(confidence), engine or "")
        for chunk, statement, ids, confidence, engine in rows
    ]


def chunks_with_claims(cursor: duckdb.DuckDBPyConnection, chunks: Iterable[str]) -> set[str]:
    """The chunks that level 4 has read, including those without claims."""
    wanted = sorted(set(chunks))
    if not wanted or not has_tables(cursor, ("claims", "claim_failures")):
        return set()
    return {row[0] for row in cursor.execute(_COVERED, {"chunks": wanted}).fetchall()}


def read_by_models(cursor: duckdb.DuckDBPyConnection, chunks: set[str]) -> set[str]:
    """Those of `chunks` that a model has read, given chunks that level 4 has read: all except those with claims
    extracted without a model; none if the snapshot has no claim by a model."""
    if not chunks or not cursor.execute(_ANY_BY_MODEL).fetchone():
        return set()
    without = {row[0] for row in cursor.execute(_WITHOUT_MODEL, {"chunks": sorted(chunks)}).fetchall()}
    return chunks - without
