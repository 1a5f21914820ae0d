"""What a question's wording adds to the worth of sentences, beyond what was learned."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.evidence_ranking.answer_types import counted, share_asked
from monjyu_query.answers.evidence_ranking.evidence_ranker import Judged
from monjyu_query.answers.selection import is_statement
from monjyu_query.search.passages import PassageSentence

_COUNTS, _DEFINES, _SHARES, _MOST_PROBABLE = 3.0, 3.0, 2.0, 0.99
_TITLE, _HEADING, _CAPTION = 0.1, 0.3, 0.5
"""What is left of the worth of a paper's own title, a heading, a caption."""
_HEADING_WORDS = 8
_IS_CAPTION = re.compile(r"^\W*(?:Table|Fig(?:ure|\.)|Box|Scheme|Supplementary (?:Table|Fig))\W*\w{1,4}\s*[.:|]")
_WORD = re.compile(r"[^\W_]+")
_WHAT_IS = re.compile(
    r"^\W*(?:what (?:is|are|was|were)|define)\s+(?:meant by\s+)?(?:an?\s+|the\s+)?(?P<thing>[^,;:?.]{2,60}?)\W*$"
    r"|^(?P<ja>[^、。？?はがをに]{2,30})とは(?:何(?:です)?か?)?(?:[、。？?]|$)",
    re.IGNORECASE,
)
_OF = re.compile(r"\b(?:of|for|in|on|to|by|with|that|which|from|and|or|between|used|the|when|during)\b", re.IGNORECASE)


def numbers_first(query: str, judged: Judged, sentences: Sequence[PassageSentence]) -> Judged:
    """To "how many lessons" a sentence that counts lessons is worth more than one that only speaks of them."""
    return _times(judged, _lift(_COUNTS, counted(query), sentences))


def lifted(query: str, judged: Judged, sentences: Sequence[PassageSentence]) -> Judged:
    """To "what is Binder" a sentence that says what it is is worth more, to "what percentage" one that has one; what is
    no sentence of the text itself is worth less."""
    lift = standing(sentences) * _lift(_DEFINES, defining(query), sentences)
    return _times(judged, lift * _lift(_SHARES, share_asked(query), sentences))


def _lift(factor: float, pattern: re.Pattern[str] | None, sentences: Sequence[PassageSentence]) -> NDArray[np.float64]:
    if pattern is None:
        return np.ones(len(sentences))
    return np.array([factor if pattern.search(sentence.text) else 1.0 for sentence in sentences])


def _times(judged: Judged, lift: NDArray[np.float64]) -> Judged:
    most = np.maximum(judged.probability, _MOST_PROBABLE)
    return Judged(np.minimum(judged.probability * lift, most), judged.least)


def standing(sentences: Sequence[PassageSentence]) -> NDArray[np.float64]:
    """What is left (n,) of each sentence's worth: all of it but for titles, headings and captions."""
    return np.array([_left(sentence) for sentence in sentences])


def _left(sentence: PassageSentence) -> float:
    text = sentence.text
    if _compact(text) == _compact(sentence.passage.paper_title):
        return _TITLE
    if _IS_CAPTION.match(text):
        return _CAPTION
    short = not count_wide(text) and len(_WORD.findall(text)) < _HEADING_WORDS
    return _HEADING if short and not is_statement(text) else 1.0


def _compact(text: str) -> str:
    return "".join(_WORD.findall(text)).casefold()


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
