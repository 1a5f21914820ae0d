"""What papers and references are compared by, kept bucket by bucket beside the parts of the assets.

It is no asset: whoever compares makes it anew where a bucket's papers changed, no snapshot names it, and what no bucket
has any more is collected as parts are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import duckdb
import pyarrow as pa

from monjyu_assets.matching.match_keys import (
    AUTHOR_COLUMNS,
    PAPER_COLUMNS,
    REFERENCE_COLUMNS,
    paper_keys,
    reference_keys,
    with_macros,
)
from monjyu_assets.work.work import Work, rows_of
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, empty

KEYS = "match_keys"
CODE_VERSION = "1"
"""Of what `match_keys` makes of papers and references."""
_MADE_OF = {"papers": PAPER_COLUMNS, "authors": AUTHOR_COLUMNS, "references": REFERENCE_COLUMNS}
_BESIDE = ("authors", "references")


def make_keys(parts: PartStore, buckets: Iterable[str]) -> None:
    """Write the keys of those of these buckets whose papers, authors or references changed."""
    stale = [bucket for bucket in buckets if not has_keys(parts, bucket)]
    if not stale:
        return
    with with_macros() as connection:
        for bucket in stale:
            given = {name: _rows(parts, name, bucket, columns) for name, columns in _MADE_OF.items()}
            tables = match_keys_of(connection, given)
            parts.write(KEYS, bucket, tables, inputs=_made_of(parts, bucket), code_version=CODE_VERSION)


def match_keys_of(connection: duckdb.DuckDBPyConnection, given: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The tables of the keys.

    Of no papers none: a small collection has more empty buckets than others, and a query costs as much for them.
    """
    if not any(rows.num_rows for rows in given.values()):
        return {name: empty(name) for name in ASSET_TABLES[KEYS]}
    return {
        "paper_keys": paper_keys(connection, given["papers"], given["authors"]),
        "reference_keys": reference_keys(connection, given["references"]),
    }


def _rows(parts: PartStore, table: str, bucket: str, columns: list[str]) -> pa.Table:
    part = parts.head(table, bucket)
    return part.read(columns) if part else empty(table).select(columns)


def _made_of(parts: PartStore, bucket: str) -> dict[str, str]:
    """The rows of the papers, and the parts that were written with them."""
    papers = parts.head("papers", bucket)
    return {"papers": papers.data_version} | {name: papers.siblings[name] for name in _BESIDE} if papers else {}


def has_keys(parts: PartStore, bucket: str) -> bool:
    """Whether a bucket's keys are those of its papers. What a HEAD named for another number of buckets may have been
    collected since."""
    kept = parts.head(ASSET_TABLES[KEYS][0], bucket)
    if kept is None or kept.code_version != CODE_VERSION or kept.inputs != _made_of(parts, bucket):
        return False
    return kept.path.is_file()


def kept_tables(work: Work, asset: str, made_with: str) -> dict[str, pa.Table]:
    """What a stage kept for its next run; nothing where another recipe made it."""
    heads = {name: work.parts.head(name, COLLECTION_SHARD) for name in ASSET_TABLES[asset]}
    first = heads[ASSET_TABLES[asset][0]]
    same = first is not None and first.code_version == made_with
    return {name: head.read() if same and head else empty(name) for name, head in heads.items()}


def keep_tables(work: Work, asset: str, tables: dict[str, pa.Table], made_with: str) -> None:
    work.parts.write(asset, COLLECTION_SHARD, tables, inputs={}, code_version=made_with)


def rows_of_papers(work: Work, table: str, columns: list[str], paper_ids: Iterable[str]) -> pa.Table:
    """The rows of these papers, read from their buckets alone."""
    papers: dict[str, list[str]] = {}
    for paper_id in paper_ids:
        papers.setdefault(work.parts.bucket_of(paper_id), []).append(paper_id)
    rows = [empty(table).select(columns)]
    for bucket in sorted(papers):
        part = work.parts.head(table, bucket)
        if part:
            rows.append(rows_of(part.read(columns), papers[bucket]))
    return pa.concat_tables(rows)
