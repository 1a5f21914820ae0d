"""What is logged and measured of a search: a structured line, a span and metrics. Names, counts and ids, never its
words."""

from __future__ import annotations

from collections.abc import Callable

from monjyu_core.logs import log_event
from monjyu_core.telemetry import Value, span, telemetry
from monjyu_query.asking.request import SearchRequest
from monjyu_query.asking.result import SearchResult


def with_telemetry(request: SearchRequest, search: Callable[[], SearchResult]) -> SearchResult:
    """Run a search inside a span `search`, then log and measure it."""
    with span("search", collection=request.collection, mode=request.mode, controller=request.controller) as found:
        result = search()
        found |= _facts(result)
    log_event("search done", {"collection": result.collection, **_facts(result)})
    _measure(result)
    return result


def _facts(result: SearchResult) -> dict[str, Value]:
    """`mode` is the one that answered, which `auto` chose; `trace` is what `monjyu eval replay` takes."""
    names = ("mode", "status")
    facts: dict[str, Value] = {name: getattr(result, name) for name in names}
    facts |= {
        "index_level": result.level,
        "snapshot": result.snapshot_id,
        "trace": result.trace_id,
        "hits": len(result.hits),
    }
    return facts | result.usage.model_dump()


def _measure(result: SearchResult) -> None:
    sink = telemetry()
    if sink is None:
        return
    used, name = result.usage, {"collection": result.collection, "mode": result.mode}
    sink.measure("monjyu.search.seconds", used.seconds, "s", {**name, "status": result.status})
    if used.relevance_tests:
        sink.count("monjyu.relevance_tests", used.relevance_tests, name)
    if used.llm_calls:
        sink.count("monjyu.tokens", used.prompt_tokens + used.completion_tokens, name)
        sink.count("monjyu.cost_usd", used.cost_usd, name)
