"""A ranking with related terms of the noun graph (`expand`), for the modes that test no passages."""

from __future__ import annotations

import numpy as np

from monjyu_query.modes.lazy.concept_graph import ConceptGraph
from monjyu_query.modes.lazy.expansion import READ_CHUNKS, related_terms
from monjyu_query.ranking.best_rows import best_rows
from monjyu_query.ranking.fusion import Scores
from monjyu_query.ranking.ranker import Ranking, rank
from monjyu_query.search.tools import Ask, Tools

WEIGHT = 1 / 3
"""Of the expanded question beside the question itself: related terms help, but are not what was asked."""


def expanded_ranking(tools: Tools, ask: Ask, ranking: Ranking) -> tuple[Ranking, str]:
    """The ranking mixed with that of the question with `expand` related terms, on the scale of the mode, and the
    expanded question; the ranking as it is, and no text, where nothing is related."""
    index, request = ask.index, ask.request
    best = best_rows(ranking.scores, index.corpus.work, READ_CHUNKS, 0, None, index.corpus.passage)
    chunks = [index.corpus.chunk_ids[row] for row in best]
    graph = ConceptGraph.of(index.snapshot.cursor())
    terms = related_terms(index, graph, request.query, chunks, request.expand or 0)
    if not terms:
        return ranking, ""
    text = f"{request.query} ({', '.join(terms)})"
    more = rank(index, tools.embedder, text, ask.mode, request.filters, ask.settings)
    return Ranking(mixed(ranking.scores, more.scores), ranking.similarity, ranking.warnings), text


def mixed(own: Scores, expanded: Scores) -> Scores:
    """`2/3 own + 1/3 expanded`; a chunk that is a candidate of one only has 0 in the other (no word matches)."""
    neither = np.isneginf(own) & np.isneginf(expanded)
    some = (1 - WEIGHT) * np.where(np.isneginf(own), 0, own) + WEIGHT * np.where(np.isneginf(expanded), 0, expanded)
    return np.where(neither, -np.inf, some).astype(np.float32)
