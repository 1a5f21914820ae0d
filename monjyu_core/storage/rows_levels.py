"""The rows of the tables of levels 2 to 4, one record a table.

Confidences are from 0 to 1, ratings from 0 to 10. `sentence_ids` are the sentences that a row rests on.
"""

from __future__ import annotations

from typing import TypedDict

from monjyu_core.storage.table_spec import Float32


class ChunkPlace(TypedDict):
    """The chunk that a row is made from."""

    paper_id: str
    chunk_id: str


class CommunityPlace(TypedDict):
    """The community that a row is made from."""

    community_id: str


class FailureCause(TypedDict):
    """Without a result (`failed`), or with one that lost `dropped` items."""

    error_type: str
    message: str
    failed: bool
    dropped: int


class EntityColumns(TypedDict):
    """What an engine says of an entity in a chunk; `entity_key` is its normalised name."""

    entity_key: str
    type: str
    name: str
    description: str
    sentence_ids: list[str]
    confidence: float


class EntityMentionRow(ChunkPlace, EntityColumns):
    engine: str


class RelationshipColumns(TypedDict):
    """What an engine says of a relationship in a chunk; its ends are (type, key) of two entities. `stance`: `stated`,
    `negated` (the text says that it does not hold) or `hedged` (that it may)."""

    source_key: str
    source_type: str
    target_key: str
    target_type: str
    type: str
    stance: str
    description: str
    sentence_ids: list[str]
    weight: float


class RelationshipMentionRow(ChunkPlace, RelationshipColumns):
    engine: str


class ChunkFailureRow(ChunkPlace, FailureCause):
    """A chunk that an engine of entities or claims has no whole result of."""


class EntityRow(TypedDict):
    """An entity of the collection; `mentions`, `chunks` and `papers` count where it stands, `degree` neighbours."""

    entity_id: str
    name: str
    type: str
    aliases: list[str]
    description: str
    mentions: int
    chunks: int
    papers: int
    first_year: int | None
    external_ids: list[str]
    sentence_ids: list[str]
    degree: int
    engine: str


class EntityChunkRow(TypedDict):
    """How often a chunk mentions an entity."""

    entity_id: str
    chunk_id: str
    paper_id: str
    mentions: int


class RelationshipRow(TypedDict):
    """A relationship of the collection; `weight` is the sum over its mentions. `stance` as in
    `relationship_mentions`."""

    relationship_id: str
    source_id: str
    target_id: str
    type: str
    stance: str
    description: str
    weight: float
    mentions: int
    sentence_ids: list[str]
    chunk_ids: list[str]
    engine: str


class EntityCommunityRow(TypedDict):
    """A group of entities; `level` 0 is the coarsest, `size` counts entities."""

    community_id: str
    level: int
    parent_id: str | None
    size: int
    chunks: int
    papers: int
    top_entities: list[str]


class EntityCommunityMemberRow(TypedDict):
    community_id: str
    entity_id: str


class FindingRow(TypedDict):
    """One thing that a report says."""

    summary: str
    explanation: str
    sentence_ids: list[str]


class CommunityReportRow(TypedDict):
    """What a community is about; `text` is all of it as prose."""

    community_id: str
    level: int
    title: str
    summary: str
    findings: list[FindingRow]
    rating: float
    rating_reason: str
    text: str
    paper_ids: list[str]
    engine: str


class ReportEmbeddingRow(TypedDict):
    community_id: str
    input_hash: str
    model: str
    vector: list[Float32]


class ReportFailureRow(CommunityPlace, FailureCause):
    """A community that has no report, or one that lost findings."""


class ClaimRow(TypedDict):
    """A statement of a paper; `quote` is the sentence that says it."""

    claim_id: str
    paper_id: str
    chunk_id: str
    sentence_ids: list[str]
    subject: str
    statement: str
    quote: str
    kind: str
    confidence: float
    engine: str


class ClaimEmbeddingRow(TypedDict):
    claim_id: str
    paper_id: str
    input_hash: str
    model: str
    vector: list[Float32]
