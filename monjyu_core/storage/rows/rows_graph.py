"""Level 1: noun phrases, the graph of those that stand together, and its communities."""

from __future__ import annotations

from typing import Annotated, TypedDict

from monjyu_core.storage.rows.row_columns import ChunkId, CommunityId, PaperId
from monjyu_core.storage.table_spec import Float32


class PhraseMentionRow(TypedDict):
    """One noun phrase of one chunk."""

    paper_id: PaperId
    chunk_id: ChunkId
    phrase: Annotated[str, "Key of the phrase: lower case, normalised words, acronyms written out."]
    surface: Annotated[str, "The most frequent form in the chunk."]
    count: Annotated[int, "How often the chunk has it."]


class GraphNodeRow(TypedDict):
    """One phrase of the noun graph."""

    phrase: Annotated[str, "Key of the phrase, as in `phrase_mentions`."]
    surface: Annotated[str, "The form that the collection has most often."]
    df: Annotated[int, "Chunks that hold it."]
    papers: Annotated[int, "Papers that hold it (files of one paper count once)."]
    tfidf: Annotated[float, "Its mentions times ln(chunks with phrases / `df`)."]
    degree: Annotated[int, "Phrases that it is joined to in `graph_edges`."]


class GraphEdgeRow(TypedDict):
    """Two phrases that occur in the same chunks; each pair once."""

    source: Annotated[str, "The phrase of the pair that comes first by its bytes."]
    target: Annotated[str, "The other phrase."]
    cooccurrences: Annotated[int, "Chunks that hold both."]
    weight: Annotated[
        float,
        "p(x,y) * log2(p(x,y) / (p(x) p(y))) over phrases and pairs: high where they meet often and not by chance.",
    ]


class CommunityRow(TypedDict):
    """One group of phrases of the noun graph, in a hierarchy from coarse to fine."""

    community_id: CommunityId
    level: Annotated[int, "Depth in the hierarchy: 0 is the coarsest."]
    parent_id: Annotated[str | None, "The community around it; null at level 0."]
    size: Annotated[int, "Phrases in it."]
    chunks: Annotated[int, "Chunks that hold a phrase of it."]
    top_phrases: Annotated[list[str], "The forms of up to ten phrases that meet most often inside it, most first."]


class CommunityMemberRow(TypedDict):
    """One phrase of one community."""

    community_id: CommunityId
    phrase: Annotated[str, "Key of the phrase, as in `graph_nodes`."]


class ChunkCommunityRow(TypedDict):
    """One chunk that holds phrases of one community."""

    chunk_id: ChunkId
    community_id: CommunityId
    level: Annotated[int, "Depth of the community in the hierarchy: 0 is the coarsest."]
    share: Annotated[Float32, "Share (0 to 1) of the chunk's phrases that belong to the community."]
