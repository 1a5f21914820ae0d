"""`index.duckdb` of a snapshot: the served tables, each row with its shard."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import duckdb

from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import TABLES
from monjyu_core.storage.snapshot import PartEntry

Connect = Callable[[Path], AbstractContextManager[duckdb.DuckDBPyConnection]]
"""Opens a DuckDB file for writing; the asset passes dagster-duckdb's resource."""

Parts = dict[tuple[str, str], Part]


MEMORY = "1GB"
"""Memory of DuckDB while it writes; it spills to disk where that is not enough."""


def build_database(
    path: Path, parts: list[Part], connect: Connect, base: Path | None = None, base_parts: list[PartEntry] | None = None
) -> None:
    """Write the served tables to a new file at `path`.

    With a `base` (the previous snapshot's file and its parts) only the shards that differ are replaced in a copy.
    What DuckDB deletes stays in the file's free blocks, so this is only for a base whose text is all still there.
    """
    served: Parts = {(part.table, part.shard): part for part in parts if TABLES[part.table].served}
    unchanged: set[tuple[str, str]] = set()
    if base is not None and base_parts is not None:
        shutil.copyfile(base, path)
        before = {(entry.table, entry.shard): entry.version for entry in base_parts}
        unchanged = {key for key, part in served.items() if before.get(key) == part.version}
    changed = {key: part for key, part in served.items() if key not in unchanged}
    with connect(path) as connection:
        connection.execute("SET preserve_insertion_order = true")
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        there = table_names(connection)
        tables = sorted({table for table, _ in served})
        for view in _views(connection):
            connection.execute(f'DROP VIEW "{view}"').fetchall()
        old = {
            table
            for table in there & set(tables)
            if _columns(connection, table) != [*TABLES[table].schema.names, "shard"]
        }
        for table in sorted(there - set(tables) | old):  # of a level that is no longer whole; of an older version
            connection.execute(f'DROP TABLE "{table}"').fetchall()
        there -= old
        for table in tables:
            among = served if table in old else changed
            shards = {shard: part for (name, shard), part in among.items() if name == table}
            _replace(connection, table, shards, fresh=table not in there)
        assets = {TABLES[table].asset for table in tables}
        for table, spec in TABLES.items():
            if spec.view and spec.asset in assets:
                connection.execute(f'CREATE VIEW "{table}" AS {spec.view}').fetchall()
        connection.execute("CHECKPOINT").fetchall()


def table_names(connection: duckdb.DuckDBPyConnection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def _columns(connection: duckdb.DuckDBPyConnection, table: str) -> list[str]:
    found = connection.execute(
        "SELECT column_name FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index", [table]
    )
    return [row[0] for row in found.fetchall()]


def _views(connection: duckdb.DuckDBPyConnection) -> list[str]:
    rows = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    return [row[0] for row in rows]


def _replace(connection: duckdb.DuckDBPyConnection, table: str, shards: dict[str, Part], *, fresh: bool) -> None:
    """The rows of these shards, in the order of their parts: those are sorted by the table's keys."""
    columns = ", ".join(f'"{name}"' for name in TABLES[table].schema.names)
    files = [str(shards[shard].path) for shard in sorted(shards)]
    select = (
        f"SELECT {columns}, regexp_extract(filename, 'shard=([^/]+)/', 1) AS shard "
        "FROM read_parquet(?, filename = true, hive_partitioning = false)"
    )
    if fresh:
        connection.execute(f'CREATE TABLE "{table}" AS {select}', [files]).fetchall()
    elif shards:
        listed = ", ".join(f"'{shard}'" for shard in sorted(shards))
        connection.execute(f'DELETE FROM "{table}" WHERE shard IN ({listed})').fetchall()
        connection.execute(f'INSERT INTO "{table}" {select}', [files]).fetchall()
