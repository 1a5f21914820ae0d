"""All search modes and controllers. Controller `progressive` asks the cheapest mode first, and the next one while the
answer is insufficient and the caps allow it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from monjyu_core.models.factory import role_model
from monjyu_core.models.types import Role, TokenUsage
from monjyu_query.answers.answer import Answer
from monjyu_query.answers.evidence import (
    AnswerEvidence,
    answer_from_evidence,
    draft_answer,
    gather_evidence,
    topic_question,
)
from monjyu_query.asking.lazy_explanation import Budget
from monjyu_query.asking.result import Hit, SearchResult
from monjyu_query.asking.topic import topic_of
from monjyu_query.knowledge.reports import load_reports
from monjyu_query.modes.best_passages import paper_cap
from monjyu_query.ranking.tools import Ask, Tools
from monjyu_query.search.multi import (
    Modes,
    Search,
    fuse_hits,
    merged_result,
    search_multi,
    search_side_by_side,
    step_of,
)
from monjyu_query.search.routing.choose import served


# All search modes with their constructors, and how modes are chosen for a question; modules are loaded when used.
def all_modes(tools: Tools) -> Modes:
    """The modes of one collection."""
    return Modes(tools, _MAKERS)


def _passages(modes: Modes) -> Search:
    from monjyu_query.modes.passage_search import search_passages

    return partial(search_passages, modes.tools)


def _lazy(modes: Modes) -> Search:
    from monjyu_query.modes.lazy.lazy_search import LazySearch

    return LazySearch(modes.tools).search


def _local(modes: Modes) -> Search:
    from monjyu_query.modes.local_search import LocalSearch

    return LocalSearch(modes.tools).search


def _global(modes: Modes) -> Search:
    from monjyu_query.modes.global_search import GlobalSearch

    return GlobalSearch(modes.tools).search


_MAKERS: dict[str, Callable[[Modes], Search]] = {
    "vector": _passages,
    "keyword": _passages,
    "hybrid": _passages,
    "lazy": _lazy,
    "local": _local,
    "global": _global,
    "multi": lambda modes: partial(search_multi, modes),
}


# The expected cost of a step, in calls and dollars, computed before it starts: at most this much is spent.
TEST_TOKENS = 600
"""The prompt tokens of one relevance test: a chunk, its header and the instructions."""
EXTRACT_CHUNKS = 8
CHARACTERS_A_TOKEN = 3


@dataclass(frozen=True)
class Expected:
    calls: int = 0
    cost_usd: float = 0.0


def expected_cost(tools: Tools, ask: Ask) -> Expected:
    """The expected cost of the request's mode, excluding the answer; zero if its roles are extractive."""
    if ask.mode == "lazy":
        tests = Budget.of(ask.request.budget).total
        groups, batch = -(-tests // EXTRACT_CHUNKS), ask.settings.lazy.chunks_per_call
        return _sum(
            _calls(tools, ask, "expand", 1, TEST_TOKENS),
            _calls(tools, ask, "assess", -(-tests // batch), batch * TEST_TOKENS),
            _calls(tools, ask, "claims", groups, EXTRACT_CHUNKS * TEST_TOKENS),
        )
    if ask.mode == "global":
        reports = load_reports(ask.index.snapshot.cursor()).all
        tokens = sum(len(report.text) for report in reports) // CHARACTERS_A_TOKEN
        calls = max(1, -(-tokens // ask.settings.reports.map_tokens))
        each = tokens // calls + TEST_TOKENS
        return _sum(_calls(tools, ask, "assess", calls, each), _calls(tools, ask, "claims", calls, each))
    return Expected()


def _calls(tools: Tools, ask: Ask, role: Role, calls: int, prompt_tokens: int) -> Expected:
    if not tools.uses_model(role):
        return Expected()
    longest = getattr(tools.settings.roles, role).max_tokens
    model = role_model(tools.settings, role)[1].model
    cost = ask.account.accounting.prices.cost(TokenUsage(prompt_tokens * calls, longest * calls), model)
    return Expected(calls, cost.usd)


def _sum(*parts: Expected) -> Expected:
    return Expected(sum(part.calls for part in parts), sum(part.cost_usd for part in parts))


LADDERS: dict[str, tuple[tuple[str, str | None], ...]] = {
    "factoid": (("hybrid", None), ("local", None), ("lazy", "z100")),
    "exploration": (("hybrid", None), ("local", None), ("lazy", "z100"), ("lazy", "z500")),
    "comparison": (("hybrid", None), ("lazy", "z100"), ("local", None), ("lazy", "z500")),
    "survey": (("hybrid", None), ("lazy", "z100"), ("global", None), ("lazy", "z500")),
}
"""The modes for each kind of question in order of cost, with the budget of lazy search."""
SURVEYED = 4
"""The number of papers that the answer to a survey must cite, or all papers of a smaller collection."""


@dataclass
class _Climb:
    """The results of the steps so far; `reports` has a line about each step."""

    ask: Ask
    results: list[SearchResult] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    answer: Answer = field(default_factory=lambda: Answer([], "complete"))
    engine: str = "none"


def search_progressively(modes: Modes, ask: Ask) -> SearchResult:
    """The answer of the first sufficient step, from the results of all steps; the routing describes each step."""
    climb = _Climb(ask)
    level = ask.index.snapshot.manifest.level
    rungs = [rung for rung in LADDERS[ask.routing.query_type] if rung[0] in served(level)]
    if ask.request.budget is not None:
        rungs = [rung for rung in rungs if rung != ("lazy", "z500")]  # the requested budget applies to one lazy step
    if not topic_of(ask.request.query) and "global" in served(level):
        rungs = [("global", None)]  # a question about the whole collection names nothing to look for in passages
    for place, (mode, budget) in enumerate(rungs):
        step = _step(ask, mode, budget)
        reason = _too_dear(modes.tools, step)
        if reason and climb.results:
            climb.notes.append(f"Not continued with {mode}: {reason}.")
            break
        before = len(climb.hits), sum(len(result.claims) for result in climb.results)
        _take(climb, modes.search(step))
        enough, why = _judge(modes.tools, climb, last=place == len(rungs) - 1)
        climb.reports.append(_added(step, climb, before, why))
        if enough or ask.cancel.is_set():
            break
    if ask.request.answer and climb.engine == "none":
        climb.answer, climb.engine = answer_from_evidence(modes.tools, ask, _evidence(climb))
    reason = f"controller progressive: {'; '.join(climb.reports)}"
    routed = replace(ask, mode=climb.results[-1].mode, routing=ask.routing.model_copy(update={"reason": reason}))
    return merged_result(routed, climb.answer, climb.engine, climb.results, climb.hits, climb.notes)


def _step(ask: Ask, mode: str, budget: str | None) -> Ask:
    step = step_of(ask, mode)
    tests = ask.request.budget if mode == "lazy" and ask.request.budget is not None else budget
    return replace(step, request=step.request.model_copy(update={"budget": tests}))


def _too_dear(tools: Tools, step: Ask) -> str:
    """Why the step must not be started; empty if it may."""
    caps, used = step.settings.progressive, step.account.used
    if not caps.max_cost_usd and not caps.max_calls:
        return ""
    expected = expected_cost(tools, step)
    if caps.max_cost_usd and used.cost_usd + expected.cost_usd > caps.max_cost_usd:
        return f"it may cost ${expected.cost_usd:.4f}, and ${used.cost_usd:.4f} of ${caps.max_cost_usd:.4f} is spent"
    if caps.max_calls and used.llm_calls + expected.calls > caps.max_calls:
        return f"it may make {expected.calls} calls, and {used.llm_calls} of {caps.max_calls} are made"
    return ""


def _take(climb: _Climb, result: SearchResult) -> None:
    ask = climb.ask
    climb.results.append(result)
    cap = paper_cap(ask.request, ask.settings, ask.settings.top_k)
    climb.hits = fuse_hits(climb.results, ask.settings.multi.rrf_k, cap)


def _evidence(climb: _Climb) -> AnswerEvidence:
    return gather_evidence(climb.ask, climb.results, climb.hits)


def _judge(tools: Tools, climb: _Climb, *, last: bool) -> tuple[bool, str]:
    """Whether the evidence suffices, and the reason as text. It is judged by an extractive draft, which is free; then
    the answer is written, and if its model finds no answer, the search continues.
    """
    ask = climb.ask
    found = _evidence(climb)
    draft = draft_answer(tools, ask, found)
    enough, why = _sufficient(ask, draft, ask.settings.progressive.min_coverage)
    if not enough or not ask.request.answer:
        return enough, why
    climb.answer, climb.engine = answer_from_evidence(tools, ask, found)
    if climb.answer.status == "abstained" and not last:
        climb.engine = "none"
        return False, f"{why}, but the model finds no answer in it"
    return True, why


def _sufficient(ask: Ask, draft: Answer, min_coverage: float) -> tuple[bool, str]:
    if draft.status != "complete":
        return False, "no answer" if draft.status == "abstained" else "an answer in part"
    index = ask.index
    question = topic_question(index, ask.request.query)
    terms = index.keywords.terms([citation.quote for citation in draft.citations])
    covered = question.share({term for some in terms for term in some}) if question.weights else 1.0
    papers = len({citation.paper_id for citation in draft.citations})
    wanted = min(SURVEYED, len(index.corpus.paper_ids)) if ask.routing.query_type == "survey" else 1
    why = f"the answer covers {covered:.0%} of the question from {papers} papers"
    return covered >= min_coverage and papers >= wanted, why


def _added(step: Ask, climb: _Climb, before: tuple[int, int], why: str) -> str:
    hits, claims = before
    claimed = sum(len(result.claims) for result in climb.results) - claims
    name = f"lazy {step.request.budget}" if step.mode == "lazy" else step.mode
    return f"{name} added {len(climb.hits) - hits} passages and {claimed} claims ({why})"


CONTROLLERS: dict[str, Callable[[Modes, Ask], SearchResult]] = {
    "unified": Modes.search,
    "progressive": search_progressively,
    "hybrid": search_side_by_side,
}
"""How a question is searched; `unified` is the mode that the router chose."""
