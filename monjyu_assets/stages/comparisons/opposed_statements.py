"""Level 4: pairs of statements that do not go together. What papers say is read once; an index that grows compares the
statements of changed papers with all others, and keeps the pairs of those that did not change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monjyu_assets.levels.tensions.comparing import Compared, near_pairs
from monjyu_assets.levels.tensions.likeness import WordNearness
from monjyu_assets.levels.tensions.rules_engine import ENGINE, read_with, side_rows, tension_row
from monjyu_assets.levels.tensions.saying import statements
from monjyu_assets.publishing.closed_set import input_versions
from monjyu_assets.stages.chunk_embeddings import matrix
from monjyu_assets.stages.shared.collection_stage import CollectionReport, Tables, whole_table
from monjyu_assets.stages.shared.vectors import vector_table
from monjyu_assets.stages.shared.work import Work, recipe, rows_of
from monjyu_core.embedding import load_embedder
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import Part
from monjyu_core.storage.rows.rows_levels import TensionSideRow
from monjyu_core.storage.schemas import COLLECTION_SHARD, empty, table_of

ASSET, SIDES, VECTORS = "tensions", "tension_sides", "tension_vectors"
CODE_VERSION = "3"
MOST = 20_000
"""Pairs that a collection keeps, the plainest first; one that has so many is compared anew when papers change."""
_CLAIM = ["claim_id", "paper_id", "chunk_id", "sentence_ids", "statement", "quote", "kind"]
_CHUNK = ["chunk_id", "paper_id", "section_type", "header", "text"]
_PLACE = ["chunk_id", "paper_id", "ord", "sentence_id", "start", "end"]


def tension_recipe(work: Work) -> str:
    """Includes the embedding model: how near two statements are decides with the rules."""
    return recipe(ASSET, CODE_VERSION, work.settings, ENGINE, read_with(), load_embedder(work.settings).fingerprint)


def find_tensions(work: Work) -> CollectionReport:
    """Compare the statements of papers that changed with those of all others."""
    made_with = tension_recipe(work)
    inputs = input_versions(work.parts, ASSET, COLLECTION_SHARD)
    previous = work.parts.head(ASSET, COLLECTION_SHARD)
    if previous is not None and (previous.inputs, previous.code_version) == (inputs, made_with):
        return CollectionReport(previous, recomputed=False)
    before = previous if previous is not None and previous.code_version == made_with else None
    keys = _keys(work)
    kept = {paper for paper, key in keys.items() if before and before.keys.get(paper) == key}
    tables = _tables(work, before, kept, keys.keys() - kept)
    part = work.parts.write(ASSET, COLLECTION_SHARD, tables, inputs=inputs, keys=keys, code_version=made_with)
    return CollectionReport(part, recomputed=True)


def _keys(work: Work) -> dict[str, str]:
    """By paper that counts (no copy of another) a hash of its chunks and claims. A chunk's id holds its text."""
    canonical = set(whole_table(work, "paper_identity", ["canonical_id"])["canonical_id"].to_pylist())
    rows: dict[str, list[object]] = defaultdict(list)
    for table, columns in (("chunks", ["paper_id", "chunk_id"]), ("claims", _CLAIM)):
        for row in whole_table(work, table, columns).sort_by(columns[0 if table == "claims" else 1]).to_pylist():
            if row["paper_id"] in canonical:
                rows[row["paper_id"]].append(list(row.values()))
    return {paper: digest(some, length=32) for paper, some in rows.items()}


def _tables(work: Work, before: Part | None, kept: set[str], changed: set[str]) -> Tables:
    sides = _sides(work, kept, changed)
    said = sides.filter(pc.equal(sides["ord"], 0)).select(["said_id", "paper_id", "read"]).to_pylist()
    ids = [{"said_id": row["said_id"], "paper_id": row["paper_id"]} for row in said]
    vectors = vector_table(work, ASSET, VECTORS, ids, [row["read"] for row in said])
    full = before is None or before.rows >= MOST
    compared = _compared(sides, vectors, set() if full else kept)
    pairs = near_pairs(compared, WordNearness(), lambda done, of: work.progress("statements compared", done, of))
    rows = table_of(ASSET, [tension_row(pair) for pair in pairs])
    if before is not None and not full:
        old, names = before.read(), pa.array(sorted(kept), pa.string())
        both = pc.and_(pc.is_in(old["first_paper_id"], names), pc.is_in(old["second_paper_id"], names))
        rows = pa.concat_tables([old.filter(both), rows])
    best = rows.sort_by([("score", "descending"), ("tension_id", "ascending")]).slice(0, MOST)
    return {ASSET: best, SIDES: sides, VECTORS: vectors}


def _sides(work: Work, kept: set[str], changed: set[str]) -> pa.Table:
    """The sides of all statements, in the order of their ids; those of changed papers are read anew."""
    part = work.parts.head(SIDES, COLLECTION_SHARD) if kept else None
    old = rows_of(part.read(), kept) if part else empty(SIDES)
    claims, chunks, places = (
        rows_of(whole_table(work, name, columns), changed)
        for name, columns in (("claims", _CLAIM), ("chunks", _CHUNK), ("chunk_sentences", _PLACE))
    )
    in_order = places.sort_by([("chunk_id", "ascending"), ("ord", "ascending")])
    said = list(statements(claims.to_pylist(), chunks.to_pylist(), in_order.to_pylist()))
    rows = side_rows(said, lambda done, of: work.progress("statements read", done, of))
    return pa.concat_tables([old, table_of(SIDES, rows)]).sort_by([("said_id", "ascending"), ("ord", "ascending")])


def _compared(sides: pa.Table, vectors: pa.Table, kept: set[str]) -> Compared:
    """The statements that have sides, with their vectors; those of `kept` papers have been compared."""
    by_said: dict[str, list[TensionSideRow]] = defaultdict(list)
    for row in sides.to_pylist():
        by_said[row["said_id"]].append(row)
    papers = [some[0]["paper_id"] for some in by_said.values()]
    new = np.array([paper not in kept for paper in papers], bool)
    return Compared(papers, list(by_said.values()), _unit(vectors, list(by_said)), new)


def _unit(vectors: pa.Table, ids: Sequence[str]) -> NDArray[np.float32]:
    """The unit vectors of these statements, in their order."""
    if not ids:
        return np.zeros((0, 1), np.float32)
    place = {said: row for row, said in enumerate(vectors["said_id"].to_pylist())}
    rows = matrix(vectors["vector"])[[place[said] for said in ids]]
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)
