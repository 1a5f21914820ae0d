"""`index.duckdb` of a snapshot: the served tables, each row with its shard."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from monjyu_core.parts import Part
from monjyu_core.schemas import TABLES
from monjyu_core.snapshot import PartEntry

Connect = Callable[[Path], AbstractContextManager[Any]]
"""Opens a DuckDB file for writing; the asset gives dagster-duckdb's resource."""

Parts = dict[tuple[str, str], Part]


def build_database(
    path: Path, parts: list[Part], connect: Connect, base: Path | None = None, base_parts: list[PartEntry] | None = None
) -> None:
    """Write the served tables to a new file at `path`.

    With a `base` (the previous snapshot's file and its parts) only the shards that differ are replaced in a copy.
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
        there = _tables(connection)
        tables = sorted({table for table, _ in served})
        for table in sorted(there - set(tables)):  # of a level that is no longer whole
            connection.execute(f'DROP TABLE "{table}"').fetchall()
        for table in tables:
            shards = {shard: part for (name, shard), part in changed.items() if name == table}
            _replace(connection, table, shards, fresh=table not in there)
        connection.execute("CHECKPOINT").fetchall()


def _tables(connection: Any) -> set[str]:
    return {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}


def _replace(connection: Any, table: str, shards: dict[str, Part], *, fresh: bool) -> None:
    spec = TABLES[table]
    columns = ", ".join(f'"{name}"' for name in spec.schema.names)
    order = ", ".join(f'"{key}"' for key in spec.keys)
    files = [str(part.path) for part in shards.values()]
    select = (
        f"SELECT {columns}, regexp_extract(filename, 'shard=([^/]+)/', 1) AS shard "
        f"FROM read_parquet(?, filename = true, hive_partitioning = false) ORDER BY shard, {order}"
    )
    if fresh:
        connection.execute(f'CREATE TABLE "{table}" AS {select}', [files]).fetchall()
    elif shards:
        connection.execute(f'DELETE FROM "{table}" WHERE list_contains(?, shard)', [list(shards)]).fetchall()
        connection.execute(f'INSERT INTO "{table}" {select}', [files]).fetchall()
