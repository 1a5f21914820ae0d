"""Metadata of an asset's tables: their rows, columns with lineage, location, and a preview."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import TypeAlias

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
from dagster._core.definitions.metadata import RawMetadataValue

from monjyu_assets.stages.shared.column_lineage import column_lineage
from monjyu_assets.work.work import Work
from monjyu_core.errors import MonjyuError
from monjyu_core.remote.state import prefix_of
from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, TABLES
from monjyu_core.text.unicode_words import blanked

Metadata: TypeAlias = dict[str, RawMetadataValue]
"""Metadata of assets, checks and ops by label: numbers, texts, and values that the UI renders, such as Markdown."""


ROWS = 5
IDS = (
    "paper_id", "chunk_id", "sentence_id", "community_id", "entity_id", "relationship_id", "claim_id", "canonical_id",
    "citing_id", "cited_id", "source_id", "target_id", "parent_id", "work_id",
)  # fmt: skip
"""Columns with Monjyu's ids. Hashes of bytes and texts are omitted to save space."""
KINDS = (
    "document_type", "processor", "language", "venue_type", "section_type", "error_type", "reason", "method",
    "matched_by", "stance", "model", "engine", "kind",
)  # fmt: skip
"""Columns with words from a small set. All other texts may be from a paper, or from a model about it. Numbers and truth
values of any column are shown."""
NOT_OURS = frozenset({("scholarly_records", "source_id")})
"""Id columns that are not Monjyu's, and reveal the paper."""


def as_code(text: str) -> str:
    """An id, a phrase or a file name as code for a cell of a Markdown table, so that it is not an image or a link."""
    plain = " ".join(blanked(text).replace("`", "ˋ").replace("|", "¦").split())
    return plain and f"`{plain}`"


def described(asset: str) -> Metadata:
    """Metadata for the definition of an asset: the meaning of a row, the columns of all its tables, and their inputs.
    The columns of the primary table are under Dagster's label, those of the other tables under the table's name.
    """
    primary, *others = ASSET_TABLES[asset]
    return {
        "dagster/column_schema": column_schema(primary),
        "dagster/column_lineage": lineage_of(asset),
        "dagster/table_name": primary,
        "row": TABLES[primary].row_is,
        **{f"table {name}": dg.MetadataValue.table_schema(column_schema(name)) for name in others},
    }


def column_schema(table: str) -> dg.TableSchema:
    """The columns of a table with their meanings, and as constraints the meaning of a row and its keys."""
    spec = TABLES[table]
    columns = [
        dg.TableColumn(
            field.name,
            str(field.type),
            description=spec.descriptions[field.name],
            constraints=dg.TableColumnConstraints(
                nullable=field.name not in spec.keys, unique=(field.name,) == spec.keys
            ),
        )
        for field in spec.schema
    ]
    known_by = f"{' and '.join(spec.keys)} identif{'ies' if len(spec.keys) == 1 else 'y'} a row."
    return dg.TableSchema(columns, constraints=dg.TableConstraints([spec.row_is, known_by]))


def lineage_of(asset: str) -> dg.TableColumnLineage:
    """The inputs of each column of an asset's tables, `table.column` for tables other than its first."""
    lineage = column_lineage()
    return dg.TableColumnLineage(
        {
            _in_asset(f"{table}.{column}"): [_dependency(one) for one in upstream]
            for table in ASSET_TABLES[asset]
            for column, upstream in lineage.get(table, {}).items()
        }
    )


def _in_asset(name: str) -> str:
    table, _, column = name.partition(".")
    return column if table == ASSET_TABLES[TABLES[table].asset][0] else name


@cache
def _dependency(name: str) -> dg.TableColumnDep:
    asset = TABLES[name.partition(".")[0]].asset
    return dg.TableColumnDep(asset_key=dg.AssetKey(asset), column_name=_in_asset(name))


def place_of(work: Work, table: str) -> Metadata:
    """The folder of the table's parts as a URI; with an object store, the collection's folder there."""
    store = work.settings.storage.uri
    folder = work.parts.path(table, COLLECTION_SHARD, "").parent.parent
    return {"dagster/uri": f"{store.rstrip('/')}/{prefix_of(work.name)}" if store else folder.as_uri()}


def value_counts(column: pa.ChunkedArray) -> dg.JsonMetadataValue:
    """The number of rows with each value, in the order in which the values first occur."""
    values, counts = column.value_counts().flatten()
    return dg.MetadataValue.json(dict(zip(map(str, values.to_pylist()), counts.to_pylist(), strict=True)))


def rows_by_table(rows: Mapping[str, int]) -> dg.TableMetadataValue:
    """The number of rows of each table, as a table."""
    schema = dg.TableSchema([dg.TableColumn("table"), dg.TableColumn("rows", "int")])
    records = [dg.TableRecord({"table": name, "rows": count}) for name, count in rows.items()]
    return dg.MetadataValue.table(records, schema)


def shown(table: str) -> list[str]:
    """The columns of a table that its preview shows."""
    return [
        field.name
        for field in TABLES[table].schema
        if _plain(field.type)
        or (field.type == pa.string() and field.name in (*IDS, *KINDS) and (table, field.name) not in NOT_OURS)
    ]


def preview(work: Work, asset: str) -> dg.TableMetadataValue:
    """The first rows of the asset's first table. The UI shows cells as text, never as markup."""
    table = ASSET_TABLES[asset][0]
    columns = shown(table)
    heads = (work.parts.head(table, bucket) for bucket in work.parts.buckets(COLLECTION_SHARD))
    rows = islice((row for part in heads if part is not None and part.rows for row in _first(part, columns)), ROWS)
    schema = dg.TableSchema(
        [dg.TableColumn(name, str(TABLES[table].schema.field(name).type)) for name in columns],
        constraints=dg.TableConstraints(_left_out(table, columns)),
    )
    return dg.MetadataValue.table([dg.TableRecord(row) for row in rows], schema)


def _first(part: Part, columns: list[str]) -> list[dict[str, str | int | float | bool | None]]:
    """The first rows of a part, of which only the beginning is read."""
    batches = pq.ParquetFile(part.path).iter_batches(batch_size=ROWS, columns=columns)
    return [row for batch in islice(batches, 1) for row in batch.to_pylist()]


def _left_out(table: str, columns: list[str]) -> list[str]:
    hidden = [name for name in TABLES[table].schema.names if name not in columns]
    return [f"Not shown, because the log outlives a purge: {', '.join(hidden)}."] if hidden else []


def _plain(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


# The message of a MonjyuError comes first on the page of a run, before the frames of Dagster.
@contextmanager
def causes_first() -> Iterator[None]:
    """A context in which an error for users becomes Dagster's Failure, with the error's message as description.

    The error is its `__cause__`. It disables retries, because an error with a known cause persists until a person acts.
    """
    try:
        yield
    except MonjyuError as error:
        metadata: Metadata = {"what_to_do": error.hint} if error.hint else {}
        raise dg.Failure(str(error), metadata=metadata, allow_retries=False) from error
