"""Runs several modes side by side and fuses their passages by reciprocal ranks: mode multi and controller hybrid."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from monjyu_core.values import Values
from monjyu_query.answers.answer import Answer, result_of
from monjyu_query.answers.evidence import answer_from_evidence, gather_evidence
from monjyu_query.asking.result import Hit, SearchResult
from monjyu_query.modes.best_passages import paper_cap
from monjyu_query.ranking.tools import Ask, Tools
from monjyu_query.search.routing.choose import BEST, served

Search = Callable[[Ask], SearchResult]


class Modes:
    """The modes, created at first use. Thread-safe. A constructor receives the others, as some use several."""

    def __init__(self, tools: Tools, makers: Mapping[str, Callable[[Modes], Search]]) -> None:
        self.tools = tools
        self._makers = makers
        self._lock = threading.Lock()
        self._made: dict[str, Search] = {}

    def search(self, ask: Ask) -> SearchResult:
        """The result in the mode of `ask`."""
        return self.of(ask.mode)(ask)

    def of(self, mode: str) -> Search:
        with self._lock:
            if mode not in self._made:
                self._made[mode] = self._makers[mode](self)
            return self._made[mode]


DEPTH = 30
"""The number of passages of each mode that are fused."""


def search_multi(modes: Modes, ask: Ask) -> SearchResult:
    """The result of mode multi: of the request's modes, else of those in `search.multi.modes` at this level."""
    if ask.request.modes:
        return fused_search(modes, ask, list(dict.fromkeys(ask.request.modes)), [])
    level = ask.index.snapshot.manifest.level
    wanted = [mode for mode in ask.settings.multi.modes if mode in served(level)]
    left_out = [mode for mode in ask.settings.multi.modes if mode not in wanted]
    note = [f"Left out, because their levels are not built: {', '.join(left_out)}."] if left_out else []
    return fused_search(modes, ask, wanted or ["hybrid"], note)


def search_side_by_side(modes: Modes, ask: Ask) -> SearchResult:
    """The fused result of the controller `hybrid`, which runs all modes that suit the question's kind at this level or
    a lower one, and the mode `hybrid`."""
    level = ask.index.snapshot.manifest.level
    wanted = [mode for needs, mode in BEST[ask.routing.query_type] if needs <= level]  # type: ignore[index]
    wanted = list(dict.fromkeys([*wanted, "hybrid"]))
    reason = f"controller hybrid: {', '.join(wanted)} side by side for a question of kind {ask.routing.query_type}"
    routed = replace(ask, mode="multi", routing=ask.routing.model_copy(update={"reason": reason}))
    return fused_search(modes, routed, wanted, [])


def fused_search(modes: Modes, ask: Ask, names: Sequence[str], notes: Sequence[str]) -> SearchResult:
    """One result from several modes; the answer is composed once, from all their evidence."""
    results = _run(modes, ask, names)
    cap = paper_cap(ask.request, ask.settings, ask.settings.top_k)
    hits = fuse_hits(results, ask.settings.multi.rrf_k, cap)
    answer, engine = Answer([], "complete"), "none"
    if ask.request.answer:
        answer, engine = answer_from_evidence(modes.tools, ask, gather_evidence(ask, results, hits))
    return merged_result(ask, answer, engine, results, hits, notes)


def merged_result(
    ask: Ask, answer: Answer, engine: str, results: Sequence[SearchResult], hits: Sequence[Hit], notes: Sequence[str]
) -> SearchResult:
    """One result with the answer, the fused hits and the claims of several results. Their tests are added up; cache
    hits are the largest number of one, because they share an account."""
    cut = ask.cancel.is_set() or any(result.status == "partial" for result in results)
    status = "partial" if cut and answer.status == "complete" else answer.status
    warnings = [*notes, *(warning for result in results for warning in result.warnings)]
    whole = result_of(ask, replace(answer, status=status), engine, [], warnings=warnings)
    usage = whole.usage
    usage.relevance_tests = sum(result.usage.relevance_tests for result in results)
    usage.budget_total = sum(result.usage.budget_total for result in results)
    usage.cache_hits = max([usage.cache_hits, *(result.usage.cache_hits for result in results)])
    return whole.model_copy(
        update={
            "hits": list(hits[: ask.settings.top_k]),
            "claims": _distinct([claim for result in results for claim in result.claims]),
            "subqueries": list(dict.fromkeys(text for result in results for text in result.subqueries)),
            "communities_visited": list(dict.fromkeys(c for result in results for c in result.communities_visited)),
        }
    )


def step_of(ask: Ask, mode: str) -> Ask:
    """The question for one mode, without an answer, on the same account; its events name the mode."""

    def emit(event: Values) -> None:
        ask.emit(event | {"mode": mode})

    request = ask.request.model_copy(update={"mode": mode, "answer": False, "controller": "unified"})
    settings = ask.settings.model_copy(update={"top_k": max(DEPTH, ask.settings.top_k)})
    return replace(ask, mode=mode, request=request, settings=settings, emit=emit)


def _run(modes: Modes, ask: Ask, names: Sequence[str]) -> list[SearchResult]:
    """Run each mode in its own thread, with the account of the question; return results in the order of the names."""
    lock = threading.Lock()

    def emit(event: Values) -> None:
        with lock:
            ask.emit(event)

    steps = [step_of(replace(ask, emit=emit), name) for name in names]
    with ThreadPoolExecutor(len(steps), thread_name_prefix="mode") as pool:
        waiting = [pool.submit(contextvars.copy_context().run, modes.search, step) for step in steps]
        return [future.result() for future in waiting]


def fuse_hits(results: Sequence[SearchResult], k: int, per_paper: int) -> list[Hit]:
    """The hits of all results, best first, by reciprocal rank fusion: `sum of 1 / (k + rank)` with ranks from 1
    (Cormack, Clarke and Büttcher 2009); at most `per_paper` of one paper (0 = no limit)."""
    scores: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for result in results:
        for rank, hit in enumerate(result.hits, start=1):
            scores[hit.chunk_id] = scores.get(hit.chunk_id, 0.0) + 1 / (k + rank)
            hits.setdefault(hit.chunk_id, hit)
    papers: dict[str, int] = {}
    fused: list[Hit] = []
    for name in sorted(scores, key=lambda name: (-scores[name], name)):
        paper = hits[name].paper_id
        papers[paper] = papers.get(paper, 0) + 1
        if not per_paper or papers[paper] <= per_paper:
            fused.append(hits[name].model_copy(update={"score": round(scores[name], 6)}))
    return fused


def _distinct(claims: Sequence[Values]) -> list[Values]:
    """The claims without those that repeat a statement."""
    return list({claim["statement"]: claim for claim in reversed(claims)}.values())[::-1]
