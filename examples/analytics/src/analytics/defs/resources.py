"""The database of this project. Monjyu's own resources come with the first corpus."""

import dagster as dg
from dagster_duckdb import DuckDBResource


@dg.definitions
def resources() -> dg.Definitions:
    database = dg.EnvVar("ANALYTICS_DATABASE").get_value("analytics.duckdb")
    return dg.Definitions(resources={"analytics": DuckDBResource(database=str(database))})
