"""The rules for building a graph: the settings, or microsoft/graphrag's defaults for the profile `graphrag_compat`."""

import math
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from monjyu_core.settings.levels import GraphSettings

HUB_FLOOR = 20
"""The number of chunks up to which a phrase is not a hub, even in a small collection."""


@dataclass(frozen=True)
class GraphRules:
    """How nodes and edges are pruned. `prune_first` removes rare and frequent phrases before pairs are counted."""

    prune_first: bool
    min_df: int
    max_df_share: float
    min_cooccurrences: int
    min_degree: int
    max_degree_std: float | None
    remove_hub: bool
    edge_percentile: float
    max_edges: int = 0
    """0 = no limit."""
    counted: bool = False
    """Whether the weight of an edge is the number of chunks that its phrases share."""


@dataclass(frozen=True)
class PartitionRules:
    backend: str
    max_size: int
    resolution: float
    seed: int
    largest_component: bool


COMPAT = GraphRules(
    prune_first=False,
    min_df=2,
    max_df_share=1.0,
    min_cooccurrences=1,
    min_degree=1,
    max_degree_std=None,
    remove_hub=True,
    edge_percentile=40.0,
)
"""The defaults of graphrag 3 (`prune_graph`): it removes the node with most neighbours, then prunes by degree,
frequency and edge weight."""


def graph_rules(settings: GraphSettings) -> GraphRules:
    if settings.profile == "graphrag_compat":
        return COMPAT
    return GraphRules(
        prune_first=True,
        min_df=settings.min_df,
        max_df_share=settings.max_df_share,
        min_cooccurrences=settings.min_cooccurrences,
        min_degree=settings.min_degree,
        max_degree_std=settings.max_degree_std,
        remove_hub=False,
        edge_percentile=settings.edge_percentile,
        max_edges=settings.max_edges,
        counted=settings.edge_weight == "count",
    )


def partition_rules(settings: GraphSettings) -> PartitionRules:
    compat = settings.profile == "graphrag_compat"
    return PartitionRules(
        backend="graspologic-native" if compat else settings.backend,
        max_size=10 if compat else settings.max_community_size,
        resolution=1.0 if compat else settings.resolution,
        seed=0xDEADBEEF if compat else settings.seed,
        largest_component=compat,
    )


# Central chunks of a noun graph.
_RANKED = """
SELECT c.chunk_id, coalesce(sum(n.degree), 0)::BIGINT AS centrality
FROM chunks c LEFT JOIN mentions m USING (chunk_id) LEFT JOIN nodes n USING (phrase)
GROUP BY c.chunk_id ORDER BY centrality DESC, c.chunk_id LIMIT $most
"""


def central_chunks(chunks: pa.Table, mentions: pa.Table, nodes: pa.Table, share: float) -> frozenset[str]:
    """The ids of the `share` (0 to 1) of chunks whose phrases have the highest sum of degrees in the graph."""
    with duckdb.connect(":memory:") as connection:
        for name, table in {"chunks": chunks, "mentions": mentions, "nodes": nodes}.items():
            connection.register(name, table)
        most = math.ceil(share * chunks.num_rows)
        return frozenset(row[0] for row in connection.execute(_RANKED, {"most": most}).fetchall())
