"""What a question's wording adds to the worth of sentences, beyond what was learned."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from monjyu_query.answers.evidence_ranking.answer_types import counted
from monjyu_query.answers.evidence_ranking.evidence_ranker import Judged
from monjyu_query.search.passages import PassageSentence

_COUNTS, _DEFINES, _MOST_PROBABLE = 3.0, 3.0, 0.99
_WHAT_IS = re.compile(
    r"^\W*(?:what (?:is|are|was|were)|define)\s+(?:meant by\s+)?(?:an?\s+|the\s+)?(?P<thing>[^,;:?.]{2,60}?)\W*$"
    r"|^(?P<ja>[^、。？?はがをに]{2,30})とは(?:何(?:です)?か?)?(?:[、。？?]|$)",
    re.IGNORECASE,
)
_OF = re.compile(r"\b(?:of|for|in|on|to|by|with|that|which|from|and|or|between|used|the|when|during)\b", re.IGNORECASE)


def lifted(query: str, judged: Judged, sentences: Sequence[PassageSentence]) -> Judged:
    """To "how many lessons" a sentence that counts lessons is worth more than one that only speaks of them, to "what is
    Binder" one that says what it is."""
    found = [(_COUNTS, counted(query)), (_DEFINES, defining(query))]
    lift = np.ones(len(sentences))
    for factor, pattern in found:
        if pattern is not None:
            lift *= np.array([factor if pattern.search(sentence.text) else 1.0 for sentence in sentences])
    if not (lift > 1).any():
        return judged
    return Judged(np.minimum(judged.probability * lift, np.maximum(judged.probability, _MOST_PROBABLE)), judged.least)


def defining(query: str) -> re.Pattern[str] | None:
    """What a sentence has that defines what is asked for: "Binder is a …", "Binders (…) are …", 「…とは」; None where
    no definition of a thing of one to four words is asked for."""
    found = _WHAT_IS.match(query)
    if found is None:
        return None
    if found["ja"]:
        return re.compile(
            rf"{re.escape(found['ja'])}(?:（[^）]*）|\([^)]*\))?(?:とは|は、?[^。]*(?:である|のこと|を指す|と呼))"
        )
    thing = found["thing"].strip()
    if len(thing.split()) > 4 or _OF.search(thing):
        return None
    words = r"\W+".join(map(re.escape, re.findall(r"[^\W_]+", thing)))
    if not words:
        return None
    return re.compile(
        rf"\b{words}(?:e?s)?\b\W{{0,3}}(?:\s*[(\[][^)\]]{{0,120}}[)\]])?,?\s+(?:(?:is|are|was|were)\s+(?:an?|the|one)\b"
        rf"|(?:refers?|referred)\s+to|means\b|denotes?\b|(?:is|are)\s+defined|consists?\s+of)"
        rf"|\b(?:called|known as|termed)\s+(?:an?\s+|the\s+)?[“\"']?{words}\b",
        re.IGNORECASE,
    )
