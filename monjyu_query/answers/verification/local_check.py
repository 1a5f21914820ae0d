"""The first stage of the check: what of a sentence stands nowhere in its sources, and how many of its words do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from monjyu_query.answers.verification.alignment import Words, normal
from monjyu_query.answers.verification.exact_facts import Facts

Verdict = Literal["supported", "partly", "contradicted", "not_found"]
"""What the sources say of a sentence."""
Kind = Literal["statement", "synthesis", "gap"]
"""Of one source; of several together; that the sources do not say something."""

MOST_UNCOVERED = 0.7
"""Share of its words that a sentence may have beyond its sources."""
OF_THE_QUESTION = 0.2
"""What a word counts that the question has too: every passage found has such words, so they show little."""
MOST_NAMED = 6
"""Words of a reason."""
_SOURCES = r"(?:papers?|passages?|sources?|stud(?:y|ies)|articles?|excerpts?|texts?|authors?)"
_TELL = (
    r"(?:report|say|state|mention|describe|specify|give|test|discuss|address|examine|provide|indicate|compare|explain|cover"
    r"|include|evaluate|measure|name|tell|contain|offer|quantify|investigate|assess|disclose|present|detail|note|identify"
    r"|list|reveal|claim|quantify)"
)
_TOLD = (
    r"(?:reported|stated|mentioned|described|specified|given|tested|discussed|addressed|disclosed|provided|explained|covered"
    r"|quantified|named|detailed)"
)
_GAP = re.compile(
    rf"\b(?:no|none|neither|not one) (?:of )?(?:the |these |those )?(?:\w+ )?{_SOURCES}\b"
    rf"|\b(?:{_SOURCES}|it|they|both|either|neither)\b[^.]{{0,140}}?\b(?:do(?:es)? not|did not|don't|doesn't|never|nor)"
    rf" (?:\w+ )?{_TELL}\b|\b(?:is|are|was|were) not (?:\w+ )?{_TOLD}\b"
    r"|\bno (?:information|data|details?|mention|figures?|evidence)\b"
    r"|(?:述べ|示さ|記載|言及|触れ|説明|報告|書か|明らかに|明記)[^。]{0,12}(?:いない|ない|ません|おらず)"
    r"|(?:記述|記載|言及|説明|情報)[はが]ない",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Source:
    """A cited text. `about`: title, authors, year, which a sentence may name too."""

    text: str
    about: str = ""


@dataclass(frozen=True)
class LocalVerdict:
    """`reasons`: what speaks against it. `clear`: a figure, name or quote of it stands nowhere in the sources.
    `beyond`: share of its words that they do not have."""

    verdict: Verdict
    kind: Kind
    reasons: tuple[str, ...] = ()
    clear: bool = False
    beyond: float = 0.0


def says_gap(sentence: str) -> bool:
    """Whether a sentence says that the sources do not say something."""
    return bool(_GAP.search(sentence))


def local_check(sentence: str, sources: Sequence[Source], question: str = "") -> LocalVerdict:
    """Whether the union of the sources has what the sentence names and most of its words.

    A sentence that says what the sources lack is taken as such (`gap`): words cannot show an absence, they only show
    where it is wrong.
    """
    kind: Kind = "gap" if says_gap(sentence) else "synthesis" if len(sources) > 1 else "statement"
    if kind == "gap":
        return LocalVerdict("supported", kind)
    text = " ".join(f"{source.about} {source.text}" for source in sources)
    words, beyond = _beyond(sentence, text, question)
    lost = Facts(f"{text} {question}").lacks(sentence)
    if lost or beyond > MOST_UNCOVERED:
        reason = f"not in the source: {', '.join(lost or words[:MOST_NAMED])}"
        return LocalVerdict("not_found", kind, (reason,), bool(lost), beyond)
    return LocalVerdict("supported", kind, beyond=beyond)


def _beyond(sentence: str, text: str, question: str) -> tuple[list[str], float]:
    """The words of a sentence that the text does not have, and their share of all."""
    said = Words(normal(sentence))
    known, asked = ({term for _, term in Words(normal(one)).content} for one in (text, question))
    weights = [OF_THE_QUESTION if term in asked else 1.0 for _, term in said.content]
    lost = [term not in known for _, term in said.content]
    share = sum(w for w, gone in zip(weights, lost, strict=True) if gone) / max(sum(weights), 1.0)
    words = dict.fromkeys(said.plain[place] for (place, _), gone in zip(said.content, lost, strict=True) if gone)
    return list(words), share
