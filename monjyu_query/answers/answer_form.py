"""In which form a question is answered: what stands first, and whether it is read down or across."""

from __future__ import annotations

import re
from typing import Literal

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

_ASKED = {
    "number": r"\bhow (?:many|much|long|old|often|far|large|big|high)\b|\b(?:what|which) (?:percent|proportion|number"
    r"|rate|fraction|incidence|prevalence|size|dose|ratio|risk|mortality)|percentage"
    r"|何(?:人|個|回|歳|枚|本|種|%|パーセント|割|倍|位|km|メートル|つ|匹|頭|台|分|時間)|いくつ|どのくらい|どれくらい|どれほど",
    "date": r"^\W*(?:and |but |since |until |by )?when\b"
    r"|\b(?:what|which) (?:year|date|month|day)|\bhow long\b|いつ|何年|何月|何日|何世紀",
    "person": r"\bwho(?:m|se)?\b|誰|だれ|何者|人物",
    "place": r"\bwhere\b|\b(?:what|which) (?:country|countries|city|region|place|cell|tissue|organ)"
    r"|どこ|何県|何市|何国|場所",
    "reason": r"\bwhy\b|\b(?:reason|cause|purpose)s?\b|なぜ|理由|原因|どうして",
    "procedure": r"\bhow (?!many|much|long|old|often|far|large|big|high)|\bmethods?\b|どのように|どうやって|方法",
    "comparison": r"\b(?:compar|differ|versus|vs\.?|better|than)\w*|違い|比べ|より",
    "yes_no": r"^(?:is|are|was|were|do|does|did|can|could|has|have|had|should|will|would|may|might)\b"
    r"|: (?:is|are|do|does|can|has|should)\b|か[。？?]?$",
    "definition": r"^(?:what (?:is|are|was|were)|define)\b|とは|何(?:か|という|と呼|と言)",
}
_TYPES = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _ASKED.items()}


def asked_types(question: str) -> frozenset[str]:
    """The types of answer that the question's words ask for; often none, sometimes several."""
    return frozenset(name for name, pattern in _TYPES.items() if pattern.search(question))


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
