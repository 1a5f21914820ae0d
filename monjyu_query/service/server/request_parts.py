"""Parts of requests that several routes share, and the examples in the API description."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import Response

from monjyu_core.values import Values
from monjyu_query.service.access.principals import Principal
from monjyu_query.service.worker_state import Service, service_of

Shared = Annotated[Service, Depends(service_of)]


_SNAPSHOT = "20261126T125402340983Z-89f1892b"
_EXAMPLES: Mapping[str, Any] = {
    "backfill_id": "abcdefgh",
    "collection": "samples",
    "columns": ["method", "limitation"],
    "field": "title",
    "files": ["paper.pdf"],
    "id": "0123abcd",
    "input": "How are citations checked?",
    "kind": "authors",
    "level": 1,
    "model": "samples",
    "name": "budgets",
    "newer": _SNAPSHOT,
    "number": 1,
    "older": _SNAPSHOT,
    "paper_id": "answer-provenance-ac1d5330",
    "paper_ids": ["answer-provenance-ac1d5330", "relevance-budget-438725c6"],
    "phrase": "relevance budget",
    "question_id": "leiden",
    "quote": "The index is equal to a full rebuild.",
    "search_id": "0123456789abcdef0123456789abcdef",
    "text": "Readers hold a lease on the snapshot that they opened (Okafor, 2024).",
    "theme_id": "1-0",
    "topic": "incremental indexing",
    "trace_id": "0123456789abcdef",
    "value": "Answer Provenance",
    "vector": [0.12, -0.03, 0.55],
}
"""Examples by name of a parameter or field, unless the field has its own `examples`."""
_ALSO = ("collection", "columns")
"""Optional fields shown in an example of a body."""


def principal_of(request: Request) -> Principal:
    """Return the caller of a request, whom the gate has identified."""
    principal: Principal = request.scope["state"]["principal"]
    return principal


def json_response(content: bytes, headers: Mapping[str, str] = {}) -> Response:
    """Return a response with JSON that caches must not store."""
    return Response(content, media_type="application/json", headers={"Cache-Control": "no-store", **headers})


def examples(*asked: tuple[str, Mapping[str, Any]]) -> Values:
    """Return examples of a body, each with its description."""
    return {f"example {n}": {"summary": about, "value": value} for n, (about, value) in enumerate(asked, start=1)}


def add_examples(described: Mapping[str, Any]) -> None:
    """Add an example with the required fields to each body that has none, and a value to each required parameter."""
    schemas = described["components"]["schemas"]
    for operation in (one for operations in described["paths"].values() for one in operations.values()):
        for parameter in operation.get("parameters", ()):
            if parameter.get("required") and not {"example", "examples"} & parameter.keys():
                parameter["example"] = _example(parameter["name"], parameter["schema"])
        for content in operation.get("requestBody", {}).get("content", {}).values():
            if "examples" not in content:
                schema = schemas[content["schema"]["$ref"].rpartition("/")[2]]
                fields = schema["properties"].items()
                shown = {name for name, one in fields if name in _ALSO or "examples" in one}
                value = {n: _example(n, one) for n, one in fields if n in shown.union(schema.get("required", ()))}
                content["examples"] = examples((operation["summary"], value))


def _example(name: str, schema: Mapping[str, Any]) -> Any:
    return schema["examples"][0] if "examples" in schema else _EXAMPLES.get(name)
