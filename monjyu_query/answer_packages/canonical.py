"""What of an answer must be equal when it is made again, and the one way in which it is written."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from monjyu_query.asking.result import SearchResult

_DIGITS = 6
"""Significant ones of a number: the last bits of a sum differ between processors."""
_OF_USAGE = ("relevance_tests", "held_back", "budget_total")
"""Times, money and what was found in a cache are another matter each time."""


def canonical_answer(result: SearchResult) -> dict[str, Any]:
    """All of a result but its trace's id, times and money. Of a passage's text only the hash, and no context: what is
    not quoted belongs to the paper."""
    told = result.model_dump(mode="json", exclude={"trace_id", "phases", "usage", "context"})
    told["usage"] = {name: getattr(result.usage, name) for name in _OF_USAGE}
    for claim in told["claims"]:
        claim.pop("extracted_at", None)
    for hit in told["hits"]:
        hit["text_sha256"] = text_sha256(hit.pop("text"))
    same: dict[str, Any] = rounded(told)
    return same


def canonical_bytes(value: object) -> bytes:
    """JSON in UTF-8 with sorted names, an indent of one space and a line end."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False)
    return (text + "\n").encode("utf-8", "backslashreplace")


def text_sha256(text: str) -> str:
    """Hex digits for a text without its white space, which differs between a quote and its sentences."""
    return hashlib.sha256("".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def rounded(value: Any) -> Any:
    """A JSON value with its numbers as `answer.json` writes them: six significant digits."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value
