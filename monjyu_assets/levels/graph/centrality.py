"""The central chunks of the noun graph."""

from __future__ import annotations

import math

import duckdb
import pyarrow as pa

_RANKED = """
SELECT c.chunk_id, coalesce(sum(n.degree), 0)::BIGINT AS centrality
FROM chunks c LEFT JOIN mentions m USING (chunk_id) LEFT JOIN nodes n USING (phrase)
GROUP BY c.chunk_id ORDER BY centrality DESC, c.chunk_id LIMIT $most
"""


def central_chunks(chunks: pa.Table, mentions: pa.Table, nodes: pa.Table, share: float) -> frozenset[str]:
    """The `share` of chunks whose phrases together have most neighbours (degree centrality, summed)."""
    with duckdb.connect(":memory:") as connection:
        for name, table in {"chunks": chunks, "mentions": mentions, "nodes": nodes}.items():
            connection.register(name, table)
        most = math.ceil(share * chunks.num_rows)
        return frozenset(row[0] for row in connection.execute(_RANKED, {"most": most}).fetchall())
