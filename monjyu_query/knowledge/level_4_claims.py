"""The stored claims of level 4, for chunks that a search has found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import duckdb

from monjyu_query.knowledge.concept_graph import has_tables

_CLAIMS = """SELECT claim_id, chunk_id, subject, statement, sentence_ids, coalesce(confidence, 0), engine FROM claims
WHERE chunk_id IN (SELECT unnest($chunks::VARCHAR[])) ORDER BY chunk_id, claim_id"""
_COVERED = """SELECT chunk_id FROM chunks WHERE chunk_id IN (SELECT unnest($chunks::VARCHAR[]))
    AND chunk_id NOT IN (SELECT chunk_id FROM claim_failures WHERE failed)"""

_ANY_BY_MODEL = "SELECT 1 FROM claims WHERE engine NOT LIKE 'extractive%' LIMIT 1"
_WITHOUT_MODEL = """SELECT DISTINCT chunk_id FROM claims
WHERE engine LIKE 'extractive%' AND chunk_id IN (SELECT unnest($chunks::VARCHAR[]))"""


@dataclass(frozen=True)
class StoredClaim:
    claim_id: str
    chunk_id: str
    subject: str
    statement: str
    sentence_ids: tuple[str, ...]
    confidence: float
    engine: str


def claims_of(cursor: duckdb.DuckDBPyConnection, chunks: Iterable[str]) -> list[StoredClaim]:
    """The claims of these chunks; none where the snapshot has no level 4."""
    wanted = sorted(set(chunks))
    if not wanted or not has_tables(cursor, ("claims",)):
        return []
    rows = cursor.execute(_CLAIMS, {"chunks": wanted}).fetchall()
    return [
        StoredClaim(name, chunk, subject or "", statement, tuple(ids or ()), float(confidence), engine or "")
        for name, chunk, subject, statement, ids, confidence, engine in rows
    ]


def chunks_with_claims(cursor: duckdb.DuckDBPyConnection, chunks: Iterable[str]) -> set[str]:
    """Those of the chunks that level 4 has read, also where it found nothing to claim."""
    wanted = sorted(set(chunks))
    if not wanted or not has_tables(cursor, ("claims", "claim_failures")):
        return set()
    return {row[0] for row in cursor.execute(_COVERED, {"chunks": wanted}).fetchall()}


def read_by_models(cursor: duckdb.DuckDBPyConnection, chunks: set[str]) -> set[str]:
    """Those of the chunks, all of which level 4 has read, that a model has read: where no claim of the snapshot is by a
    model, none."""
    if not chunks or not cursor.execute(_ANY_BY_MODEL).fetchone():
        return set()
    without = {row[0] for row in cursor.execute(_WITHOUT_MODEL, {"chunks": sorted(chunks)}).fetchall()}
    return chunks - without
