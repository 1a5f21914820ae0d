"""Resource `monjyu_io`: loads Monjyu's tables for an engineer's own assets, in the type that an input declares."""

import importlib
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Any, get_args

import dagster as dg
import duckdb
import pyarrow as pa
from pydantic import PrivateAttr

from monjyu_assets.orchestration.resources.data_folder import DataFolderResource
from monjyu_core.errors import ConfigurationError, QueryError, StorageError, did_you_mean
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import ASSET_TABLES, TABLES, empty
from monjyu_core.storage.snapshot import Snapshot, open_current

IO_MANAGER = "monjyu_io"
PUBLISHED = "index_snapshot"
"""The asset whose tables are those of the published snapshot."""


class MonjyuIOManager(dg.ConfigurableIOManager):
    """Loads Monjyu's tables as pyarrow.Table, pandas or Polars frames, or DuckDB relations.

    An input from an asset with tables contains the rows of its current parts for the partitions that the input depends
    on, even in the run that has just written them. An input from `index_snapshot` contains rows of the published
    snapshot, whose tables are complete and consistent. `AssetIn(metadata={"table": …, "columns": […]})` selects a table
    other than the asset's first, and columns; `"tables": […]` loads several as a dict by name, because Dagster allows
    one input per asset. An input `index_snapshot` of type duckdb.DuckDBPyConnection is the snapshot's database,
    read-only.

    If the run has no partition, all collections are loaded, with an additional first column `collection`.
    """

    data: dg.ResourceDependency[DataFolderResource]
    _open: ExitStack = PrivateAttr(default_factory=ExitStack)

    def handle_output(self, context: dg.OutputContext, obj: object) -> None:
        raise dg.DagsterInvariantViolationError(
            f"{IO_MANAGER} only loads what Monjyu's assets have written. Give {context.asset_key.to_user_string()} "
            "another io_manager_key, or let it return a MaterializeResult without a value."
        )

    def load_input(self, context: dg.InputContext) -> object:
        wanted, given = context.dagster_type.typing_type, context.definition_metadata
        if wanted is duckdb.DuckDBPyConnection:
            return self._database(context)
        if "tables" in given:
            held = (*get_args(wanted), Any, Any)[1]
            return {name: self._table(context, name, held, ()) for name in map(str, given["tables"])}
        return self._table(context, given.get("table"), wanted, given.get("columns") or ())

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Close the snapshots, which stay open until the run ends because relations may be read."""
        self._open.close()

    def _database(self, context: dg.InputContext) -> duckdb.DuckDBPyConnection:
        collections = list(context.asset_partition_keys)
        if context.asset_key.path[-1] != PUBLISHED or len(collections) != 1:
            raise ConfigurationError(
                f"{context.asset_key.to_user_string()} of {len(collections)} collections cannot be a database.",
                f"Only {PUBLISHED} of one collection can. Name a table, or partition your asset by collections.",
            )
        return self._snapshot(collections[0]).cursor()

    def _table(self, context: dg.InputContext, named: object, wanted: object, some: Sequence[str]) -> object:
        asset = context.asset_key.path[-1]
        table = table_of_input(asset, named)
        columns = list(some) or TABLES[table].schema.names
        read = {name: self._rows(asset, table, name) for name in sorted(context.asset_partition_keys)}
        if context.has_partition_key and len(read) == 1:
            (rows,) = read.values()
            if wanted is duckdb.DuckDBPyRelation:
                return rows.project(_names(columns))
            return as_type(arrow_rows(rows, table, columns), wanted)
        tables = [_with_collection(name, arrow_rows(rows, table, columns)) for name, rows in read.items()]
        none = _with_collection("", TABLES[table].schema.empty_table().select(columns))
        return as_type(pa.concat_tables([none, *tables]), wanted)

    def _rows(self, asset: str, table: str, collection: str) -> duckdb.DuckDBPyRelation:
        if asset == PUBLISHED:
            return published_rows(self._snapshot(collection), table)
        return current_rows(self.data.folder().collection(collection), table)

    def _snapshot(self, collection: str) -> Snapshot:
        snapshot = open_current(self.data.folder().collection(collection))
        self._open.callback(snapshot.close)
        return snapshot


def table_of_input(asset: str, named: object) -> str:
    """The table of an input from `asset`, the asset's first by default. Raises ConfigurationError if the asset has no
    table `named`, or many and none is named."""
    tables = (
        [name for name, spec in TABLES.items() if spec.served] if asset == PUBLISHED else ASSET_TABLES.get(asset, [])
    )
    if named is None and tables and asset != PUBLISHED:
        return tables[0]
    if named in tables:
        return str(named)
    way = f'AssetIn("{asset}", metadata={{"table": …}}) names one of {", ".join(tables) or "none"}.'
    what = "has many tables" if named is None else f"has no table {named!r}"
    raise ConfigurationError(f"{asset} {what}.", f"{did_you_mean(str(named), tables)} {way}".strip())


def current_rows(folder: CollectionFolder, table: str) -> duckdb.DuckDBPyRelation:
    """The rows of a table's current parts. Raises StorageError if one has not been built, except for optional tables,
    whose parts exist only if they have rows."""
    store = PartStore(folder.parts)
    parts = store.heads(table)
    expected = len(store.all_buckets()) if TABLES[table].by_shard else 1
    if TABLES[table].optional and not parts:
        return _no_rows(table)
    if len(parts) < expected and not TABLES[table].optional:
        raise StorageError(
            f"{folder.name} has no {table}.", f"Materialise {TABLES[table].asset} of this collection first."
        )
    filled = [part for part in parts if part.rows] or parts[:1]
    return duckdb.connect().read_parquet([str(part.path) for part in filled], hive_partitioning=False)


def published_rows(snapshot: Snapshot, table: str) -> duckdb.DuckDBPyRelation:
    """The rows of a table of a snapshot. Raises QueryError if the snapshot does not have the table, for example because
    its level is too low."""
    try:
        return snapshot.cursor().table(table)
    except duckdb.CatalogException:
        if TABLES[table].optional:
            return _no_rows(table)
        name, level = snapshot.collection.name, TABLES[table].level
        raise QueryError(
            f"The snapshot of {name} is at level {snapshot.manifest.level} and has no table {table}.",
            f"Build it with `monjyu upgrade {name} --level {level}`.",
        ) from None


def _no_rows(table: str) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(empty(table))


def arrow_rows(rows: duckdb.DuckDBPyRelation, table: str, columns: Sequence[str]) -> pa.Table:
    """The rows in the order of the table's keys, with the types of its schema."""
    schema = pa.schema([TABLES[table].schema.field(name) for name in columns])
    return rows.order(_names(TABLES[table].keys)).project(_names(columns)).to_arrow_table().cast(schema)


def as_type(rows: pa.Table, wanted: object) -> object:
    """Arrow rows as the type with which an input is annotated; without an annotation they stay Arrow. Raises
    ConfigurationError for other types."""
    package, name = wanted.__module__.partition(".")[0], getattr(wanted, "__name__", "")
    if package == "pandas" and name == "DataFrame":
        return rows.to_pandas()
    if package == "polars" and name in ("DataFrame", "LazyFrame"):
        frame = importlib.import_module("polars").from_arrow(rows)
        return frame.lazy() if name == "LazyFrame" else frame
    if wanted is duckdb.DuckDBPyRelation:
        return duckdb.connect().from_arrow(rows)
    if wanted in (pa.Table, Any, object):
        return rows
    raise ConfigurationError(
        f"{IO_MANAGER} cannot load an input as {wanted!r}.",
        "Annotate the input as pyarrow.Table, pandas.DataFrame, polars.DataFrame, polars.LazyFrame or "
        "duckdb.DuckDBPyRelation.",
    )


def _with_collection(name: str, rows: pa.Table) -> pa.Table:
    return rows.add_column(0, "collection", pa.array([name] * len(rows), pa.string()))


def _names(columns: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)
