"""Level 0: references inside the collection as edges between papers, the others with the work they name."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from monjyu_assets.matching.match_keys import connect
from monjyu_assets.matching.reference_matching import resolve
from monjyu_assets.matching.works import work_ids
from monjyu_assets.publishing.closed_set import asset_version
from monjyu_assets.stages.paper_identity import AUTHOR_COLUMNS, PAPER_COLUMNS, known_by
from monjyu_assets.stages.shared.collection_stage import CollectionReport, Tables, run_collection_stage, whole_table
from monjyu_assets.stages.shared.work import Work, recipe
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.ids import digest
from monjyu_core.storage.rows import UnresolvedReferenceRow
from monjyu_core.storage.schemas import COLLECTION_SHARD, table_of

ASSET = "citation_network"
CODE_VERSION = "3"
REFERENCE_COLUMNS = ["paper_id", "ord", "ref_id", "raw_text", "title", "year", "doi", "arxiv_id"]
_CITATION_COLUMNS = ["paper_id", "ord", "ref_id", "context", "section"]

_EDGES = """
WITH contexts AS (
    SELECT paper_id, ref_id, list({'section': section, 'context': context} ORDER BY ord) AS contexts
    FROM inline_citations SEMI JOIN resolved USING (paper_id) GROUP BY paper_id, ref_id
), edges AS (
    SELECT a.canonical_id AS citing_id, b.canonical_id AS cited_id, r.paper_id, r.ord AS ref_ord, x.ref_id, r.method,
           r.score, coalesce(c.contexts, []) AS contexts
    FROM resolved r JOIN paper_identity a USING (paper_id) JOIN paper_identity b ON b.paper_id = r.cited
    JOIN "references" x ON x.paper_id = r.paper_id AND x.ord = r.ord
    LEFT JOIN contexts c ON c.paper_id = r.paper_id AND c.ref_id = x.ref_id
)
SELECT * FROM edges WHERE citing_id <> cited_id
QUALIFY row_number() OVER (PARTITION BY citing_id, cited_id
                           ORDER BY paper_id <> citing_id, score DESC, paper_id, ref_ord) = 1
ORDER BY citing_id, cited_id
"""
"""One edge for each pair of papers, from the canonical file where it has one."""


def network_recipe(settings: Settings) -> str:
    return recipe(ASSET, CODE_VERSION, settings)


def build_network(work: Work) -> CollectionReport:
    return run_collection_stage(work, ASSET, network_recipe(work.settings), _tables, _made_of)


def _made_of(work: Work) -> str:
    """What papers are known by, which files are one paper, and what they cite where: not the rest of their text."""
    cited = [part.data_version for table in ("references", "inline_citations") for part in work.parts.heads(table)]
    return digest(known_by(work), asset_version(work.parts, "paper_identity", COLLECTION_SHARD), *cited)


def _tables(work: Work) -> Tables:
    papers, authors = whole_table(work, "papers", PAPER_COLUMNS), whole_table(work, "authors", AUTHOR_COLUMNS)
    with connect(papers, authors) as connection:
        resolve(
            connection,
            whole_table(work, "references", REFERENCE_COLUMNS),
            follow_preprints=work.settings.citations.follow_preprints,
        )
        connection.register("paper_identity", whole_table(work, "paper_identity", ["paper_id", "canonical_id"]))
        connection.register("inline_citations", whole_table(work, "inline_citations", _CITATION_COLUMNS))
        edges = connection.sql(_EDGES).to_arrow_table()
        return {"citation_edges": edges, "unresolved_references": _unresolved(connection)}


def _unresolved(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    ids = work_ids(connection)
    rows = connection.execute('SELECT paper_id, ord, ref_id FROM "references" ORDER BY paper_id, ord').fetchall()
    unresolved: list[UnresolvedReferenceRow] = [
        {"paper_id": paper_id, "ord": number, "ref_id": ref_id, "work_id": ids[paper_id, number]}
        for paper_id, number, ref_id in rows
        if (paper_id, number) in ids
    ]
    return table_of("unresolved_references", unresolved)
