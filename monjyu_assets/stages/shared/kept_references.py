"""What references are compared by, kept bucket by bucket beside the parts of the assets.

It is no asset: the citation network makes it anew where a bucket's references changed, no snapshot names it, and what
no bucket has any more is collected as parts are.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from monjyu_assets.matching.match_keys import with_macros
from monjyu_assets.matching.reference_keys import REFERENCE_COLUMNS, reference_keys
from monjyu_assets.stages.shared.work import Work, rows_of
from monjyu_core.storage.ids import shard_of_bucket
from monjyu_core.storage.parts import read_all
from monjyu_core.storage.schemas import empty

KEPT = "reference_keys"
CODE_VERSION = "1"
_MADE_OF = "references"


def kept_references(work: Work) -> pa.Table:
    """The rows of `reference_keys` of all papers, bucket by bucket; those that are not current are made and written."""
    stale = [bucket for bucket in work.parts.all_buckets() if not _is_current(work, bucket)]
    if stale:
        with with_macros() as connection:
            for bucket in stale:
                part = work.parts.head("references", bucket)
                rows = reference_keys(connection, part.read(REFERENCE_COLUMNS) if part else empty("references"))
                made_of = {_MADE_OF: part.data_version if part else ""}
                work.parts.write(KEPT, bucket, {KEPT: rows}, inputs=made_of, code_version=CODE_VERSION)
        for shard in {shard_of_bucket(bucket) for bucket in stale}:
            work.parts.forget_others(KEPT, shard)
    return read_all(KEPT, work.parts.heads(KEPT))


def _is_current(work: Work, bucket: str) -> bool:
    kept, part = work.parts.head(KEPT, bucket), work.parts.head("references", bucket)
    made_of = {_MADE_OF: part.data_version if part else ""}
    return kept is not None and kept.inputs == made_of and kept.code_version == CODE_VERSION and kept.path.is_file()


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
