"""What the papers are to be about that a question asks for: "Which papers teach fluid dynamics or heat transfer?"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from monjyu_query.answers.topic import topic_of

_RELATION = re.compile(
    r"^.*?\b(?:papers?|articles?|stud(?:y|ies)|publications?|authors?)\b"
    r"(?: (?:in|of) (?:the|this|my|our) (?:collection|corpus|library))?"
    r"(?: (?:that|which|who))?(?: (?:are|is|were|was|do|does|did|have|has|can|could|there|also|mainly|really))*"
    r"(?: (?:about|on|concerned with|concerned|related to|relevant to|based on|for)"
    r"| (?!with\b)[a-z]+(?: (?:about|on|with|for|of|how|to))?)?\s+",
    re.IGNORECASE,
)
_JA_RELATION = re.compile(
    r"(?:について|に関して|に関する|を|が)[^、。？?]{0,12}?(?:論文|研究|文献)(?:は|を|が|に).*$|に関する(?:論文|研究|文献)$"
    r"|^.*?どの(?:論文|研究|文献)[がはで]"
    r"|(?:について|に関して|を)(?:述べ|論じ|扱|教え|使|研究|調べ|説明|書|取り上げ)[^、。？?]*[。？?]?$"
)
_AROUND = " .,;:?!？。、"
_OR = re.compile(r"\s*\b(?:or|and/or)\b\s*|または|もしくは|あるいは|や(?=[\u30a0-\u9fff])", re.IGNORECASE)


@dataclass(frozen=True)
class Topic:
    """`words` are those that name it, `label` is it as the question has it."""

    words: str
    label: str


def asked_topics(query: str) -> list[Topic]:
    """The subjects, each of which is enough: without the words that ask and the verb that joins papers and subject.
    Empty where the question names no subject."""
    rest = _RELATION.sub("", query, count=1) if _RELATION.match(query) else _JA_RELATION.sub(" ", query)
    parts = [(topic_of(part), part.strip(_AROUND)) for part in _OR.split(rest)]
    found = [Topic(words, label) for words, label in parts if words]
    whole = topic_of(query)
    return found or ([Topic(whole, whole)] if whole else [])
