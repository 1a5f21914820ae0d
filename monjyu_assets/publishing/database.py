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
from monjyu_core.storage.snapshot_database import rows_of_files, search_beside

Connect = Callable[[Path], AbstractContextManager[duckdb.DuckDBPyConnection]]
"""Opens a DuckDB file for writing; the asset passes dagster-duckdb's resource."""

MEMORY = "1GB"
"""Memory of DuckDB while it writes; it spills to disk where that is not enough."""
COPIED_ROWS = 500_000
"""Up to so many rows (some hundred papers) they are copied: reading them is quicker, and writing costs little."""


def build_database(path: Path, parts: Sequence[Part], connect: Connect) -> bool:
    """Write the served tables of a snapshot to a new file at `path`, in the folder beside those of other snapshots;
    whether it holds their rows."""
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
            files = [os.path.relpath(part.path, path.parent) for part in kept]
            connection.execute(f'CREATE {what} "{table}" AS {rows_of_files(table, files)}').fetchall()
        assets = {TABLES[table].asset for table in tables}
        for table, spec in TABLES.items():
            if spec.view and spec.asset in assets:
                connection.execute(f'CREATE VIEW "{table}" AS {spec.view}').fetchall()
        connection.execute("CHECKPOINT").fetchall()
    return copied


def table_names(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Of tables and views alike."""
    query = "SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views() WHERE NOT internal"
    return {row[0] for row in connection.execute(query).fetchall()}
