"""What kind of question it is, and which mode of those that the collection's level can serve answers it."""

from __future__ import annotations

import re

from monjyu_core.errors import QueryError
from monjyu_core.settings import SearchSettings
from monjyu_query.request import SearchRequest
from monjyu_query.result import Routing

SERVED = ("vector", "keyword", "hybrid", "lazy")
"""The modes of this version; they need level 0 (lazy has communities from level 1)."""

_PATTERNS = (
    (
        "comparison",
        r"\b(compar\w+|versus|vs|differ\w*|advantages? (of|over)|better than|trade-?offs?)\b|比較|違い|対比",
    ),
    (
        "survey",
        r"\b(survey|overview|review|summar\w+|state of the art|main (themes|topics|findings)|trends?|landscape)\b"
        r"|概要|動向|まとめ|全体像|サーベイ",
    ),
    (
        "factoid",
        r"^\s*(who|when|where|which|what (is|are|was|were|does|do)|how (many|much|long|large|fast|often))\b"
        r"|^\s*(is|are|does|did|was)\b"
        r"|とは|誰|いつ|どこ|いくつ|何(年|人|個)",
    ),
)


def query_type(query: str) -> str:
    """comparison, survey or factoid by English and Japanese patterns, the first that fits; else exploration."""
    return next((name for name, pattern in _PATTERNS if re.search(pattern, query, re.IGNORECASE)), "exploration")


def route(request: SearchRequest, settings: SearchSettings) -> tuple[str, Routing]:
    """The mode to use and why. QueryError for what this version does not build."""
    _refuse(request)
    kind = query_type(request.query)
    if request.mode != "auto":
        return request.mode, Routing(query_type=kind, reason=f"mode {request.mode} was asked for")
    mode = settings.mode
    return mode, Routing(query_type=kind, reason=f"{mode} is the setting (search.mode) for collections at level 0")


def _refuse(request: SearchRequest) -> None:
    choose = f"Use one of: auto, {', '.join(SERVED)}."
    if request.mode not in ("auto", *SERVED):
        raise QueryError(f"Mode {request.mode!r} is not available in this version: {_NEEDS[request.mode]}.", choose)
    if request.controller != "unified":
        raise QueryError(
            f"Controller {request.controller!r} is not available in this version: it chooses among modes of level 1.",
            "Leave it out.",
        )
    if request.budget is not None and request.mode != "lazy":
        raise QueryError("A budget counts the tests of mode lazy.", "Ask with mode lazy.")
    if request.expand and request.mode == "lazy":
        raise QueryError("Mode lazy expands each question by itself.", "Leave it out.")


_NEEDS = {
    "local": "it searches the entities of level 2",
    "global": "it searches the community reports of level 3",
    "multi": "it joins modes of levels 1 to 3",
}
