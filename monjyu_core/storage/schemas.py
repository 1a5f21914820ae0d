"""The tables: columns, keys, the asset that writes each, and the columns that stand outside the data version.

Rows of a table are always sorted by its keys, so equal content gives equal bytes.
"""

from __future__ import annotations

import pyarrow as pa

from monjyu_core.storage.schemas_levels import LEVEL_SPECS
from monjyu_core.storage.table_spec import (
    BOOL,
    BOX,
    COLLECTION_SHARD,
    CONTEXTS,
    INT,
    SHARDS,
    SPANS,
    TEXT,
    TEXTS,
    TableSpec,
)
from monjyu_core.storage.table_spec import table as _table

__all__ = [
    "ASSET_TABLES",
    "COLLECTION_SHARD",
    "LEVEL_NAMES",
    "SCHEMA_VERSION",
    "SHARDS",
    "TABLES",
    "TableSpec",
    "empty",
]

SCHEMA_VERSION = 2
"""Raised when a snapshot's tables change in a way that older readers cannot read."""

CHUNK_COMMUNITIES = """
SELECT chunk_id, community_id, level, (count(*) / phrases)::FLOAT AS share FROM (
    SELECT chunk_id, phrase, count(*) OVER (PARTITION BY chunk_id) AS phrases FROM phrase_mentions
    SEMI JOIN graph_nodes USING (phrase)
    SEMI JOIN (SELECT canonical_id AS paper_id FROM paper_identity) USING (paper_id)
) JOIN community_members USING (phrase) JOIN communities USING (community_id)
GROUP BY chunk_id, community_id, level, phrases
"""
"""The chunks that each community touches, with the share of the chunk's phrases that are its own. Every chunk stands
in some dozens of communities: as rows they would be the largest table of a collection, and change with every paper."""

_SPECS = (
    _table(
        "manifest",
        "paper_manifest",
        {"paper_id": TEXT, "sha256": TEXT, "document_type": TEXT, "size": pa.int64(), "record": pa.int64()}
        | {"source_path": TEXT, "mtime_ns": pa.int64(), "offset": pa.int64()},
        ("paper_id",),
        unhashed=("source_path", "mtime_ns", "offset", "record"),
    ),
    _table(
        "papers",
        "parsed_papers",
        {"paper_id": TEXT, "sha256": TEXT, "document_type": TEXT, "processor": TEXT, "is_academic_paper": BOOL}
        | {"title": TEXT, "abstract": TEXT, "doi": TEXT, "arxiv_id": TEXT, "pmid": TEXT, "semantic_scholar_id": TEXT}
        | {"publication_date": TEXT, "year": INT, "venue": TEXT, "venue_type": TEXT, "volume": TEXT, "issue": TEXT}
        | {"pages": TEXT, "citation_count": INT, "influential_citation_count": INT, "keywords": TEXTS}
        | {"language": TEXT, "page_count": INT, "characters": pa.int64(), "raw_characters": pa.int64()}
        | {"warnings": TEXTS, "source_path": TEXT},
        ("paper_id",),
        unhashed=("source_path",),
    ),
    _table(
        "authors",
        "parsed_papers",
        {"paper_id": TEXT, "ord": INT, "name": TEXT, "affiliation": TEXT, "email": TEXT, "orcid": TEXT}
        | {"is_corresponding": BOOL},
        ("paper_id", "ord"),
    ),
    _table(
        "sections",
        "parsed_papers",
        {"paper_id": TEXT, "section_ord": INT, "heading": TEXT, "level": INT, "section_type": TEXT}
        | {"page_start": INT, "page_end": INT, "text": TEXT},
        ("paper_id", "section_ord"),
    ),
    _table(
        "sentences",
        "parsed_papers",
        {"sentence_id": TEXT, "paper_id": TEXT, "section_ord": INT, "ord": INT, "start": INT, "end": INT}
        | {"text": TEXT, "spans": SPANS},
        ("paper_id", "ord"),
    ),
    _table(
        "references",
        "parsed_papers",
        {"paper_id": TEXT, "ord": INT, "ref_id": TEXT, "raw_text": TEXT, "title": TEXT, "authors": TEXTS, "year": INT}
        | {"venue": TEXT, "doi": TEXT, "arxiv_id": TEXT},
        ("paper_id", "ord"),
    ),
    _table(
        "inline_citations",
        "parsed_papers",
        {"paper_id": TEXT, "ord": INT, "ref_id": TEXT, "context": TEXT, "section": TEXT, "position": INT},
        ("paper_id", "ord"),
    ),
    _table(
        "tables",
        "parsed_papers",
        {"paper_id": TEXT, "ord": INT, "page": INT, "box": BOX, "caption": TEXT, "headers": TEXTS}
        | {"rows": pa.list_(TEXTS)},
        ("paper_id", "ord"),
    ),
    _table(
        "figures",
        "parsed_papers",
        {"paper_id": TEXT, "ord": INT, "page": INT, "box": BOX, "caption": TEXT},
        ("paper_id", "ord"),
    ),
    _table(
        "equations",
        "parsed_papers",
        {"paper_id": TEXT, "ord": INT, "page": INT, "box": BOX, "text": TEXT, "latex": TEXT, "inline": BOOL},
        ("paper_id", "ord"),
    ),
    _table(
        "failures",
        "parsed_papers",
        {"paper_id": TEXT, "error_type": TEXT, "message": TEXT, "source_path": TEXT},
        ("paper_id",),
        unhashed=("source_path",),
    ),
    _table(
        "chunks",
        "chunks",
        {"chunk_id": TEXT, "paper_id": TEXT, "section_ord": INT, "ord": INT, "section_type": TEXT, "heading": TEXT}
        | {"header": TEXT, "text": TEXT, "input_hash": TEXT, "tokens": INT, "pieces": INT}
        | {"page_start": INT, "page_end": INT},
        ("paper_id", "ord"),
    ),
    _table(
        "chunk_sentences",
        "chunks",
        {"chunk_id": TEXT, "paper_id": TEXT, "ord": INT, "sentence_id": TEXT, "start": INT, "end": INT},
        ("chunk_id", "ord"),
    ),
    _table(
        "chunk_embeddings",
        "chunk_embeddings",
        {"chunk_id": TEXT, "paper_id": TEXT, "input_hash": TEXT, "model": TEXT, "vector": pa.list_(pa.float32())},
        ("chunk_id",),
        unhashed=("vector",),  # floats may differ in the last bit; the inputs and the model decide
        served=False,
    ),
    _table(
        "paper_identity",
        "paper_identity",
        {"paper_id": TEXT, "canonical_id": TEXT, "reason": TEXT},
        ("paper_id",),
        by_shard=False,
    ),
    _table(
        "citation_edges",
        "citation_network",
        {"citing_id": TEXT, "cited_id": TEXT, "paper_id": TEXT, "ref_ord": INT, "ref_id": TEXT, "method": TEXT}
        | {"score": pa.float32(), "contexts": CONTEXTS},
        ("citing_id", "cited_id"),
        by_shard=False,
    ),
    _table(
        "unresolved_references",
        "citation_network",
        {"paper_id": TEXT, "ord": INT, "ref_id": TEXT, "work_id": TEXT},
        ("paper_id", "ord"),
        by_shard=False,
    ),
    _table(
        "phrase_mentions",
        "noun_phrases",
        {"paper_id": TEXT, "chunk_id": TEXT, "phrase": TEXT, "surface": TEXT, "count": INT},
        ("chunk_id", "phrase"),
        level=1,
    ),
    _table(
        "graph_nodes",
        "noun_graph",
        {"phrase": TEXT, "surface": TEXT, "df": INT, "papers": INT, "tfidf": pa.float64(), "degree": INT},
        ("phrase",),
        level=1,
        by_shard=False,
    ),
    _table(
        "graph_edges",
        "noun_graph",
        {"source": TEXT, "target": TEXT, "cooccurrences": INT, "weight": pa.float64()},
        ("source", "target"),
        level=1,
        by_shard=False,
    ),
    _table(
        "communities",
        "communities",
        {"community_id": TEXT, "level": INT, "parent_id": TEXT, "size": INT, "chunks": INT, "top_phrases": TEXTS},
        ("community_id",),
        level=1,
        by_shard=False,
    ),
    _table(
        "community_members",
        "communities",
        {"community_id": TEXT, "phrase": TEXT},
        ("community_id", "phrase"),
        level=1,
        by_shard=False,
    ),
    _table(
        "chunk_communities",
        "communities",
        {"chunk_id": TEXT, "community_id": TEXT, "level": INT, "share": pa.float32()},
        ("chunk_id", "community_id"),
        level=1,
        by_shard=False,
        view=CHUNK_COMMUNITIES,
    ),
    *LEVEL_SPECS,
)

TABLES: dict[str, TableSpec] = {spec.name: spec for spec in _SPECS}
"""All tables by name."""

ASSET_TABLES: dict[str, list[str]] = {}
"""Asset to the tables it stores, the primary one (whose HEAD decides) first."""
for _spec in _SPECS:
    if not _spec.view:
        ASSET_TABLES.setdefault(_spec.asset, []).append(_spec.name)

LEVEL_NAMES = ("level_0_baseline", "level_1_lazy", "level_2_entities", "level_3_reports", "level_4_claims")


def empty(table: str) -> pa.Table:
    return TABLES[table].schema.empty_table()
