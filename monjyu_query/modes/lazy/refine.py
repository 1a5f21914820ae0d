"""The first step: from a question to subqueries, their walks and their assessor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from monjyu_query.answers.selection import Question as Terms
from monjyu_query.modes.lazy.budget import Budget
from monjyu_query.modes.lazy.community_tree import CommunityTree
from monjyu_query.modes.lazy.compose import weighted_question
from monjyu_query.modes.lazy.concept_graph import ConceptGraph
from monjyu_query.modes.lazy.deepening import IterativeDeepener, Walk
from monjyu_query.modes.lazy.expansion import READ_CHUNKS, Expansion, expand
from monjyu_query.modes.lazy.judgements import JudgementStore
from monjyu_query.modes.lazy.lazy_state import LazyState, Relevant
from monjyu_query.modes.lazy.relevance import Asked, Assessor, ExtractiveAssessor, RelevanceTester
from monjyu_query.modes.passages.best_passages import ranked_passages
from monjyu_query.ranking.best_rows import best_rows
from monjyu_query.ranking.fusion import Scores
from monjyu_query.ranking.ranker import Ranking, rank
from monjyu_query.ranking.retrieval import QueryTerm
from monjyu_query.ranking.similarity_scale import nearness
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage
from monjyu_query.search.tools import Ask, Tools

if TYPE_CHECKING:
    from monjyu_query.modes.lazy.model_roles import ModelRoles

NEAREST = 8
"""Passages of an answer without tests, as in mode vector."""


@dataclass
class Question:
    """One question under way. `terms` are its own, `expanded` those of the expanded query; `nearest` the passages of
    mode vector; `similarity` is that of the closest chunk."""

    ask: Ask
    tree: CommunityTree
    state: LazyState
    ranking: Ranking
    asked: list[QueryTerm]
    terms: Terms
    expanded: Terms
    nearest: list[Passage]
    similarity: float
    tester: RelevanceTester
    walkers: list[IterativeDeepener]
    roles: ModelRoles | None = None

    def sufficient(self, state: LazyState) -> bool:
        """What the model says, where it is asked."""
        if self.ask.settings.lazy.sufficiency != "model" or self.roles is None or not state.relevant:
            return False
        found = sorted(state.relevant, key=lambda r: (-r.score, r.candidate.row))
        sentences = [s.text for r in found for s, _ in r.sentences]
        papers = sorted({r.candidate.passage.paper_id for r in found})
        return self.roles.sufficient(state.expanded, sentences, papers)

    def relevance(self, found: Relevant) -> float:
        """The score of a relevant chunk: the mean of its best sentence's score and its similarity on the scale of all
        chunks' (0 to 10 both)."""
        near = nearness(float(self.ranking.scores[found.candidate.row]), self.ask.index.scale)
        return round((found.score + 10 * near) / 2, 4)

    def keep_best(self) -> None:
        """Let go of the relevant chunks below the lowest score that was asked for."""
        lowest = self.ask.settings.min_score
        if lowest is not None:
            self.state.relevant = [found for found in self.state.relevant if self.relevance(found) >= lowest]

    def hits(self) -> list[Passage]:
        """The relevant chunks, best first."""
        found = [(self.relevance(r), r.candidate.row, r.candidate.passage) for r in self.state.relevant]
        found.sort(key=lambda item: (-item[0], item[1]))
        return [replace(passage, score=score) for score, _, passage in found]


def refine(tools: Tools, store: JudgementStore, tree: CommunityTree, ask: Ask) -> Question:
    """Rank by the question, expand it, and make ready one walk for each subquery."""
    index, request, lazy = ask.index, ask.request, ask.settings.lazy
    state = LazyState(Budget.of(request.budget), emit=ask.emit, cancel=ask.cancel)
    query = request.query
    ranking = rank(index, tools.embedder, query, "vector", request.filters, ask.settings)
    roles = _model_roles(tools, ask)
    found = _expanded(tools, ask, query, ranking, roles, state)
    state.subqueries, state.expanded, state.concepts = found.subqueries, found.expanded, found.concepts
    for n, subquery in enumerate(state.subqueries):
        around = {} if n else {"concepts": _subgraph(ConceptGraph.of(index.snapshot.cursor()), found.concepts)}
        state.emit({"event": "subquery", "n": n, "text": subquery, **around})
    asked = index.keywords.query_terms(query).result()
    terms = Terms.of(asked, len(index.corpus))
    similar, ordered = _rankings(tools, ask, state.subqueries, query, ranking)
    others = [(subquery, near) for subquery, near in zip(state.subqueries, similar, strict=True) if subquery != query]
    asked_too = [Asked(weighted_question(index, subquery, terms), near) for subquery, near in others]
    walk = Walk(0, lazy.chunks_per_visit, lazy.patience, lazy.max_depth)
    first = replace(walk, opening=lazy.opening)
    rows = best_rows(ranking.scores, index.corpus.work, NEAREST, ask.settings.per_paper, None, index.corpus.passage)
    assessor = _assessor(tools, index, roles, state, Asked(terms, ranking.scores), asked_too)
    return Question(
        ask=ask,
        tree=tree,
        state=state,
        ranking=ranking,
        asked=asked,
        terms=terms,
        expanded=weighted_question(index, state.expanded, terms),
        nearest=ranked_passages(index, ranking, rows),
        similarity=float(ranking.scores[rows].max()) if rows else 0.0,
        tester=RelevanceTester(index, assessor, similar, store),
        walkers=[IterativeDeepener(tree, scores, walk if n else first) for n, scores in enumerate(ordered)],
        roles=roles,
    )


def _model_roles(tools: Tools, ask: Ask) -> ModelRoles | None:
    """None where every role is extractive: the libraries of models are then never loaded."""
    if not tools.uses_model("expand", "assess", "extract"):
        return None
    from monjyu_query.modes.lazy.model_roles import ModelRoles

    return ModelRoles(tools.settings, tools.llm_answers().session(ask.account), ask.request.query, ask.cancel)


def _expanded(
    tools: Tools, ask: Ask, query: str, ranking: Ranking, roles: ModelRoles | None, state: LazyState
) -> Expansion:
    """Expand with the engine of the role `expand`; if its model fails, expand without it and warn."""
    if not state.budget.total:
        return Expansion([query], query)
    index, most = ask.index, ask.settings.lazy.max_subqueries
    graph = ConceptGraph.of(index.snapshot.cursor())
    best = best_rows(ranking.scores, index.corpus.work, READ_CHUNKS, 0, None, index.corpus.passage)
    own = expand(index, graph, query, [index.corpus.chunk_ids[row] for row in best], most)
    if roles is None or not tools.uses_model("expand"):
        return own
    from monjyu_core.models.call_errors import ModelCallError

    try:
        made = roles.expand(ask.request.query, ask.request.history, _named(graph, own), most)
    except ModelCallError as error:
        state.warnings.append(f"The question was expanded without a model: {error}")
        return own
    return replace(made, concepts=own.concepts)


def _subgraph(graph: ConceptGraph, phrases: list[str]) -> dict[str, Any]:
    """The question's concepts with their neighbours, and the edges among all of these."""
    near = [concept.phrase for phrase in phrases for concept in graph.neighbours(phrase, 5)]
    nodes = list(dict.fromkeys([*phrases, *near]))
    return {"nodes": nodes, "edges": [list(edge) for edge in graph.subgraph(nodes)]}


def _named(graph: ConceptGraph, expansion: Expansion) -> list[str]:
    near = [concept.surface for phrase in expansion.concepts for concept in graph.neighbours(phrase, 5)]
    return list(dict.fromkeys([*expansion.concepts, *near]))


def _rankings(
    tools: Tools, ask: Ask, subqueries: list[str], query: str, ranking: Ranking
) -> tuple[list[Scores], list[Scores]]:
    """For each subquery the similarity of all chunks, and the scores that order them."""
    similar, ordered = [], []
    mode = ask.settings.lazy.rank
    for subquery in subqueries:
        made = ranking
        if subquery != query or mode != "vector":
            made = rank(ask.index, tools.embedder, subquery, mode, ask.request.filters, ask.settings)
        similar.append(made.similarity if made.similarity is not None else made.scores)
        ordered.append(_first_twins(made.scores, ask.index))
    return similar, ordered


def _first_twins(scores: Scores, index: OpenIndex) -> Scores:
    """Equal texts in several files of one paper are tested once."""
    passage = index.corpus.passage
    if passage is None:
        return scores
    later = (passage != np.arange(len(passage))) & (scores[passage] > -np.inf)
    return np.where(later, np.float32(-np.inf), scores)


def _assessor(
    tools: Tools, index: OpenIndex, roles: ModelRoles | None, state: LazyState, own: Asked, others: list[Asked]
) -> Assessor:
    if roles is not None and tools.uses_model("assess"):
        from monjyu_query.modes.lazy.model_roles import ModelAssessor

        return ModelAssessor(roles, state.subqueries)
    return ExtractiveAssessor(index, own, others)
