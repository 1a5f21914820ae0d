"""The relationships around the question's entities: first those among them, then those that lead out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb

from monjyu_query.modes.lazy.concept_graph import has_tables
from monjyu_query.modes.local_search.entities import Entity

_AROUND = """SELECT r.relationship_id, r.source_id, r.target_id, s.name, r.type, t.name, coalesce(r.description, ''),
    coalesce(r.weight, 0), coalesce(r.sentence_ids, []), coalesce(r.engine, '')
FROM relationships r JOIN entities s ON s.entity_id = r.source_id JOIN entities t ON t.entity_id = r.target_id
WHERE list_contains($entities::VARCHAR[], r.source_id) OR list_contains($entities::VARCHAR[], r.target_id)
ORDER BY (list_contains($entities::VARCHAR[], r.source_id) AND list_contains($entities::VARCHAR[], r.target_id)) DESC,
    r.weight DESC, r.relationship_id
LIMIT $most"""


@dataclass(frozen=True)
class Relationship:
    id: str
    source: str
    target: str
    statement: str
    weight: float
    sentence_ids: tuple[str, ...]
    engine: str


def relationships_of(cursor: duckdb.DuckDBPyConnection, entities: Sequence[Entity], most: int) -> list[Relationship]:
    """At most `most` for each entity, those between two of them first, then by weight."""
    if not entities or not most or not has_tables(cursor, ("relationships",)):
        return []
    values = {"entities": [entity.id for entity in entities], "most": most * len(entities)}
    rows = cursor.execute(_AROUND, values).fetchall()
    return [
        Relationship(name, source, target, said or f"{one} {kind} {other}", float(weight), tuple(sentences), engine)
        for name, source, target, one, kind, other, said, weight, sentences, engine in rows
    ]
