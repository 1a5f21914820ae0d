"""Level 0: references to papers of the collection as edges, and all other references with the ids of their works."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from monjyu_assets.stages.paper_identity import known_by
from monjyu_assets.stages.shared.collection_stage import CollectionReport, Tables, run_collection_stage, whole_table
from monjyu_assets.stages.shared.matching_cache import cached_tables, keep_tables, rows_of_papers
from monjyu_assets.work.closed_set import asset_version
from monjyu_assets.work.work import Work, recipe
from monjyu_core.storage.ids import digest
from monjyu_core.storage.schemas import COLLECTION_SHARD

if TYPE_CHECKING:
    import duckdb

ASSET = "citation_network"
CODE_VERSION = "3"
KEPT = "kept_matches"
_CITATION_COLUMNS = ["paper_id", "ord", "ref_id", "context", "section"]

_EDGES = """
WITH contexts AS (
    SELECT paper_id, ref_id, list({'section': section, 'context': context} ORDER BY ord) AS contexts
    FROM inline_citations SEMI JOIN resolved USING (paper_id) GROUP BY paper_id, ref_id
), edges AS (
    SELECT a.canonical_id AS citing_id, b.canonical_id AS cited_id, r.paper_id, r.ord AS ref_ord, x.ref_id, r.method,
           r.score, coalesce(c.contexts, []) AS contexts
    FROM resolved r JOIN paper_identity a USING (paper_id) JOIN paper_identity b ON b.paper_id = r.cited
    JOIN reference_keys x ON x.paper_id = r.paper_id AND x.ord = r.ord
    LEFT JOIN contexts c ON c.paper_id = r.paper_id AND c.ref_id = x.ref_id
)
SELECT * FROM edges WHERE citing_id <> cited_id
QUALIFY row_number() OVER (PARTITION BY citing_id, cited_id
                           ORDER BY paper_id <> citing_id, score DESC, paper_id, ref_ord) = 1
ORDER BY citing_id, cited_id
"""
"""One edge for each pair of papers, from a reference of the canonical file if it has one."""


def build_network(work: Work) -> CollectionReport:
    return run_collection_stage(work, ASSET, recipe(ASSET, CODE_VERSION, work.settings), _tables, _inputs_digest)


def _inputs_digest(work: Work) -> str:
    """A hash of the inputs: the identifying fields of papers, their identities, and their references and citations."""
    known = known_by(work)
    cited = [part.data_version for table in ("reference_keys", "inline_citations") for part in work.parts.heads(table)]
    return digest(known, asset_version(work.parts, "paper_identity", COLLECTION_SHARD), *cited)


def _tables(work: Work) -> Tables:
    """The asset's tables. Only changed papers and references are matched again, unless the recipe is another one."""
    from monjyu_assets.matching.match_keys import connect_keys
    from monjyu_assets.matching.reference_matching import Before, resolve
    from monjyu_assets.matching.works import find_works

    made_with = recipe(ASSET, CODE_VERSION, work.settings)
    before = cached_tables(work, KEPT, made_with)
    with connect_keys(whole_table(work, "paper_keys")) as connection:
        resolve(
            connection,
            whole_table(work, "reference_keys"),
            lambda papers: rows_of_papers(work, "references", ["paper_id", "ord", "raw_text"], papers.to_pylist()),
            Before(before["matched_papers"], before["reference_matches"]),
            follow_preprints=work.settings.citations.follow_preprints,
        )
        works = find_works(connection, before["alike_titles"])
        connection.register("paper_identity", whole_table(work, "paper_identity", ["paper_id", "canonical_id"]))
        connection.register("inline_citations", _citations(work, connection))
        edges = connection.sql(_EDGES).to_arrow_table()
        kept = {
            "matched_papers": connection.table("matched_papers").to_arrow_table(),
            "reference_matches": connection.table("resolved").to_arrow_table(),
            "alike_titles": works.alike,
        }
    keep_tables(work, KEPT, kept, made_with)
    return {"citation_edges": edges, "unresolved_references": works.unresolved}


def _citations(work: Work, connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """The inline citations of papers that cite others of the collection, read only from the buckets of these papers."""
    citing = [row[0] for row in connection.execute("SELECT DISTINCT paper_id FROM resolved").fetchall()]
    return rows_of_papers(work, "inline_citations", _CITATION_COLUMNS, citing)
