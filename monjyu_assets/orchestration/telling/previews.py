"""Ten rows of a table, of what is no text of a paper: the log of Dagster outlives a purge."""

from __future__ import annotations

from itertools import islice

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq

from monjyu_assets.stages.shared.work import Work
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, TABLES

ROWS = 10
IDS = (
    "paper_id", "chunk_id", "sentence_id", "community_id", "entity_id", "relationship_id", "claim_id", "canonical_id",
    "citing_id", "cited_id", "source_id", "target_id", "parent_id", "work_id",
)  # fmt: skip
"""Ids that we make; hashes of bytes and texts are left out, as they only take room."""
KINDS = (
    "document_type", "processor", "language", "venue_type", "section_type", "error_type", "reason", "method",
    "matched_by", "stance", "model", "engine", "kind",
)  # fmt: skip
"""Words of which there are few. All other texts may be a paper's, or a model's about it; numbers and truth values are
shown of any column."""
NOT_OURS = frozenset({("scholarly_records", "source_id")})
"""Ids that say which paper it was."""


def shown(table: str) -> list[str]:
    """The columns of a table that its preview has."""
    return [
        field.name
        for field in TABLES[table].schema
        if _plain(field.type)
        or (field.type == pa.string() and field.name in (*IDS, *KINDS) and (table, field.name) not in NOT_OURS)
    ]


def preview(work: Work, asset: str, shard: str = COLLECTION_SHARD) -> dg.TableMetadataValue:
    """The first rows of the asset's first table in the shard. The UI shows cells as they are, never as markup."""
    table = ASSET_TABLES[asset][0]
    columns = shown(table)
    heads = (work.parts.head(table, bucket) for bucket in work.parts.buckets(shard))
    rows = islice((row for part in heads if part is not None and part.rows for row in _first(part, columns)), ROWS)
    schema = dg.TableSchema(
        [dg.TableColumn(name, str(TABLES[table].schema.field(name).type)) for name in columns],
        constraints=dg.TableConstraints(_left_out(table, columns)),
    )
    return dg.MetadataValue.table([dg.TableRecord(row) for row in rows], schema)


def _first(part: Part, columns: list[str]) -> list[dict[str, str | int | float | bool | None]]:
    """Some rows from a part, without reading more than its beginning."""
    batches = pq.ParquetFile(part.path).iter_batches(batch_size=ROWS, columns=columns)
    return [row for batch in islice(batches, 1) for row in batch.to_pylist()]


def _left_out(table: str, columns: list[str]) -> list[str]:
    hidden = [name for name in TABLES[table].schema.names if name not in columns]
    return [f"Not shown, as the log outlives a purge: {', '.join(hidden)}."] if hidden else []


def _plain(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))
