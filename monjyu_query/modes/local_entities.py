"""From a question to entities: by the words of their names, and by the passages most similar to the question."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np

from monjyu_query.answers.selection import Question
from monjyu_query.knowledge.concept_graph import ConceptGraph, has_tables
from monjyu_query.modes.lazy.expansion import matching_concepts
from monjyu_query.ranking.fusion import Mask, Scores
from monjyu_query.ranking.open_index import OpenIndex

MOST_CANDIDATES = 2000
READ_CHUNKS = 20
"""The number of passages most similar to the question whose entities are candidates."""
_NAME_WEIGHT = 2.0
"""The weight of a name that the question contains, relative to similarity of meaning."""

_COLUMNS = """entity_id, name, type, coalesce(aliases, []), coalesce(description, ''), chunks,
    coalesce(sentence_ids, []), engine"""
_NAMED = f"""SELECT {_COLUMNS} FROM entities
WHERE len(list_filter($words::VARCHAR[], lambda word: contains(lower(name), word)
    OR contains(lower(array_to_string(aliases, ' ')), word))) > 0
ORDER BY chunks DESC, entity_id LIMIT $most"""
_IN_CHUNKS = f"""SELECT {_COLUMNS}, list(chunk_id ORDER BY chunk_id) FROM entities JOIN entity_chunks USING (entity_id)
WHERE chunk_id IN (SELECT unnest($found::VARCHAR[])) GROUP BY ALL"""
_CHUNKS = """SELECT entity_id, chunk_id, mentions FROM entity_chunks
WHERE entity_id IN (SELECT unnest($entities::VARCHAR[])) ORDER BY entity_id, mentions DESC, chunk_id"""


@dataclass(frozen=True)
class Entity:
    id: str
    name: str
    type: str
    aliases: tuple[str, ...]
    description: str
    chunks: int
    sentence_ids: tuple[str, ...]
    engine: str
    score: float = 0.0


def find_entities(index: OpenIndex, question: Question, near: Mapping[str, float], limit: int) -> list[Entity]:
    """Up to `limit` entities, those with the highest scores first. `near`: the passages most similar to the question,
    with their nearness (0 to 1).

    Score: twice the weighted share of the question's terms that a name (or alias) has, times the share of the name's
    terms that the question has; plus the entity's rarity (`1 - ln df / ln n`) times the mean over all passages of
    `near`, where a passage that does not name the entity counts 0.
    """
    cursor = index.snapshot.cursor()
    words = [word for word in question.weights if len(word) > 1]
    named = cursor.execute(_NAMED, {"words": words, "most": MOST_CANDIDATES}).fetchall()
    around = cursor.execute(_IN_CHUNKS, {"found": sorted(near)}).fetchall()
    known = {row[0]: _entity(row) for row in [*named, *around]}
    places = {row[0]: row[8] for row in around}
    named_by = _by_name(index, question, list(known.values()))
    count = max(2, len(index.corpus))
    scored = []
    for entity in known.values():
        chunks = [near[chunk] for chunk in places.get(entity.id, ())]
        rare = 1 - math.log(max(1, min(entity.chunks, count))) / math.log(count)
        similar = rare * sum(chunks) / len(near) if chunks else 0.0
        scored.append((_NAME_WEIGHT * named_by[entity.id] + similar, entity))
    scored.sort(key=lambda pair: (-pair[0], pair[1].id))
    return [replace(entity, score=round(score, 4)) for score, entity in scored[:limit] if score > 0]


def _by_name(index: OpenIndex, question: Question, entities: Sequence[Entity]) -> dict[str, float]:
    names = [(entity.id, name) for entity in entities for name in (entity.name, *entity.aliases)]
    terms = index.keywords.terms([name for _, name in names])
    best = {entity.id: 0.0 for entity in entities}
    for (name, _), some in zip(names, terms, strict=True):
        own = set(some)
        if own:
            inside = len(own & question.weights.keys()) / len(own)
            best[name] = max(best[name], inside * question.share(own))
    return best


def chunks_of(cursor: duckdb.DuckDBPyConnection, entities: Sequence[Entity]) -> dict[str, list[str]]:
    """The chunks that name each entity, most mentions first."""
    found: dict[str, list[str]] = {entity.id: [] for entity in entities}
    for entity, chunk, _ in cursor.execute(_CHUNKS, {"entities": sorted(found)}).fetchall():
        found[entity].append(chunk)
    return found


def _entity(row: Sequence[Any]) -> Entity:
    name, label, kind, aliases, description, chunks, sentences, engine = row[:8]
    return Entity(name, label, kind, tuple(aliases), description, int(chunks or 1), tuple(sentences), engine or "")


# The passages of a local question: those similar to it, and those that name its entities and phrases.
NEIGHBOURS = 5
"""The number of neighbours of each phrase in the noun graph."""
_NEIGHBOUR_WEIGHT = 0.3
_NAMED_WEIGHT = 0.5
"""The weight of the rank among passages that name entities and phrases; the rank by similarity has weight 1."""
_K = 20
_MENTIONS = "SELECT chunk_id, phrase FROM phrase_mentions WHERE phrase IN (SELECT unnest($phrases::VARCHAR[]))"


def passage_scores(index: OpenIndex, query: str, similar: Scores, entities: Sequence[Entity]) -> Scores:
    """`1 / (20 + rank)` by similarity plus half of the same by names; `-inf` for rows that do not pass the filters.

    `similar` (n,): the similarity of each passage to the question.
    """
    cursor = index.snapshot.cursor()
    named = np.zeros(len(index.corpus), np.float32)
    found = _named(cursor, index, query, entities)
    place = index.corpus.chunk_ids.rows_of(chunk for chunk, _ in found)
    for chunk, weight in found:
        if chunk in place:
            named[place[chunk]] += weight
    passing = similar > -np.inf
    scores = np.where(passing, 0.0, -np.inf).astype(np.float32)
    _add_ranks(scores, similar, passing, 1.0)
    _add_ranks(scores, named, passing & (named > 0), _NAMED_WEIGHT)
    return scores


def _named(
    cursor: duckdb.DuckDBPyConnection, index: OpenIndex, query: str, entities: Sequence[Entity]
) -> list[tuple[str, float]]:
    """(chunk, weight) for each entity or phrase that a chunk names."""
    scores = {entity.id: entity.score for entity in entities}
    found = [(chunk, scores[name]) for name, chunks in chunks_of(cursor, entities).items() for chunk in chunks]
    phrases = _phrases(index, query)
    if phrases and has_tables(cursor, ("phrase_mentions",)):
        rows = cursor.execute(_MENTIONS, {"phrases": sorted(phrases)}).fetchall()
        found += [(chunk, phrases[phrase]) for chunk, phrase in rows]
    return found


def _phrases(index: OpenIndex, query: str) -> dict[str, float]:
    """The concepts of the question and their neighbours, with their weights."""
    graph = ConceptGraph.of(index.snapshot.cursor())
    found: dict[str, float] = {}
    concepts = matching_concepts(index, graph, query)
    neighbours = graph.neighbours([concept.phrase for concept in concepts], NEIGHBOURS)
    for concept in concepts:
        for near in neighbours[concept.phrase]:
            found.setdefault(near.phrase, _NEIGHBOUR_WEIGHT)
        found[concept.phrase] = 1.0
    return found


def _add_ranks(scores: Scores, values: Scores, among: Mask, weight: float) -> None:
    rows = np.flatnonzero(among)
    order = rows[np.argsort(-values[rows], kind="stable")]
    scores[order] += (weight / (_K + np.arange(1, len(order) + 1))).astype(np.float32)
