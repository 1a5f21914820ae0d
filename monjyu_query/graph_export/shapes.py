"""The tables of microsoft/graphrag 3: names, columns and their order as in its `data_model/schemas.py`, with types."""

from __future__ import annotations

import pyarrow as pa

ID, NUMBER, TEXT, TEXTS, REAL = pa.string(), pa.int64(), pa.string(), pa.list_(pa.string()), pa.float64()
NUMBERS = pa.list_(pa.int64())
IDENTITY = {"id": ID, "human_readable_id": NUMBER}
TREE = {"community": NUMBER, "level": NUMBER, "parent": NUMBER, "children": NUMBERS}
FINDINGS = pa.list_(pa.struct([("summary", TEXT), ("explanation", TEXT)]))
RAW = pa.struct(
    [("authors", TEXTS), ("year", NUMBER), ("venue", TEXT), ("doi", TEXT), ("arxiv_id", TEXT), ("language", TEXT)]
)

_COLUMNS: dict[str, dict[str, pa.DataType]] = {
    "documents": {"title": TEXT, "text": TEXT, "text_unit_ids": TEXTS, "creation_date": TEXT, "raw_data": RAW},
    "text_units": {"text": TEXT, "n_tokens": NUMBER, "document_id": ID}
    | {"entity_ids": TEXTS, "relationship_ids": TEXTS, "covariate_ids": TEXTS},
    "entities": {"title": TEXT, "type": TEXT, "description": TEXT, "text_unit_ids": TEXTS}
    | {"frequency": NUMBER, "degree": NUMBER},
    "relationships": {"source": TEXT, "target": TEXT, "description": TEXT, "weight": REAL}
    | {"combined_degree": NUMBER, "text_unit_ids": TEXTS},
    "communities": TREE
    | {"title": TEXT, "entity_ids": TEXTS, "relationship_ids": TEXTS, "text_unit_ids": TEXTS}
    | {"period": TEXT, "size": NUMBER},
    "community_reports": TREE
    | {"title": TEXT, "summary": TEXT, "full_content": TEXT, "rank": REAL, "rating_explanation": TEXT}
    | {"findings": FINDINGS, "full_content_json": TEXT, "period": TEXT, "size": NUMBER},
    "covariates": {"covariate_type": TEXT, "type": TEXT, "description": TEXT, "subject_id": TEXT, "object_id": TEXT}
    | {"status": TEXT, "start_date": TEXT, "end_date": TEXT, "source_text": TEXT, "text_unit_id": ID},
}

SHAPES: dict[str, pa.Schema] = {
    name: pa.schema(list((IDENTITY | columns).items())) for name, columns in _COLUMNS.items()
}
"""Schema by table. An entity's `title` is unique: relationships name their ends by it."""

ALWAYS = tuple(name for name in SHAPES if name != "covariates")
"""Tables that graphrag's readers expect, with no rows where a collection has none; covariates only where it has."""
