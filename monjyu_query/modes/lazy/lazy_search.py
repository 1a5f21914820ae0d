"""Lazy search from a question to a result: refine, match, map, reduce."""

from __future__ import annotations

import threading

from monjyu_query.answers.answering import Answer, abstained
from monjyu_query.modes.lazy.community_search import CommunitySearcher
from monjyu_query.modes.lazy.community_tree import CommunityTree
from monjyu_query.modes.lazy.concept_graph import read_tree
from monjyu_query.modes.lazy.judgements import JudgementStore
from monjyu_query.modes.lazy.lazy_claims import Claim
from monjyu_query.modes.lazy.reduce import answer_claims, answer_without_tests, make_claims
from monjyu_query.modes.lazy.refine import Question, refine
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import hit_of
from monjyu_query.search.result import SearchResult, Usage
from monjyu_query.search.tools import Ask, Tools


class LazySearch:
    """Lazy searches of one collection. May be shared by threads."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.store = JudgementStore(tools.accounting.data.state)
        self.store.keep_newest()
        self._lock = threading.Lock()
        self._tree: tuple[str, CommunityTree] | None = None

    def search(self, ask: Ask) -> SearchResult:
        """The result of one question."""
        question = refine(self.tools, self.store, self.tree(ask.index), ask)
        state = question.state
        if state.budget.total:
            self._match(question)
            question.keep_best()
        claims = make_claims(question, self.tools) if state.relevant else []
        answer, engine = self._answer(question, claims)
        return _result(question, answer, engine)

    def tree(self, index: OpenIndex) -> CommunityTree:
        """The communities of a snapshot, read once."""
        with self._lock:
            if self._tree is None or self._tree[0] != index.snapshot.id:
                self._tree = (index.snapshot.id, read_tree(index.snapshot.cursor(), index.corpus))
            return self._tree[1]

    def _match(self, asked: Question) -> None:
        lazy, state = asked.ask.settings.lazy, asked.state
        counts = lazy.sufficiency != "off"
        marks = (lazy.relevant_from, lazy.enough_from)
        searcher = CommunitySearcher(asked.walkers, asked.tester.test, asked.sufficient, *marks, counts)
        searcher.run(state)
        if asked.tree.empty:
            state.warnings.append("Level 1 is not built: passages were tested in the order of their similarity.")
        if state.errors:
            wrong = f"{len(state.errors)} of {state.budget.used} tests gave no judgement"
            state.warnings.append(f"{wrong}: {state.errors[0]}")
        if state.ended == "cancelled":
            state.warnings.append("The search was cancelled; this is what it had found.")

    def _answer(self, asked: Question, claims: list[Claim]) -> tuple[Answer, str]:
        state = asked.state
        if not asked.ask.request.answer:
            return Answer([], "complete"), "none"
        if claims:
            return answer_claims(asked, claims, self.tools)
        if not state.budget.total:
            state.warnings.append("A budget of 0 tests nothing: this is the answer of mode vector.")
            return answer_without_tests(asked, self.tools), "extractive"
        lowest = asked.ask.settings.min_score
        if state.failed and lowest is None:
            state.warnings.append("The assessor failed: this is the answer of mode vector.")
            return answer_without_tests(asked, self.tools), "extractive"
        found = "has a relevant sentence" if lowest is None else f"reaches the score {lowest:g}"
        return abstained(f"none of the {state.budget.used} passages tested {found}"), "extractive"


def _result(asked: Question, answer: Answer, engine: str) -> SearchResult:
    state, ask = asked.state, asked.ask
    partial = (state.failed or state.ended == "cancelled") and answer.status == "complete"
    scored = state.relevant or ask.settings.min_score is not None
    hits = asked.hits() if scored else asked.nearest
    warnings = [*ask.warnings(), *asked.ranking.warnings, *state.warnings, *answer.warnings]
    return SearchResult(
        query=ask.request.query,
        collection=ask.request.collection,
        snapshot_id=ask.index.snapshot.id,
        level=ask.index.snapshot.manifest.level,
        mode="lazy",
        routing=ask.routing,
        status="partial" if partial or state.cancelled else answer.status,
        warnings=warnings,
        trace_id=ask.account.scope.name,
        answer=answer.text,
        segments=answer.segments,
        tables=answer.tables,
        confidence=answer.confidence,
        answer_engine=engine,
        verified=answer.verified,
        citations=answer.citations,
        hits=[hit_of(passage) for passage in hits[: ask.settings.top_k]],
        claims=state.claims,
        subqueries=state.subqueries,
        communities_visited=list(state.communities),
        usage=_usage(asked),
    )


def _usage(asked: Question) -> Usage:
    """Judgements and their budget; what model calls were paid for. Reused judgements count as cache hits, too."""
    state = asked.state
    usage = Usage(**vars(asked.ask.account.used), relevance_tests=state.budget.used, budget_total=state.budget.total)
    usage.cache_hits += state.cache_hits
    return usage
