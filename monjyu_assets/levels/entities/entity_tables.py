"""The entity graph: merged entities, the chunks they appear in, and relationships with weights summed over mentions."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from monjyu_assets.levels.entities.merging import Ids, Node, aliases, merge
from monjyu_core.storage.ids import digest
from monjyu_core.storage.rows.rows_levels import (
    EntityChunkRow,
    EntityMentionRow,
    EntityRow,
    RelationshipMentionRow,
    RelationshipRow,
)
from monjyu_core.storage.schemas import table_of

MOST_SENTENCES = 40
"""Sentences kept with an entity or relationship; `entity_chunks` has all places."""
MOST_ALIASES = 20

_DEFINES = re.compile(r"\b(?:is|are) (?:an?|the)\b|とは")
LONGEST_OPENING = 100
"""Characters within which a definition names what it defines."""

Tables = dict[str, pa.Table]


def entity_id(node: Node) -> str:
    return digest(*node, length=20)


def entity_graph(
    mentions: Sequence[EntityMentionRow],
    links: Sequence[RelationshipMentionRow],
    years: Mapping[str, int | None],
    ids: Ids,
) -> Tables:
    """`entities`, `entity_chunks` and `relationships`. `years` are by paper_id."""
    mentions = sorted(mentions, key=lambda row: (row["paper_id"], row["chunk_id"], row["type"], row["entity_key"]))
    stands = merge(mentions, ids)
    relationships = _relationships(links, stands)
    degree = _degrees(relationships)
    grouped: dict[Node, list[EntityMentionRow]] = defaultdict(list)
    for row in mentions:
        grouped[stands[row["type"], row["entity_key"]]].append(row)
    merged_keys: dict[Node, list[Node]] = defaultdict(list)
    for node, standing in stands.items():
        merged_keys[standing].append(node)
    entities = [_entity(node, rows, years, ids, merged_keys[node], degree) for node, rows in sorted(grouped.items())]
    return {
        "entities": table_of("entities", entities),
        "entity_chunks": table_of("entity_chunks", _places(grouped)),
        "relationships": table_of("relationships", relationships),
    }


def _entity(
    node: Node,
    rows: Sequence[EntityMentionRow],
    years: Mapping[str, int | None],
    ids: Ids,
    keys: Iterable[Node],
    degree: Mapping[str, int],
) -> EntityRow:
    names: Counter[str] = Counter()
    for row in rows:
        names[row["name"]] += times(row)
    name, others = aliases(names)
    sentences = list(dict.fromkeys(s for row in rows for s in row["sentence_ids"]))
    known = [year for row in rows if (year := years.get(row["paper_id"])) is not None]
    if node[0] == "paper":  # the year of the work, not that of those who cite it
        known = [ids.years[key] for _, key in keys if key in ids.years] or known
    key = entity_id(node)
    return {
        "entity_id": key,
        "name": name,
        "type": node[0],
        "aliases": others[:MOST_ALIASES],
        "description": _description(rows),
        "mentions": sum(times(row) for row in rows),
        "chunks": len({row["chunk_id"] for row in rows}),
        "papers": len({row["paper_id"] for row in rows}),
        "first_year": min(known, default=None),
        "external_ids": sorted({one for other in keys for one in ids.of(other)}),
        "sentence_ids": sentences[:MOST_SENTENCES],
        "degree": degree.get(key, 0),
        "engine": _engine(rows),
    }


def _description(rows: Sequence[EntityMentionRow]) -> str:
    """The sentence that defines the entity; else the most confident description, from the chunk that mentions it
    most."""

    def relevance(row: EntityMentionRow) -> tuple[bool, float, int]:
        definition = _DEFINES.search(row["description"], 0, LONGEST_OPENING)
        names = row["name"].split(" (")[0].casefold() in row["description"][:LONGEST_OPENING].casefold()
        return bool(definition) and names, row["confidence"], len(row["sentence_ids"])

    described = [row for row in rows if row["description"]]
    return max(described, key=relevance)["description"] if described else ""


def times(row: EntityMentionRow | RelationshipMentionRow) -> int:
    """How often the chunk mentions the entity: once where no sentence is named (a title page)."""
    return max(1, len(row["sentence_ids"]))


def _engine(rows: Iterable[EntityMentionRow | RelationshipMentionRow]) -> str:
    return "+".join(sorted({row["engine"] for row in rows}))


def _places(grouped: Mapping[Node, Sequence[EntityMentionRow]]) -> list[EntityChunkRow]:
    counts: Counter[tuple[str, str, str]] = Counter()
    for node, rows in grouped.items():
        for row in rows:
            counts[entity_id(node), row["chunk_id"], row["paper_id"]] += times(row)
    return [
        {"entity_id": entity, "chunk_id": chunk, "paper_id": paper, "mentions": count}
        for (entity, chunk, paper), count in counts.items()
    ]


def _relationships(links: Sequence[RelationshipMentionRow], stands: Mapping[Node, Node]) -> list[RelationshipRow]:
    grouped: dict[tuple[str, str, str, str], list[RelationshipMentionRow]] = defaultdict(list)
    for row in sorted(links, key=lambda row: (row["paper_id"], row["chunk_id"], row["description"])):
        source = stands.get((row["source_type"], row["source_key"]))
        target = stands.get((row["target_type"], row["target_key"]))
        if source and target and source != target:
            grouped[entity_id(source), entity_id(target), row["type"], row["stance"]].append(row)
    return [
        {
            "relationship_id": digest(*key, length=20),
            "source_id": key[0],
            "target_id": key[1],
            "type": key[2],
            "stance": key[3],
            "description": max(rows, key=lambda row: row["weight"])["description"],
            "weight": round(math.fsum(row["weight"] for row in rows), 6),
            "mentions": sum(times(row) for row in rows),
            "sentence_ids": list(dict.fromkeys(s for row in rows for s in row["sentence_ids"]))[:MOST_SENTENCES],
            "chunk_ids": list(dict.fromkeys(row["chunk_id"] for row in rows)),
            "engine": _engine(rows),
        }
        for key, rows in grouped.items()
    ]


def _degrees(relationships: Sequence[RelationshipRow]) -> dict[str, int]:
    """Number of distinct neighbours of each entity."""
    near: dict[str, set[str]] = defaultdict(set)
    for row in relationships:
        near[row["source_id"]].add(row["target_id"])
        near[row["target_id"]].add(row["source_id"])
    return {key: len(neighbours) for key, neighbours in near.items()}
