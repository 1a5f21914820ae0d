"""The passages of a local question: those like it, and those that name its entities and phrases."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np

from monjyu_query.knowledge.concept_graph import ConceptGraph, has_tables
from monjyu_query.modes.lazy.expansion import matching_concepts
from monjyu_query.modes.local_search.entities import Entity, chunks_of
from monjyu_query.ranking.fusion import Scores
from monjyu_query.ranking.open_index import OpenIndex

NEIGHBOURS = 5
"""Of each phrase in the noun graph."""
_NEIGHBOUR_WEIGHT = 0.3
_NAMED_WEIGHT = 0.5
"""Weight of the rank among passages that name entities and phrases; the rank by likeness has 1."""
_K = 20
_MENTIONS = "SELECT chunk_id, phrase FROM phrase_mentions WHERE phrase IN (SELECT unnest($phrases::VARCHAR[]))"


def passage_scores(index: OpenIndex, query: str, similar: Scores, entities: Sequence[Entity]) -> Scores:
    """`1 / (20 + rank)` by likeness plus half of the same by names; `-inf` for what no filter lets pass.

    `similar` (n,): how like the question each passage is.
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
    """The concepts of the question and their neighbours, with what each counts."""
    graph = ConceptGraph.of(index.snapshot.cursor())
    found: dict[str, float] = {}
    concepts = matching_concepts(index, graph, query)
    neighbours = graph.neighbours([concept.phrase for concept in concepts], NEIGHBOURS)
    for concept in concepts:
        for near in neighbours[concept.phrase]:
            found.setdefault(near.phrase, _NEIGHBOUR_WEIGHT)
        found[concept.phrase] = 1.0
    return found


def _add_ranks(
    scores: Scores, values: Scores, among: np.ndarray[tuple[int], np.dtype[np.bool_]], weight: float
) -> None:
    rows = np.flatnonzero(among)
    order = rows[np.argsort(-values[rows], kind="stable")]
    scores[order] += (weight / (_K + np.arange(1, len(order) + 1))).astype(np.float32)
