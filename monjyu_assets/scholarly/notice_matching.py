"""Notices to the papers that they speak of: by DOI, by PubMed id, by title with first author and year. Otherwise none:
a paper that is called retracted and is not is worse than one that is and is not called so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

import duckdb
import pyarrow as pa

from monjyu_assets.scholarly.notice_files import Notice

LONG_TITLE = 30
"""Characters of a title that tells a paper, with its first author and its year."""

_TEXTS = ("kind", "source", "date", "doi", "pmid", "title", "authors", "notice_doi", "paper_id")
_SCHEMA = pa.schema(
    [(name, pa.string()) for name in _TEXTS] + [("year", pa.int32()), ("reasons", pa.list_(pa.string()))]
)
_MATCHED = f"""
WITH notice AS (
    SELECT *, clean_doi(doi) AS doi_key, fold(title) AS title_key, fold(authors) AS names FROM notices
), hits AS (
    SELECT * EXCLUDE (paper_id), paper_id, 'record' AS matched_by FROM notice WHERE paper_id IS NOT NULL
    UNION ALL BY NAME
    SELECT n.* EXCLUDE (paper_id), p.paper_id, 'doi' AS matched_by FROM notice n JOIN paper_keys p ON n.doi_key = p.doi
    UNION ALL BY NAME
    SELECT n.* EXCLUDE (paper_id), p.paper_id, 'pmid' AS matched_by FROM notice n JOIN papers p ON n.pmid = p.pmid
    UNION ALL BY NAME
    SELECT n.* EXCLUDE (paper_id), p.paper_id, 'title' AS matched_by
    FROM notice n JOIN paper_keys p ON n.title_key = p.title_key
    WHERE length(n.title_key) >= {LONG_TITLE} AND (n.doi_key IS NULL OR p.doi IS NULL)
      AND list_contains(words(n.names), p.families[1]) AND abs(n.year - p.year) <= 1
), files AS (
    SELECT o.paper_id, h.* EXCLUDE (paper_id) FROM hits h JOIN paper_identity i USING (paper_id)
    JOIN paper_identity o USING (canonical_id)
)
SELECT paper_id, (row_number() OVER (PARTITION BY paper_id ORDER BY date, kind, source, notice_doi) - 1)::INT AS ord,
       kind, date, source, notice_doi, matched_by, reasons
FROM (SELECT * FROM files QUALIFY row_number() OVER (
    PARTITION BY paper_id, kind, date, source, notice_doi ORDER BY matched_by, reasons) = 1)
ORDER BY paper_id, ord
"""
"""A notice on one file of a paper is one on all of them."""


def matched_notices(connection: duckdb.DuckDBPyConnection, notices: Iterable[Notice]) -> pa.Table:
    """Rows of `paper_notices`. `connection`: of `match_keys.connect`, whose `papers` have `pmid`, with `paper_identity`
    registered."""
    rows = [asdict(notice) for notice in notices]
    connection.register("notices", pa.Table.from_pylist(rows, schema=_SCHEMA))
    return connection.sql(_MATCHED).to_arrow_table()
