"""What a question sets itself, over the settings of its collection: for its search, its models, and as it is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monjyu_core.models.accounting.caps import SpendingCap
from monjyu_core.settings.models_settings import SpendingSettings
from monjyu_core.settings.settings import SearchSettings
from monjyu_query.asking.budget import DEFAULT, PRESETS
from monjyu_query.asking.fields import asked_as
from monjyu_query.asking.request import SearchRequest
from monjyu_query.asking.result import Parameters
from monjyu_query.search.routing.choose import served

_OF_LAZY = {
    "patience": "patience",
    "sufficiency": "sufficiency",
    "subqueries": "max_subqueries",
    "threshold": "relevant_from",
}
"""What a request says of lazy search, and the settings that it stands in for."""


def settings_for(request: SearchRequest, settings: SearchSettings) -> SearchSettings:
    """The collection's settings with what the request itself says."""
    given = {name: getattr(request, name) for name in ("top_k", "alpha", "min_score")}
    lazy = {inside: getattr(request, name) for name, inside in _OF_LAZY.items()}
    given["lazy"] = settings.lazy.model_copy(update=_said(lazy))
    return settings.model_copy(update=_said(given))


def cap_of(spending: SpendingSettings, request: SearchRequest | None) -> SpendingCap:
    """The settings' caps of a question, or lower ones of the request; 0 = none."""
    cost, calls = spending.max_cost_usd_per_query, spending.max_calls_per_query
    if request is not None:
        cost = min(filter(None, (cost, request.max_cost_usd)), default=0.0)
        calls = min(filter(None, (calls, request.max_calls)), default=0)
    return SpendingCap("query", cost, calls)


def parameters_of(
    request: SearchRequest, settings: SearchSettings, mode: str, level: int, *, reranks: bool
) -> Parameters:
    """What is in force for this request; what no mode that is asked looks at is None.

    `settings` are those of `settings_for`; `mode` is the choice of the router at this level; `reranks`: something does.
    """
    several = _several(request, settings, mode, level)
    fields = SearchRequest.model_fields.items()
    used = {name for name, field in fields if {mode, *several}.intersection(asked_as(field).modes)}
    if settings.lazy.rank == "vector" and mode == "lazy" and not several:
        used.discard("alpha")
    budget = request.budget
    values: dict[str, Any] = {
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
    """The modes that mode multi joins, or that a controller may ask."""
    if request.controller != "unified":
        return served(level)
    if mode != "multi":
        return []
    return [*dict.fromkeys(request.modes or [one for one in settings.multi.modes if one in served(level)])]


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
