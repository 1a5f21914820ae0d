"""In which form a question is answered: what stands first, and whether it is read down or across."""

from __future__ import annotations

import re
from typing import Literal

from monjyu_query.answers.evidence_ranking.answer_types import asked_types

AnswerForm = Literal[
    "fact", "number", "definition", "reasons", "steps", "yes_no", "comparison", "papers", "survey", "exploration"
]

OF_MANY: frozenset[AnswerForm] = frozenset({"papers", "survey"})
"""Forms that are the better, the more papers they have: more passages are read for them."""

NARROW: frozenset[AnswerForm] = frozenset({"fact", "number", "definition", "yes_no"})
"""Forms that a sentence or two fill, however much was found."""

_PAPERS = re.compile(
    r"\b(?:which(?: of the| of these)?(?: \w+){0,2}|what) (?:papers?|articles?|stud(?:y|ies)|publications|authors)\b"
    r"(?! (?:is|are) (?:about\W*$|this))"
    r"|^\W*(?:list|name|find|show)(?: me)?(?: all| the| some)*(?: \w+)? (?:papers|articles|studies|publications)\b"
    r"|どの(?:論文|研究|文献)|(?:論文|研究|文献)は(?:どれ|何|ある)|論文を(?:挙げ|教え|列挙|探)",
    re.IGNORECASE,
)
_STEPS = re.compile(
    r"^\W*how (?:do|can|should|would|could) (?:i|we|you|one|people|instructors?|teachers?|authors?|researchers?)\b"
    r"|^\W*how (?:to|is|are|was|were) \b|\bsteps?\b|\bprocedure\b|手順|どうやって|どのように|方法は|やり方",
    re.IGNORECASE,
)


def form_of(query: str, query_type: str) -> AnswerForm:
    """The form for a question of a kind (of the router's four)."""
    asked = asked_types(query)
    if _PAPERS.search(query):
        return "papers"
    if query_type == "comparison":
        return "comparison"
    if "number" in asked or "date" in asked:
        return "number"
    if "reason" in asked:
        return "reasons"
    if "yes_no" in asked:
        return "yes_no"
    if query_type == "survey":
        return "survey"
    if _STEPS.search(query):
        return "steps"
    if "definition" in asked and len(query.split()) <= 8:
        return "definition"
    return "fact" if query_type == "factoid" else "exploration"
