"""What an asset says of its tables: rows, columns, where each column comes from, and where the data lies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import dagster as dg

from monjyu_assets.orchestration.results import Metadata
from monjyu_assets.stages.shared.column_lineage import column_lineage
from monjyu_assets.stages.shared.work import Work
from monjyu_core.remote.state import prefix_of
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, TABLES


def described(asset: str) -> Metadata:
    """For the definition of an asset: what a row is, the columns of all its tables, and what they are made from.

    The primary table's columns stand where Dagster looks for them, those of each other table under its name.
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
    """The columns of a table with what each says, and as constraints what a row is and what identifies it."""
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
    """The columns that each column is computed from; those of tables that are not their asset's first as
    `table.column`."""
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


def place_of(work: Work, table: str, shard: str = COLLECTION_SHARD) -> Metadata:
    """The folder of the table's (or its shard's) parts as a URI; with an object store, the collection's in it."""
    store = work.settings.storage.uri
    folder = work.parts.path(table, shard, "").parent
    return {"dagster/uri": f"{store.rstrip('/')}/{prefix_of(work.name)}" if store else folder.as_uri()}


def rows_by_table(rows: Mapping[str, int]) -> dg.TableMetadataValue:
    """Rows of each table."""
    schema = dg.TableSchema([dg.TableColumn("table"), dg.TableColumn("rows", "int")])
    records = [dg.TableRecord({"table": name, "rows": count}) for name, count in rows.items()]
    return dg.MetadataValue.table(records, schema)


def rows_in_collection(work: Work, asset: str) -> int:
    """Rows of the asset's first table in the whole collection, from what the HEADs of its shards say."""
    return sum(part.rows for part in work.parts.heads(ASSET_TABLES[asset][0]))
