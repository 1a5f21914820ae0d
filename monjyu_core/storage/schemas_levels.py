"""The tables of levels 2 to 4: entities and relationships, their communities, reports, claims.

Each has an `engine` column: what made the row, with its version ("extractive-1", "llm-1"). The tables of failures hold
what an engine could not do, by chunk or community: `failed` rows have no result and are tried again; others only
lost `dropped` items whose quote is not in the source.
"""

from __future__ import annotations

from monjyu_core.storage import rows_levels as rows
from monjyu_core.storage.table_spec import TableSpec, table

LEVEL_SPECS: tuple[TableSpec, ...] = (
    table("entity_mentions", "extracted_entities", rows.EntityMentionRow, ("chunk_id", "type", "entity_key"), level=2),
    table(
        "relationship_mentions",
        "extracted_entities",
        rows.RelationshipMentionRow,
        ("chunk_id", "source_type", "source_key", "target_type", "target_key", "type"),
        level=2,
    ),
    table("entity_failures", "extracted_entities", rows.ChunkFailureRow, ("chunk_id",), level=2),
    table("entities", "entity_graph", rows.EntityRow, ("entity_id",), level=2, by_shard=False),
    table("entity_chunks", "entity_graph", rows.EntityChunkRow, ("entity_id", "chunk_id"), level=2, by_shard=False),
    table("relationships", "entity_graph", rows.RelationshipRow, ("relationship_id",), level=2, by_shard=False),
    table(
        "entity_communities", "entity_communities", rows.EntityCommunityRow, ("community_id",), level=2, by_shard=False
    ),
    table(
        "entity_community_members",
        "entity_communities",
        rows.EntityCommunityMemberRow,
        ("community_id", "entity_id"),
        level=2,
        by_shard=False,
    ),
    table(
        "community_reports", "community_reports", rows.CommunityReportRow, ("community_id",), level=3, by_shard=False
    ),
    table(
        "report_embeddings",
        "community_reports",
        rows.ReportEmbeddingRow,
        ("community_id",),
        unhashed=("vector",),  # as for chunks: the inputs and the model decide
        level=3,
        by_shard=False,
    ),
    table("report_failures", "community_reports", rows.ReportFailureRow, ("community_id",), level=3, by_shard=False),
    table("claims", "claims", rows.ClaimRow, ("claim_id",), level=4),
    table("claim_embeddings", "claims", rows.ClaimEmbeddingRow, ("claim_id",), unhashed=("vector",), level=4),
    table("claim_failures", "claims", rows.ChunkFailureRow, ("chunk_id",), level=4),
)
