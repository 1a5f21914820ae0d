"""The tables of levels 2 to 4: entities and relationships, their communities, reports, claims.

Each has an `engine` column: what made the row, with its version ("extractive-1", "llm-1"). The tables of failures hold
what an engine could not do, by chunk or community: `failed` rows have no result and are tried again; others only
lost `dropped` items whose quote is not in the source.
"""

from __future__ import annotations

import pyarrow as pa

from monjyu_core.storage.table_spec import BOOL, INT, TEXT, TEXTS, TableSpec, table

FLOAT = pa.float64()
VECTOR = pa.list_(pa.float32())
FINDINGS = pa.list_(pa.struct([("summary", TEXT), ("explanation", TEXT), ("sentence_ids", TEXTS)]))
FAILURE = {"error_type": TEXT, "message": TEXT, "failed": BOOL, "dropped": INT}

LEVEL_SPECS: tuple[TableSpec, ...] = (
    table(
        "entity_mentions",
        "extracted_entities",
        {"paper_id": TEXT, "chunk_id": TEXT, "entity_key": TEXT, "type": TEXT, "name": TEXT, "description": TEXT}
        | {"sentence_ids": TEXTS, "confidence": FLOAT, "engine": TEXT},
        ("chunk_id", "type", "entity_key"),
        level=2,
    ),
    table(
        "relationship_mentions",
        "extracted_entities",
        {"paper_id": TEXT, "chunk_id": TEXT, "source_key": TEXT, "source_type": TEXT, "target_key": TEXT}
        | {"target_type": TEXT, "type": TEXT, "description": TEXT, "sentence_ids": TEXTS, "weight": FLOAT}
        | {"engine": TEXT},
        ("chunk_id", "source_type", "source_key", "target_type", "target_key", "type"),
        level=2,
    ),
    table(
        "entity_failures",
        "extracted_entities",
        {"paper_id": TEXT, "chunk_id": TEXT} | FAILURE,
        ("chunk_id",),
        level=2,
    ),
    table(
        "entities",
        "entity_graph",
        {"entity_id": TEXT, "name": TEXT, "type": TEXT, "aliases": TEXTS, "description": TEXT, "mentions": INT}
        | {"chunks": INT, "papers": INT, "first_year": INT, "external_ids": TEXTS, "sentence_ids": TEXTS}
        | {"degree": INT, "engine": TEXT},
        ("entity_id",),
        level=2,
        by_shard=False,
    ),
    table(
        "entity_chunks",
        "entity_graph",
        {"entity_id": TEXT, "chunk_id": TEXT, "paper_id": TEXT, "mentions": INT},
        ("entity_id", "chunk_id"),
        level=2,
        by_shard=False,
    ),
    table(
        "relationships",
        "entity_graph",
        {"relationship_id": TEXT, "source_id": TEXT, "target_id": TEXT, "type": TEXT, "description": TEXT}
        | {"weight": FLOAT, "mentions": INT, "sentence_ids": TEXTS, "chunk_ids": TEXTS, "engine": TEXT},
        ("relationship_id",),
        level=2,
        by_shard=False,
    ),
    table(
        "entity_communities",
        "entity_communities",
        {"community_id": TEXT, "level": INT, "parent_id": TEXT, "size": INT, "chunks": INT, "papers": INT}
        | {"top_entities": TEXTS},
        ("community_id",),
        level=2,
        by_shard=False,
    ),
    table(
        "entity_community_members",
        "entity_communities",
        {"community_id": TEXT, "entity_id": TEXT},
        ("community_id", "entity_id"),
        level=2,
        by_shard=False,
    ),
    table(
        "community_reports",
        "community_reports",
        {"community_id": TEXT, "level": INT, "title": TEXT, "summary": TEXT, "findings": FINDINGS, "rating": FLOAT}
        | {"rating_reason": TEXT, "text": TEXT, "paper_ids": TEXTS, "engine": TEXT},
        ("community_id",),
        level=3,
        by_shard=False,
    ),
    table(
        "report_embeddings",
        "community_reports",
        {"community_id": TEXT, "input_hash": TEXT, "model": TEXT, "vector": VECTOR},
        ("community_id",),
        unhashed=("vector",),  # as for chunks: the inputs and the model decide
        level=3,
        by_shard=False,
    ),
    table(
        "report_failures",
        "community_reports",
        {"community_id": TEXT} | FAILURE,
        ("community_id",),
        level=3,
        by_shard=False,
    ),
    table(
        "claims",
        "claims",
        {"claim_id": TEXT, "paper_id": TEXT, "chunk_id": TEXT, "sentence_ids": TEXTS, "subject": TEXT}
        | {"statement": TEXT, "quote": TEXT, "kind": TEXT, "confidence": FLOAT, "engine": TEXT},
        ("claim_id",),
        level=4,
    ),
    table(
        "claim_embeddings",
        "claims",
        {"claim_id": TEXT, "paper_id": TEXT, "input_hash": TEXT, "model": TEXT, "vector": VECTOR},
        ("claim_id",),
        unhashed=("vector",),
        level=4,
    ),
    table("claim_failures", "claims", {"paper_id": TEXT, "chunk_id": TEXT} | FAILURE, ("chunk_id",), level=4),
)
