"""The database of a snapshot as it is read: it holds rows, or views over the snapshot's parts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from monjyu_core.storage.schemas import TABLES

if TYPE_CHECKING:
    import duckdb


def open_database(path: Path) -> duckdb.DuckDBPyConnection:
    """A snapshot's database, read-only. Views find the snapshot's parts from its folder."""
    import duckdb

    connection = duckdb.connect(str(path), read_only=True)
    search_beside(connection, path)
    return connection


def search_beside(connection: duckdb.DuckDBPyConnection, database: Path) -> None:
    """Relative paths are taken from the database's folder, in every cursor of the connection."""
    folder = str(database.parent.absolute()).replace("'", "''")
    connection.execute(f"SET GLOBAL file_search_path = '{folder}'").fetchall()


def rows_of_files(table: str, files: Iterable[str]) -> str:
    """A query for the rows of these parts of a table with their shard, in the order of the parts."""
    columns = ", ".join(f'"{name}"' for name in TABLES[table].schema.names)
    listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    how = "hive_partitioning = true, hive_types_autocast = false"
    return f"SELECT {columns}, shard FROM read_parquet([{listed}], {how})"
