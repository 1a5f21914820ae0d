"""What references are compared by, made once for a reference list: folding all entries costs more than comparing."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from monjyu_core.storage.schemas import TABLES

REFERENCE_COLUMNS = ["paper_id", "ord", "ref_id", "raw_text", "title", "year", "doi", "arxiv_id"]
KEY_COLUMNS = TABLES["reference_keys"].schema.names
_KEYS = """
WITH folded AS (
    SELECT paper_id, ord, ref_id, fold(coalesce(title, '')) AS title_key, clean_doi(doi) AS doi,
           arxiv_of(arxiv_id, doi) AS arxiv_id, year, fold(raw_text) AS raw_key
    FROM given
), lists AS (
    SELECT paper_id, md5(string_agg(
        ord || ':' || sealed(title_key) || sealed(doi) || sealed(arxiv_id) || sealed(year) || sealed(raw_key) ORDER BY ord
    ))[:16] AS cites FROM folded GROUP BY paper_id
)
SELECT paper_id, ord, ref_id, title_key, doi, arxiv_id, year, words(raw_key)[1] AS name,
       list_sort(list_distinct(list_transform(entry_words(raw_key), lambda w: word_hash(w)))) AS words, cites
FROM folded JOIN lists USING (paper_id) ORDER BY paper_id, ord
"""


def reference_keys(connection: duckdb.DuckDBPyConnection, references: pa.Table) -> pa.Table:
    """Rows of `reference_keys`; `references` has REFERENCE_COLUMNS. The connection has the macros of `match_keys`."""
    connection.register("given", references)
    return connection.sql(_KEYS).to_arrow_table().cast(TABLES["reference_keys"].schema)
