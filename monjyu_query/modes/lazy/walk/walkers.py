"""The walks of a search: one a subquery through the communities, and for the question two more past them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from monjyu_query.modes.lazy.assessors import Asked
from monjyu_query.modes.lazy.concept_graph import Concept, ConceptGraph
from monjyu_query.modes.lazy.walk.community_search import Walker
from monjyu_query.modes.lazy.walk.community_tree import CommunityTree
from monjyu_query.modes.lazy.walk.deepening import IterativeDeepener, Walk
from monjyu_query.ranking.fusion import Scores, z_scores
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.tools import Ask

Neighbours = dict[str, list[Concept]]
"""Of each concept those beside it in the noun graph."""


def walkers_of(
    ask: Ask, tree: CommunityTree, graph: ConceptGraph, asking: list[Asked], near: Neighbours, *, broad: bool
) -> list[Walker]:
    """One a subquery through the communities; where there are some, for the question one past them as well, so that
    what ranks best is never lost, and one to the chunks of its concepts' neighbours."""
    lazy = ask.settings.lazy
    walk = Walk(0, lazy.chunks_per_visit, lazy.patience, lazy.max_depth)
    first = replace(walk, opening=0 if broad and not tree.empty else lazy.opening)
    walks = [(n, IterativeDeepener(tree, one.ordered, walk if n else first)) for n, one in enumerate(asking)]
    if not tree.empty and not broad:
        nowhere = CommunityTree((), (), np.zeros(0, np.intp))
        walks.insert(1, (0, IterativeDeepener(nowhere, asking[0].ordered, walk)))
        beside = _beside(graph, ask.index, near, asking[0].ordered)
        if beside is not None:
            walks.append((0, IterativeDeepener(nowhere, beside, walk)))
    return [Walker(n, walked) for n, walked in walks]


def _beside(graph: ConceptGraph, index: OpenIndex, neighbours: Neighbours, ordered: Scores) -> Scores | None:
    """Scores (n,) of the chunks that have a neighbour of the question's concepts: their deviations, and more where
    the neighbours weigh more (0 to 1)."""
    weights: dict[str, float] = {}
    for near in neighbours.values():
        top = max((concept.weight for concept in near), default=0.0)
        for concept in near if top else []:
            weights[concept.phrase] = max(weights.get(concept.phrase, 0.0), concept.weight / top)
    mentioned = graph.mentioned(weights, index.corpus)
    if not mentioned:
        return None
    rows = np.fromiter(mentioned, dtype=np.intp)
    weight = np.fromiter(mentioned.values(), dtype=np.float32)
    scores = np.full(len(ordered), -np.inf, dtype=np.float32)
    scores[rows] = z_scores(ordered, ordered > -np.inf)[rows] + weight / weight.max()
    return scores
