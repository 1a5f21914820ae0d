"""What a question's wording adds to the worth of sentences, beyond what was learned."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from monjyu_core.text.search_text import count_wide
from monjyu_core.text.unicode_words import compact, words
from monjyu_query.answers.evidence_ranking.answer_types import counted, share_asked
from monjyu_query.answers.evidence_ranking.evidence_ranker import Judged
from monjyu_query.answers.selection import is_statement
from monjyu_query.search.passages import PassageSentence

_COUNTS, _DEFINES, _SHARES, _MOST_PROBABLE = 3.0, 3.0, 2.0, 0.99
_TITLE, _HEADING, _CAPTION = 0.1, 0.3, 0.5
"""What is left of the worth of a paper's own title, a heading, a caption."""
_OF_OTHERS = 0.3
"""What is left of the worth of other papers' sentences where the question names one."""
_LONGEST_NAME = 4
_HEADING_WORDS = 12
_IS_CAPTION = re.compile(r"^\W*(?:Table|Fig(?:ure|\.)|Box|Scheme|Supplementary (?:Table|Fig))\W*\w{1,4}\s*[.:|]")
_SIGNS = re.compile(r"\b[A-Z][A-Z0-9-]{1,7}\s?[:=]\s\w")
_MOST_SIGNS = 2
"""Abbreviations that a sentence may explain: more are a list of them."""
_WHAT_IS = re.compile(
    r"^\W*(?:what (?:is|are)|define)\s+(?:meant by\s+)?(?:an?\s+|(?P<the>the)\s+)?(?P<thing>[^,;:?.]{2,60}?)\W*$"
    r"|^(?P<ja>[^、。？?はがをに]{2,30})とは(?:何(?:です)?か?)?(?:[、。？?]|$)",
    re.IGNORECASE,
)
_OF = re.compile(
    r"\b(?:of|for|in|into|on|to|by|with|that|which|from|and|or|between|used|the|when|during|being|known|done|said|made)\b",
    re.IGNORECASE,
)


def numbers_first(query: str, judged: Judged, sentences: Sequence[PassageSentence]) -> Judged:
    """To "how many lessons" a sentence that counts lessons is worth more than one that only speaks of them."""
    return _times(judged, _lift(_COUNTS, counted(query), sentences))


def lifted(query: str, judged: Judged, sentences: Sequence[PassageSentence], paper_id: str = "") -> Judged:
    """To "what is Binder" a sentence that says what it is is worth more, to "what percentage" one that has one; what is
    no sentence of the text itself is worth less, and so is what others say of a paper that the question names."""
    lift = standing(sentences) * _of_its_paper(sentences, paper_id) * _lift(_DEFINES, defining(query), sentences)
    return _times(judged, lift * _lift(_SHARES, share_asked(query), sentences))


def _lift(factor: float, pattern: re.Pattern[str] | None, sentences: Sequence[PassageSentence]) -> NDArray[np.float64]:
    if pattern is None:
        return np.ones(len(sentences))
    return np.array([factor if pattern.search(sentence.text) else 1.0 for sentence in sentences])


def _times(judged: Judged, lift: NDArray[np.float64]) -> Judged:
    most = np.maximum(judged.probability, _MOST_PROBABLE)
    return Judged(np.minimum(judged.probability * lift, most), judged.least)


def _of_its_paper(sentences: Sequence[PassageSentence], paper_id: str) -> NDArray[np.float64]:
    own = np.array([sentence.passage.paper_id == paper_id for sentence in sentences], dtype=bool)
    return np.where(own, 1.0, _OF_OTHERS) if own.any() else np.ones(len(sentences))


def standing(sentences: Sequence[PassageSentence]) -> NDArray[np.float64]:
    """What is left (n,) of each sentence's worth: all of it but for titles, headings and captions."""
    return np.array([_left(sentence) for sentence in sentences])


def _left(sentence: PassageSentence) -> float:
    text = sentence.text
    if compact(text) == compact(sentence.passage.paper_title):
        return _TITLE
    if _IS_CAPTION.match(text):
        return _CAPTION
    if len(_SIGNS.findall(text)) > _MOST_SIGNS:
        return _HEADING
    short = not count_wide(text) and len(words(text)) < _HEADING_WORDS
    return _HEADING if short and not is_statement(text) else 1.0


def defined_thing(query: str) -> str:
    """The name of one to four words that a question asks the meaning of; empty for others."""
    found = _WHAT_IS.match(query)
    thing = (found["thing"] or "").strip() if found else ""
    return "" if len(thing.split()) > _LONGEST_NAME or _OF.search(thing) else thing


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
    thing = r"\W+".join(map(re.escape, words(defined_thing(query))))
    if not thing:
        return None
    return re.compile(
        rf"\b{thing}(?:e?s)?\b\W{{0,3}}(?:\s*[(\[][^)\]]{{0,120}}[)\]])?,?\s+(?:(?:is|are|was|were)\s+(?:an?|the|one)\b"
        rf"|(?:refers?|referred)\s+to|means\b|denotes?\b|(?:is|are)\s+defined|consists?\s+of)"
        rf"|\b(?:called|known as|termed)\s+(?:an?\s+|the\s+)?[“\"']?{thing}\b",
        re.IGNORECASE,
    )


def named_thing(query: str) -> str:
    """The name of several words whose meaning is asked for: with "the" it is a value of something, not a name."""
    found = _WHAT_IS.match(query)
    thing = defined_thing(query)
    return thing if found and not found["the"] and len(thing.split()) > 1 else ""


def defines(query: str, text: str) -> bool:
    """Whether a definition is asked for and the text gives it."""
    pattern = defining(query)
    return pattern is not None and bool(pattern.search(text))
