"""`index.duckdb` of a snapshot: the served tables, each row with its shard.

Of a small collection it holds the rows. Of a large one it holds views over the parts, so that a change writes no more
than its own parts; their paths are relative to the snapshot's folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import duckdb

from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import TABLES
from monjyu_core.storage.snapshot import search_beside

Connect = Callable[[Path], AbstractContextManager[duckdb.DuckDBPyConnection]]
"""Opens a DuckDB file for writing; the asset passes dagster-duckdb's resource."""

MEMORY = "1GB"
"""Memory of DuckDB while it writes; it spills to disk where that is not enough."""
COPIED_ROWS = 2_000_000
"""Up to so many rows (about a thousand papers) they are copied: reading them is quicker, and writing costs little."""


def build_database(path: Path, parts: Sequence[Part], connect: Connect) -> None:
    """Write the served tables of a snapshot to a new file at `path`, in the folder beside those of other snapshots."""
    served = [part for part in parts if TABLES[part.table].served]
    tables = sorted({part.table for part in served})
    # DuckDB divides its search path at commas.
    copied = sum(part.rows for part in served) <= COPIED_ROWS or "," in str(path.absolute())
    with connect(path) as connection:
        connection.execute("SET preserve_insertion_order = true")
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        search_beside(connection, path)
        for table in tables:
            of_table = [part for part in served if part.table == table]
            kept = [part for part in of_table if part.rows] or of_table[:1]
            what = "TABLE" if copied else "VIEW"
            connection.execute(f'CREATE {what} "{table}" AS {rows_of_parts(table, kept, path.parent)}').fetchall()
        assets = {TABLES[table].asset for table in tables}
        for table, spec in TABLES.items():
            if spec.view and spec.asset in assets:
                connection.execute(f'CREATE VIEW "{table}" AS {spec.view}').fetchall()
        connection.execute("CHECKPOINT").fetchall()


def rows_of_parts(table: str, parts: Sequence[Part], folder: Path) -> str:
    """A query for the rows of these parts, in the order of the parts: those are sorted by the table's keys. Paths are
    relative to `folder`."""
    columns = ", ".join(f'"{name}"' for name in TABLES[table].schema.names)
    files = ", ".join(_quoted(os.path.relpath(part.path, folder)) for part in parts)
    how = "hive_partitioning = true, hive_types_autocast = false"
    return f"SELECT {columns}, shard FROM read_parquet([{files}], {how})"


def table_names(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Of tables and views alike."""
    query = "SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views() WHERE NOT internal"
    return {row[0] for row in connection.execute(query).fetchall()}


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
