"""Asset `reading_list`: a table in a database of our own, made by SQL of Monjyu's tables."""

from pathlib import Path

import dagster as dg
from dagster_duckdb import DuckDBResource
from duckdb import DuckDBPyConnection

from monjyu_assets.orchestration.partitions import collections

QUERY = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")


@dg.asset(
    partitions_def=collections,
    group_name="analytics",
    kinds={"duckdb", "sql"},
    automation_condition=dg.AutomationCondition.eager(),
)
def reading_list(
    context: dg.AssetExecutionContext, index_snapshot: DuckDBPyConnection, analytics: DuckDBResource
) -> dg.MaterializeResult:
    """What to read first of a collection: one row a paper."""
    made = index_snapshot.sql(QUERY).to_arrow_table()
    with analytics.get_connection() as database:
        database.register("made", made)
        rows = f"SELECT '{context.partition_key}' AS collection, * FROM made"
        database.execute("BEGIN")
        database.execute(f"CREATE TABLE IF NOT EXISTS reading_list AS {rows} LIMIT 0")
        database.execute("DELETE FROM reading_list WHERE collection = ?", [context.partition_key])
        database.execute(f"INSERT INTO reading_list {rows}")
        database.execute("COMMIT")
    return dg.MaterializeResult(metadata={"dagster/row_count": len(made)})
