"""Lazy search from a question to a result: refine, match, map, reduce."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from monjyu_core.folders import DataFolder
from monjyu_core.models.embedding_calls import charged_to
from monjyu_core.models.ledger import Scope
from monjyu_core.settings import SearchSettings, Settings
from monjyu_query.answering import Answer, abstained
from monjyu_query.embedding import QueryEmbedder
from monjyu_query.lazy.claims import Claim
from monjyu_query.lazy.graph import read_tree
from monjyu_query.lazy.judgements import JudgementStore
from monjyu_query.lazy.reduce import answer_claims, answer_without_tests, make_claims
from monjyu_query.lazy.refine import Question, refine
from monjyu_query.lazy.searching import CommunitySearcher
from monjyu_query.lazy.state import Emit
from monjyu_query.lazy.tree import CommunityTree
from monjyu_query.open_index import OpenIndex
from monjyu_query.passages import hit_of
from monjyu_query.request import SearchRequest
from monjyu_query.result import Routing, SearchResult, Usage

if TYPE_CHECKING:
    from monjyu_query.llm_answer.engine import LlmAnswers

MODEL_ROLES = ("expand", "assess", "extract", "answer")


class LazySearch:
    """Lazy searches of one collection. May be shared by threads."""

    def __init__(
        self, settings: Settings, data: DataFolder, embedder: QueryEmbedder, models: Callable[[], LlmAnswers]
    ) -> None:
        self._settings = settings
        self._data = data
        self._embedder = embedder
        self._models = models
        self._store = JudgementStore(data.state)
        self._store.keep_newest()
        self._lock = threading.Lock()
        self._tree: tuple[str, CommunityTree] | None = None

    def search(
        self,
        index: OpenIndex,
        request: SearchRequest,
        settings: SearchSettings,
        routing: Routing,
        scope: Scope,
        warnings: list[str],
        emit: Emit | None = None,
        cancel: threading.Event | None = None,
    ) -> SearchResult:
        """The result of one question; `settings` are those of the request. `cancel` gives what there is, as partial."""
        with charged_to(self._settings, self._data, scope):
            tree = self.tree(index)
            asked = refine(self, index, request, settings, scope, tree, emit, cancel)
            state = asked.state
            if state.budget.total:
                self._match(asked, settings)
        claims = make_claims(asked) if state.relevant else []
        answer, engine = self._answer(asked, claims)
        return self._result(asked, answer, engine, routing, scope, warnings)

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def embedder(self) -> QueryEmbedder:
        return self._embedder

    @property
    def store(self) -> JudgementStore:
        return self._store

    def models(self) -> LlmAnswers | None:
        """None where every role is extractive: the libraries of models are then never loaded."""
        engines = (getattr(self._settings.roles, role).engine for role in MODEL_ROLES)
        return self._models() if "llm" in engines else None

    def tree(self, index: OpenIndex) -> CommunityTree:
        """The communities of a snapshot, read once."""
        with self._lock:
            if self._tree is None or self._tree[0] != index.snapshot.id:
                self._tree = (index.snapshot.id, read_tree(index.snapshot.cursor(), index.corpus))
            return self._tree[1]

    def _match(self, asked: Question, settings: SearchSettings) -> None:
        lazy, state = settings.lazy, asked.state
        counts = lazy.sufficiency != "off"
        searcher = CommunitySearcher(asked.walkers, asked.tester.test, asked.sufficient, lazy.relevant_from, counts)
        searcher.run(state)
        if asked.tree.empty:
            state.warnings.append("Level 1 is not built: passages were tested in the order of their similarity.")
        if state.errors:
            wrong = f"{len(state.errors)} of {state.budget.used} tests gave no judgement"
            state.warnings.append(f"{wrong}: {state.errors[0]}")
        if state.ended == "cancelled":
            state.warnings.append("The search was cancelled; this is what it had found.")

    def _answer(self, asked: Question, claims: list[Claim]) -> tuple[Answer, str]:
        state, request = asked.state, asked.request
        if not request.answer:
            return Answer("", "complete"), "none"
        if claims:
            return answer_claims(asked, claims, self.models())
        if not state.budget.total:
            state.warnings.append("A budget of 0 tests nothing: this is the answer of mode vector.")
            return answer_without_tests(asked), "extractive"
        if state.failed:
            state.warnings.append("The assessor failed: this is the answer of mode vector.")
            return answer_without_tests(asked), "extractive"
        return abstained(f"none of the {state.budget.used} passages tested has a relevant sentence"), "extractive"

    def _result(
        self, asked: Question, answer: Answer, engine: str, routing: Routing, scope: Scope, warnings: list[str]
    ) -> SearchResult:
        state, request, index = asked.state, asked.request, asked.index
        partial = (state.failed or state.ended == "cancelled") and answer.status == "complete"
        hits = asked.hits() if state.relevant else asked.nearest
        return SearchResult(
            query=request.query,
            collection=request.collection,
            snapshot_id=index.snapshot.id,
            level=index.snapshot.manifest.level,
            mode="lazy",
            routing=routing,
            status="partial" if partial or state.cancelled else answer.status,
            warnings=[*warnings, *asked.ranking.warnings, *state.warnings, *answer.warnings],
            trace_id=scope.run_id or "",
            answer=answer.text,
            answer_engine=engine,
            verified=answer.verified,
            citations=answer.citations,
            hits=[hit_of(passage) for passage in hits[: asked.top_k]],
            claims=state.claims,
            subqueries=state.subqueries,
            communities_visited=list(state.communities),
            usage=_usage(asked),
        )


def _usage(asked: Question) -> Usage:
    """Judgements and their budget; what model calls the session has paid for, cached answers of models aside."""
    state = asked.state
    usage = Usage(relevance_tests=state.budget.used, budget_total=state.budget.total, cache_hits=state.cache_hits)
    if asked.session is not None:
        used = asked.session.used
        usage.llm_calls, usage.cost_usd = used.llm_calls, used.cost_usd
        usage.prompt_tokens, usage.completion_tokens = used.prompt_tokens, used.completion_tokens
    return usage
