"""Chooses the mode of a question: the requested one, else the best for its kind that the collection's level serves."""

from collections.abc import Mapping

from monjyu_core.errors import QueryError
from monjyu_core.models.caps import SpendingCap
from monjyu_core.settings.models import SpendingSettings
from monjyu_core.settings.settings import SearchSettings
from monjyu_core.values import Values
from monjyu_query.answers.segments import OF_MANY, form_of
from monjyu_query.asking.fields import asked_as
from monjyu_query.asking.lazy_explanation import DEFAULT, PRESETS
from monjyu_query.asking.request import LAZY_FIELDS, NOT_RERANKED, SCORED, SearchRequest
from monjyu_query.asking.result import Parameters, Routing
from monjyu_query.search.routing.question_kinds import Kind, QueryType

NEEDS = {"vector": 0, "keyword": 0, "hybrid": 0, "lazy": 0, "multi": 0, "local": 2, "global": 3}
"""The level that a mode needs. Lazy can walk through communities from level 1 on."""
BUILDS = {1: "the noun graph", 2: "entities and relationships", 3: "community reports", 4: "claims"}
BEST: dict[QueryType, tuple[tuple[int, str], ...]] = {
    "survey": ((3, "global"), (1, "lazy"), (0, "hybrid")),
    "comparison": ((2, "local"), (0, "hybrid")),
    "exploration": ((2, "local"), (0, "hybrid")),
    "factoid": ((0, "hybrid"),),
}
"""The best mode for each kind of question, by level; the reasons are in docs/decisions/search.md. Global is chosen only
if a model wrote the reports, because extractive reports led to the worst answers."""
_SURE_SURVEY = 0.6
"""Below this probability a survey gets the mode of the second most likely kind. Of 14 such questions by authors left
out of training, 6 are surveys, and lazy search costs six times as much as hybrid."""
STANDS_IN = {"local": "exploration", "global": "survey"}
"""The kind of question that a mode is for; if the mode's level is missing, the best other mode for it is offered."""


def served(level: int) -> list[str]:
    """The modes that a collection at `level` serves."""
    return [mode for mode, needs in NEEDS.items() if needs <= level]


def best_mode(kind: QueryType, level: int, *, written_reports: bool = False) -> str:
    """The best mode. `written_reports`: a model wrote the community reports."""
    return next(mode for needs, mode in BEST[kind] if needs <= level and (mode != "global" or written_reports))


def route(
    request: SearchRequest,
    settings: SearchSettings,
    level: int,
    kind: Kind,
    *,
    written_reports: bool = False,
    unread: bool = False,
) -> tuple[str, Routing]:
    """The mode to use and why. `written_reports` is as in `best_mode`; `unread`: the question is in another language
    than the papers, and nothing that tests passages reads both.

    Raises QueryError for a mode whose level is not built, naming the command that builds it and a mode that works.
    """
    mode, why = _chosen(request, settings, level, kind, written_reports=written_reports, unread=unread)
    names: list[str] = [*request.modes] if request.modes else [mode]
    for one in names:
        _check(one, request, level)
    _check_min_score(mode, request, settings)
    return mode, Routing(query_type=kind.name, reason=why, confidence=kind.confidence, runner_up=kind.runner_up)


def refuse(request: SearchRequest) -> None:
    """Raise QueryError for contradicting options, before anything is read."""
    controlled = request.controller != "unified"
    if controlled and request.mode != "auto":
        raise QueryError(f"Controller {request.controller!r} chooses the modes itself.", "Remove the mode.")
    lazy = _of_lazy(request)
    if lazy and request.mode not in ("auto", "lazy", "multi"):
        said = "Only mode lazy has a budget." if lazy[0] == "budget" else f"{lazy[0]} is a setting of mode lazy."
        raise QueryError(said, "Use mode lazy.")
    if request.expand and request.mode in ("lazy", "local", "global"):
        raise QueryError(f"Mode {request.mode} finds related terms itself.", "Leave `expand` out.")
    if request.rerank and request.mode in NOT_RERANKED:
        raise QueryError(f"Mode {request.mode} has its own order.", "Leave `rerank` out.")
    if request.modes and (controlled or request.mode not in ("auto", "multi")):
        raise QueryError("modes: lists the modes that mode multi combines.", "Use mode multi without a controller.")


def _of_lazy(request: SearchRequest) -> list[str]:
    """The request's options that only mode lazy understands."""
    values = {name: getattr(request, name) for name in LAZY_FIELDS}
    return [name for name, value in values.items() if value is not None and value is not False]


def _check_min_score(mode: str, request: SearchRequest, settings: SearchSettings) -> None:
    """Raise QueryError if passages have no score to compare with a lowest one."""
    floor = settings.min_score if request.min_score is None else request.min_score
    if floor is None:
        return
    instead = "leave it out" if request.min_score is not None else "remove the setting search.min_score"
    hint = f"Ask with one of the modes {', '.join(SCORED)}, or {instead}."
    if request.controller != "unified":
        raise QueryError(
            f"min_score: controller {request.controller!r} combines modes whose scores are not comparable.", hint
        )
    if mode not in SCORED:
        raise QueryError(
            f"min_score: mode {mode!r} combines ranks, which do not measure the quality of a passage.", hint
        )
    if mode == "lazy" and request.budget == 0:
        raise QueryError("min_score: with a budget of 0, mode lazy tests and scores no passage.", hint)


def _chosen(
    request: SearchRequest, settings: SearchSettings, level: int, kind: Kind, *, written_reports: bool, unread: bool
) -> tuple[str, str]:
    if request.mode != "auto":
        return request.mode, f"mode {request.mode} was requested"
    if request.modes:
        return "multi", "modes were named, which mode multi combines"
    if request.budget is not None:
        return "lazy", "a budget was given, which counts the tests of mode lazy"
    if given := _of_lazy(request):
        return "lazy", f"{given[0]} was given, which only mode lazy understands"
    if settings.mode != "auto":
        return settings.mode, f"{settings.mode} is the setting (search.mode)"
    if unread:
        return "hybrid", "the question is in another language than the papers, which only vectors compare"
    name, called = kind.name, str(kind.name)
    if name == "survey" and kind.runner_up and not _is_survey(kind, request.query):
        name, called = kind.runner_up, f"{kind.name} or {kind.runner_up}"
    mode = best_mode(name, level, written_reports=written_reports)
    return mode, f"{called}: {kind.reason}; {mode} is best for it at level {level}{_better(name, mode)}"


def _is_survey(kind: Kind, query: str) -> bool:
    """Whether a question taken for a survey is surely one, and gets no other form of answer, such as a number."""
    return (kind.confidence or 0.0) >= _SURE_SURVEY and form_of(query, "survey") in OF_MANY


def _better(kind: QueryType, mode: str) -> str:
    needs, best = BEST[kind][0]
    if best == mode:
        return ""
    return f" ({best} from level {needs} on{' where a model wrote the reports' if best == 'global' else ''})"


def _check(mode: str, request: SearchRequest, level: int) -> None:
    needs = NEEDS[mode]
    if needs <= level:
        return
    offer = best_mode(STANDS_IN[mode], level)  # type: ignore[arg-type]
    raise QueryError(
        f"Mode {mode!r} searches the {BUILDS[needs]} of level {needs}; collection {request.collection!r} is at level "
        f"{level}.",
        f"`monjyu upgrade {request.collection} --level {needs}` builds them; mode {offer!r} serves such questions "
        f"until then.",
    )


# The values with which a question overrides its collection's settings: for search, models and answer.
_OF_LAZY = {
    "patience": "patience",
    "sufficiency": "sufficiency",
    "subqueries": "max_subqueries",
    "threshold": "relevant_from",
}
"""Options of lazy search in a request, and the settings that they override."""


def settings_for(request: SearchRequest, settings: SearchSettings) -> SearchSettings:
    """The collection's settings, overridden by those of the request."""
    given = {name: getattr(request, name) for name in ("top_k", "alpha", "min_score")}
    lazy = {inside: getattr(request, name) for name, inside in _OF_LAZY.items()}
    given["lazy"] = settings.lazy.model_copy(update=_without_nulls(lazy))
    return settings.model_copy(update=_without_nulls(given))


def cap_of(spending: SpendingSettings, request: SearchRequest | None) -> SpendingCap:
    """The caps on a question: those of the settings, or lower ones of the request; 0 means no cap."""
    cost, calls = spending.max_cost_usd_per_query, spending.max_calls_per_query
    if request is not None:
        cost = min(filter(None, (cost, request.max_cost_usd)), default=0.0)
        calls = min(filter(None, (calls, request.max_calls)), default=0)
    return SpendingCap("query", cost, calls)


def parameters_of(
    request: SearchRequest, settings: SearchSettings, mode: str, level: int, *, reranks: bool
) -> Parameters:
    """The effective parameters of a request; those that no mode uses are None. `settings` come from `settings_for`;
    `mode` is the router's choice at `level`; `reranks`: whether passages are reranked.
    """
    several = _several(request, settings, mode, level)
    fields = SearchRequest.model_fields.items()
    used = {name for name, field in fields if {mode, *several}.intersection(asked_as(field).modes)}
    if settings.lazy.rank == "vector" and mode == "lazy" and not several:
        used.discard("alpha")
    budget = request.budget
    values: Values = {
        "alpha": settings.alpha,
        "min_score": settings.min_score,
        "expand": settings.expand if request.expand is None else request.expand,
        "rerank": reranks,
        "modes": several,
        "budget": budget if isinstance(budget, int) else PRESETS[budget or DEFAULT],
        "max_level": level if request.max_level is None else min(level, request.max_level),
        **{name: getattr(settings.lazy, inside) for name, inside in _OF_LAZY.items()},
    }
    return Parameters(top_k=settings.top_k, **{name: value for name, value in values.items() if name in used})


def _several(request: SearchRequest, settings: SearchSettings, mode: str, level: int) -> list[str]:
    """The modes that mode multi combines, or that a controller may use."""
    if request.controller != "unified":
        return served(level)
    if mode != "multi":
        return []
    return [*dict.fromkeys(request.modes or [one for one in settings.multi.modes if one in served(level)])]


def _without_nulls(values: Mapping[str, object]) -> Values:
    return {name: value for name, value in values.items() if value is not None}
