"""Writes `index.duckdb` of a snapshot: the served tables, each row with its shard, and `community_lineage`.

For a small collection the file contains the rows; for a large one it contains views over the parts, with paths relative
to the snapshot's folder, so that a change writes only its own parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from monjyu_core.storage.parts import Part
from monjyu_core.storage.schemas import TABLES
from monjyu_core.storage.snapshot import open_database, rows_of_files, search_near_database

if TYPE_CHECKING:
    import duckdb

Connect = Callable[[Path], AbstractContextManager["duckdb.DuckDBPyConnection"]]
"""Opens a DuckDB file for writing; the asset passes the resource of dagster-duckdb."""

MEMORY = "1GB"
"""The memory limit of DuckDB while it writes. It spills to disk if that is not enough."""
COPIED_ROWS = 500_000
"""The maximum number of rows that are copied into the file (some hundred papers), because rows in the file are faster
to read and cost little to write."""


def build_database(path: Path, parts: Sequence[Part], connect: Connect) -> bool:
    """Write the served tables of a snapshot to a new file at `path`, in a folder next to those of other snapshots.
    Return whether the file contains their rows, instead of views."""
    served = [part for part in parts if TABLES[part.table].served]
    tables = sorted({part.table for part in served})
    # DuckDB divides its search path at commas.
    copied = sum(part.rows for part in served) <= COPIED_ROWS or "," in str(path.absolute())
    with connect(path) as connection:
        connection.execute("SET preserve_insertion_order = true")
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        search_near_database(connection, path)
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
    """The names of the tables and views of a database."""
    query = "SELECT table_name FROM duckdb_tables() UNION SELECT view_name FROM duckdb_views() WHERE NOT internal"
    return {row[0] for row in connection.execute(query).fetchall()}


# `community_lineage` of a snapshot: the communities of the previous snapshot that each community overlaps most.
# community_lineage(graph, community_id, rank, previous_id, shared, jaccard)
# The table depends on the previous snapshot, so it is not in the parts, data versions and content hash: an incremental
# index equals a full rebuild in all but this table. Ids are hashes, so it contains no text of an older snapshot.
TABLE = "community_lineage"
NEAREST = 3
"""The maximum number of previous communities that are recorded for each community."""
SAME, MOSTLY = 1.0, 0.5
"""The minimum Jaccard similarities to a previous community of a `kept` and of a `changed` community. Any other is
`new`."""

MEMBERS = {"phrases": ("community_members", "phrase"), "entities": ("entity_community_members", "entity_id")}
"""The table and column of the members of communities, by graph."""

_CREATE = f"""
CREATE TABLE {TABLE} (graph VARCHAR, community_id VARCHAR, rank INTEGER, previous_id VARCHAR, shared INTEGER,
                      jaccard DOUBLE)
"""
_INSERT = f"""
INSERT INTO {TABLE}
WITH now AS (SELECT community_id AS id, "{{column}}" AS member FROM "{{table}}"),
sizes AS (SELECT id, count(*) AS size FROM now GROUP BY id),
before_sizes AS (SELECT id, count(*) AS size FROM before GROUP BY id),
pairs AS (SELECT n.id, b.id AS previous, count(*) AS shared FROM now n JOIN before b USING (member) GROUP BY ALL),
scored AS (
    SELECT p.id, previous, shared, shared / (s.size + b.size - shared) AS jaccard
    FROM pairs p JOIN sizes s ON s.id = p.id JOIN before_sizes b ON b.id = previous
)
SELECT '{{graph}}', id, row_number() OVER (PARTITION BY id ORDER BY jaccard DESC, previous) AS rank, previous, shared,
       jaccard
FROM scored QUALIFY rank <= {NEAREST} ORDER BY id, rank
"""


def write_lineage(database: Path, connect: Connect, previous: Path | None) -> None:
    """Write the table `community_lineage` into a snapshot's new database, if it has communities. The table is empty if
    the `previous` database has none."""
    with connect(database) as connection:
        search_near_database(connection, database)
        there = table_names(connection)
        graphs = {graph: names for graph, names in MEMBERS.items() if names[0] in there}
        if not graphs:
            return
        connection.execute(_CREATE).fetchall()
        for graph, (table, column) in graphs.items():
            before = _members(previous, table, column)
            if before is not None:
                connection.register("before", before)
                connection.execute(_INSERT.format(graph=graph, table=table, column=column)).fetchall()
                connection.unregister("before")
        connection.execute("CHECKPOINT").fetchall()


def _members(database: Path | None, table: str, column: str) -> pa.Table | None:
    if database is None or not database.is_file():
        return None
    with open_database(database) as connection:
        if table not in table_names(connection):
            return None
        return connection.sql(f'SELECT community_id AS id, "{column}" AS member FROM "{table}"').to_arrow_table()


_COUNTS = f"""
WITH best AS (SELECT * FROM {TABLE} WHERE rank = 1 AND graph = $graph)
SELECT count(*) FILTER (jaccard >= {SAME}), count(*) FILTER (jaccard >= {MOSTLY} AND jaccard < {SAME}),
       count(*) FILTER (coalesce(jaccard, 0) < {MOSTLY})
FROM (SELECT DISTINCT community_id FROM "{{table}}") LEFT JOIN best USING (community_id)
"""


def lineage_counts(database: Path) -> dict[str, dict[str, int]]:
    """The numbers of communities, by graph, that the previous snapshot has (`kept`), similar (`changed`) or `new`."""
    with open_database(database) as connection:
        there = table_names(connection)
        by_graph = {}
        for graph, (table, _) in MEMBERS.items():
            if TABLE in there and table in there:
                counts = connection.execute(_COUNTS.format(table=table), {"graph": graph}).fetchall()[0]
                by_graph[graph] = dict(zip(("kept", "changed", "new"), counts, strict=True))
        return by_graph
