"""Nodes and weighted edges of the noun graph, counted in DuckDB over the chunks that hold both phrases.

Weight of an edge: p(x,y) * log2(p(x,y) / (p(x) p(y))), with p(x) = df(x) / sum of df and p(x,y) = co-occurrences / sum
of co-occurrences, as microsoft/graphrag's `calculate_pmi_edge_weights`. All sums are of integers, every query orders.
"""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa

from monjyu_assets.levels.graph.rules import HUB_FLOOR, GraphRules
from monjyu_core.storage.schemas import TABLES

MEMORY = "1GB"

_NODES = """
CREATE TABLE nodes AS
WITH forms AS (
    SELECT phrase, surface, sum(count)::BIGINT AS times FROM mentions GROUP BY ALL
), best AS (
    SELECT phrase, surface FROM forms QUALIFY row_number() OVER (PARTITION BY phrase ORDER BY times DESC, surface) = 1
), counted AS (
    SELECT phrase, count(*)::INT AS df, count(DISTINCT paper_id)::INT AS papers, sum(count)::BIGINT AS times
    FROM mentions GROUP BY phrase
), total AS (SELECT count(DISTINCT chunk_id) AS chunks FROM mentions)
SELECT row_number() OVER (ORDER BY phrase)::INT AS n, phrase, surface, df, papers,
       (times * ln(chunks / df))::DOUBLE AS tfidf,
       df >= $min_df AND df <= greatest($floor, floor($share * chunks)) AS frequent
FROM counted JOIN best USING (phrase), total ORDER BY phrase
"""
_PAIRS = """
CREATE TABLE pairs AS
WITH kept AS (SELECT m.chunk_id, n.n FROM mentions m JOIN nodes n USING (phrase) WHERE n.frequent OR NOT $prune_first)
SELECT a.n AS x, b.n AS y, count(*)::INT AS cooccurrences
FROM kept a JOIN kept b ON a.chunk_id = b.chunk_id AND a.n < b.n GROUP BY ALL
"""
_WEIGHTS = """
CREATE TABLE edges AS
WITH pair_total AS (SELECT sum(cooccurrences)::DOUBLE AS pairs FROM pairs),
     node_total AS (SELECT sum(df)::DOUBLE AS df FROM nodes WHERE frequent OR NOT $prune_first)
SELECT x, y, cooccurrences,
       (cooccurrences / t.pairs) * log2((cooccurrences / t.pairs) / ((a.df / d.df) * (b.df / d.df))) AS weight
FROM pairs JOIN nodes a ON a.n = x JOIN nodes b ON b.n = y, pair_total t, node_total d
WHERE cooccurrences >= $min_cooccurrences
"""
_ENDS = "(SELECT x AS n, y AS other, weight FROM edges UNION ALL SELECT y, x, weight FROM edges)"
# The least weight that may stay is found without sorting; only what reaches it is ranked, so that ties are cut alike.
_STRONGEST = f"""
WITH bounds AS (SELECT n, list_min(max(weight, $most)) AS bound FROM {_ENDS} GROUP BY n),
     ranked AS (
         SELECT n, other FROM {_ENDS} JOIN bounds USING (n) WHERE weight >= bound
         QUALIFY row_number() OVER (PARTITION BY n ORDER BY weight DESC, other) <= $most)
SELECT * FROM edges SEMI JOIN (SELECT least(n, other) AS x, greatest(n, other) AS y FROM ranked) USING (x, y)
"""


def build_graph(mentions: pa.Table, rules: GraphRules) -> tuple[pa.Table, pa.Table]:
    """`graph_nodes` and `graph_edges` of these `phrase_mentions`."""
    with duckdb.connect(":memory:", config={"memory_limit": MEMORY}) as connection:
        connection.register("mentions", mentions)
        limits = {"min_df": rules.min_df, "floor": HUB_FLOOR, "share": rules.max_df_share}
        connection.execute(_NODES, limits).fetchall()
        connection.execute(_PAIRS, {"prune_first": rules.prune_first}).fetchall()
        weighing = {"prune_first": rules.prune_first, "min_cooccurrences": rules.min_cooccurrences}
        connection.execute(_WEIGHTS, weighing).fetchall()
        connection.execute("DROP TABLE pairs").fetchall()
        if rules.prune_first:
            connection.execute("DELETE FROM nodes WHERE NOT frequent").fetchall()
        prune(connection, rules)
        return _tables(connection)


def prune(connection: duckdb.DuckDBPyConnection, rules: GraphRules) -> None:
    """In graphrag's order: the hub, degree, frequency, edge weight; then what goes beyond the strongest edges of both
    ends. Nodes that lose all edges stay, with degree 0."""
    degrees = _degrees(connection)
    gone = [n for n, degree in degrees.items() if degree < rules.min_degree] + _above(degrees, rules.max_degree_std)
    if rules.remove_hub and degrees:
        gone.append(min(degrees, key=lambda n: (-degrees[n], n)))
    _drop_nodes(connection, gone)
    connection.execute("DELETE FROM nodes WHERE NOT frequent").fetchall()
    if not rules.prune_first or any(degrees[n] for n in gone):
        _keep_edges(connection, "SELECT * FROM edges WHERE x IN (SELECT n FROM nodes) AND y IN (SELECT n FROM nodes)")
    weights = connection.execute("SELECT weight FROM edges").fetchnumpy()["weight"]
    if weights.size and rules.edge_percentile > 0:
        least = float(np.percentile(weights, rules.edge_percentile))
        _keep_edges(connection, "SELECT * FROM edges WHERE weight >= $least", least=least)
    if rules.max_edges and max(_degrees(connection).values(), default=0) > rules.max_edges:
        _keep_edges(connection, _STRONGEST, most=rules.max_edges)


def _keep_edges(connection: duckdb.DuckDBPyConnection, query: str, **values: float) -> None:
    connection.execute(f"CREATE TABLE kept AS {query}", values).fetchall()
    connection.execute("DROP TABLE edges").fetchall()
    connection.execute("ALTER TABLE kept RENAME TO edges").fetchall()


def _degrees(connection: duckdb.DuckDBPyConnection) -> dict[int, int]:
    query = f"SELECT n, count(e.other) FROM nodes LEFT JOIN {_ENDS} e USING (n) GROUP BY n ORDER BY n"
    return dict(connection.execute(query).fetchall())


def _above(degrees: dict[int, int], deviations: float | None) -> list[int]:
    if deviations is None or not degrees:
        return []
    values = np.array(list(degrees.values()))
    most = float(values.mean() + deviations * values.std())
    return [n for n, degree in degrees.items() if degree > most]


def _drop_nodes(connection: duckdb.DuckDBPyConnection, gone: list[int]) -> None:
    if gone:
        connection.register("gone", pa.table({"n": pa.array(gone, pa.int32())}))
        connection.execute("DELETE FROM nodes WHERE n IN (SELECT n FROM gone)").fetchall()
        connection.unregister("gone")


def _tables(connection: duckdb.DuckDBPyConnection) -> tuple[pa.Table, pa.Table]:
    degrees = (
        "SELECT n, count(*)::INT AS degree FROM (SELECT x AS n FROM edges UNION ALL SELECT y FROM edges) GROUP BY n"
    )
    nodes = connection.sql(
        f"SELECT phrase, surface, df, papers, tfidf, coalesce(degree, 0)::INT AS degree "
        f"FROM nodes LEFT JOIN ({degrees}) USING (n) ORDER BY phrase"
    ).to_arrow_table()
    edges = connection.sql(
        "SELECT a.phrase AS source, b.phrase AS target, cooccurrences, weight FROM edges "
        "JOIN nodes a ON a.n = x JOIN nodes b ON b.n = y ORDER BY x, y"
    ).to_arrow_table()
    return nodes.cast(TABLES["graph_nodes"].schema), edges.cast(TABLES["graph_edges"].schema)
