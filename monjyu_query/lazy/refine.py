"""The first step: from a question to subqueries, their walks and their assessor."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from monjyu_core.models.ledger import Scope
from monjyu_core.settings import SearchSettings, Settings
from monjyu_query.answer import Question as Terms
from monjyu_query.embedding import QueryEmbedder
from monjyu_query.fusion import Scores
from monjyu_query.lazy.budget import Budget
from monjyu_query.lazy.compose import weighted_question
from monjyu_query.lazy.deepening import IterativeDeepener, Walk
from monjyu_query.lazy.expansion import READ_CHUNKS, Expansion, expand, in_context
from monjyu_query.lazy.graph import ConceptGraph
from monjyu_query.lazy.judgements import JudgementStore
from monjyu_query.lazy.relevance import Assessor, ExtractiveAssessor, RelevanceTester
from monjyu_query.lazy.state import Emit, LazyState
from monjyu_query.lazy.tree import CommunityTree
from monjyu_query.open_index import OpenIndex
from monjyu_query.passages import Passage, load_passages
from monjyu_query.ranker import Ranking, rank
from monjyu_query.ranking import best_rows
from monjyu_query.request import SearchRequest
from monjyu_query.retrieval import QueryTerm

if TYPE_CHECKING:
    from monjyu_core.models.gateway import Session
    from monjyu_query.lazy.model_roles import ModelRoles
    from monjyu_query.llm_answer.engine import LlmAnswers

NEAREST = 8
"""Passages of an answer without tests, as in mode vector."""


class Tools(Protocol):
    """What the searches of a collection share."""

    @property
    def settings(self) -> Settings: ...

    @property
    def embedder(self) -> QueryEmbedder: ...

    @property
    def store(self) -> JudgementStore: ...

    def models(self) -> LlmAnswers | None: ...


@dataclass
class Question:
    """One question under way. `terms` are its own, `expanded` those of the expanded query; `nearest` the passages of
    mode vector; `similarity` is that of the closest chunk."""

    index: OpenIndex
    request: SearchRequest
    settings: Settings
    top_k: int
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
    session: Session | None = None
    roles: ModelRoles | None = None

    def sufficient(self, state: LazyState) -> bool:
        """What the model says, where it is asked."""
        if self.settings.search.lazy.sufficiency != "model" or self.roles is None or not state.relevant:
            return False
        found = sorted(state.relevant, key=lambda r: (-r.score, r.candidate.row))
        sentences = [s.text for r in found for s, _ in r.sentences]
        papers = sorted({r.candidate.passage.paper_id for r in found})
        return self.roles.sufficient(state.expanded, sentences, papers)

    def hits(self) -> list[Passage]:
        """The relevant chunks: by the mean of their best sentence's score and their similarity on the scale of all
        chunks' (0 to 10 both)."""
        low, high = self.index.scale
        similar = self.ranking.scores

        def worth(row: int, score: float) -> float:
            near = min(1.0, max(0.0, (float(similar[row]) - low) / (high - low)))
            return round((score + 10 * near) / 2, 4)

        found = [(worth(r.candidate.row, r.score), r.candidate.row, r.candidate.passage) for r in self.state.relevant]
        found.sort(key=lambda item: (-item[0], item[1]))
        return [replace(passage, score=score) for score, _, passage in found]


def refine(
    tools: Tools,
    index: OpenIndex,
    request: SearchRequest,
    settings: SearchSettings,
    scope: Scope,
    tree: CommunityTree,
    emit: Emit | None,
    cancel: threading.Event | None,
) -> Question:
    """Rank by the question, expand it, and make ready one walk for each subquery."""
    state = LazyState(Budget.of(request.budget))
    state.emit, state.cancel = emit or state.emit, cancel or state.cancel
    query = in_context(request.query, request.history)
    ranking = rank(index, tools.embedder, query, "vector", request.filters, settings)
    models = tools.models()
    session = models.session(scope) if models else None
    roles = None
    if session is not None:
        from monjyu_query.lazy.model_roles import ModelRoles

        roles = ModelRoles(tools.settings, session, request.query, state.cancel)
    rows = best_rows(ranking.scores, index.corpus.work, NEAREST, settings.per_paper, None, index.corpus.passage)
    found = _expanded(tools, index, request, query, ranking, roles, state, settings)
    state.subqueries, state.expanded, state.concepts = found.subqueries, found.expanded, found.concepts
    for n, subquery in enumerate(state.subqueries):
        state.emit({"event": "subquery", "n": n, "text": subquery})
    asked = index.keywords.query_terms(query).result()
    terms = Terms.of(asked, len(index.corpus))
    similar, ordered = _rankings(tools, index, request, settings, state.subqueries, query, ranking)
    questions = [weighted_question(index, subquery, terms) for subquery in state.subqueries]
    assessor = _assessor(tools, index, roles, state, questions, similar)
    lazy = settings.lazy
    walk = Walk(lazy.chunks_per_visit, lazy.patience, lazy.max_depth)
    chunks = [index.corpus.chunk_ids[row] for row in rows]
    return Question(
        index=index,
        request=request,
        settings=tools.settings,
        top_k=settings.top_k,
        tree=tree,
        state=state,
        ranking=ranking,
        asked=asked,
        terms=terms,
        expanded=weighted_question(index, state.expanded, terms),
        nearest=load_passages(index.snapshot.cursor(), chunks, [round(float(ranking.scores[row]), 6) for row in rows]),
        similarity=float(ranking.scores[rows].max()) if rows else 0.0,
        tester=RelevanceTester(index, assessor, similar, tools.store),
        walkers=[IterativeDeepener(tree, scores, walk) for scores in ordered],
        session=session,
        roles=roles,
    )


def _expanded(
    tools: Tools,
    index: OpenIndex,
    request: SearchRequest,
    query: str,
    ranking: Ranking,
    roles: ModelRoles | None,
    state: LazyState,
    settings: SearchSettings,
) -> Expansion:
    """By the engine of the role `expand`; where its model fails without one, and a warning."""
    if not state.budget.total:
        return Expansion([query], query)
    graph = ConceptGraph.of(index.snapshot.cursor())
    best = best_rows(ranking.scores, index.corpus.work, READ_CHUNKS, 0, None, index.corpus.passage)
    chunks = [index.corpus.chunk_ids[row] for row in best]
    own = expand(index, graph, query, chunks, settings.lazy.max_subqueries)
    if tools.settings.roles.expand.engine != "llm" or roles is None:
        return own
    from monjyu_core.models.errors import ModelCallError

    try:
        made = roles.expand(request.query, request.history, _named(graph, own), settings.lazy.max_subqueries)
    except ModelCallError as error:
        state.warnings.append(f"The question was expanded without a model: {error}")
        return own
    return replace(made, concepts=own.concepts)


def _named(graph: ConceptGraph, expansion: Expansion) -> list[str]:
    near = [concept.surface for phrase in expansion.concepts for concept in graph.neighbours(phrase, 5)]
    return list(dict.fromkeys([*expansion.concepts, *near]))


def _rankings(
    tools: Tools,
    index: OpenIndex,
    request: SearchRequest,
    settings: SearchSettings,
    subqueries: list[str],
    query: str,
    ranking: Ranking,
) -> tuple[list[Scores], list[Scores]]:
    """For each subquery the similarity of all chunks, and the scores that order them."""
    similar, ordered = [], []
    for subquery in subqueries:
        made = ranking
        if subquery != query or settings.lazy.rank != "vector":
            made = rank(index, tools.embedder, subquery, settings.lazy.rank, request.filters, settings)
        similar.append(made.similarity if made.similarity is not None else made.scores)
        ordered.append(_first_twins(made.scores, index))
    return similar, ordered


def _first_twins(scores: Scores, index: OpenIndex) -> Scores:
    """Equal texts in several files of one paper are tested once."""
    passage = index.corpus.passage
    if passage is None:
        return scores
    later = (passage != np.arange(len(passage))) & (scores[passage] > -np.inf)
    return np.where(later, np.float32(-np.inf), scores)


def _assessor(
    tools: Tools,
    index: OpenIndex,
    roles: ModelRoles | None,
    state: LazyState,
    questions: list[Terms],
    similar: list[Scores],
) -> Assessor:
    if tools.settings.roles.assess.engine == "llm" and roles is not None:
        from monjyu_query.lazy.model_roles import ModelAssessor

        return ModelAssessor(roles, state.subqueries)
    return ExtractiveAssessor(index, questions, similar)
