"""The first stage of the check: what the words of the texts tell."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from monjyu_query.answers.verification.features import NAMES, Signs, Source, signs_of

Verdict = Literal["supported", "partly", "contradicted", "not_found"]
"""What the sources say of a sentence."""
Kind = Literal["statement", "synthesis", "gap"]
"""Of one source; of several together; that the sources do not say something."""

MOST_UNCOVERED = 0.6
"""Share of its words that a sentence may have beyond its sources, however little else speaks against it."""
CLEAR = 0.2
"""Support by words below which a sentence is refuted whatever a model says of it: of 423 labelled ones 22 % of the
false and 1 % of the faithful (`bench/bench_knowledge.py`)."""
CONTRADICTING = frozenset({"moved_number", "moved_name", "negation", "opposite"})
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
class LocalVerdict:
    """`support`: 0 to 1, calibrated on sentences that were not learned from. `reasons`: what speaks against it.
    `beyond`: share of its words that the sources do not have."""

    verdict: Verdict
    kind: Kind
    support: float
    reasons: tuple[str, ...] = ()
    beyond: float = 0.0

    @property
    def clear(self) -> bool:
        """Whether words refute it so clearly that no model is heard on it."""
        return self.verdict != "supported" and self.support < CLEAR


@lru_cache(maxsize=1)
def _weights() -> dict[str, float]:
    text = files(__package__).joinpath("check_weights.json").read_text(encoding="utf-8")
    weights: dict[str, float] = json.loads(text)["weights"]
    return weights


def says_gap(sentence: str) -> bool:
    """Whether a sentence says that the sources do not say something."""
    return bool(_GAP.search(sentence))


def local_check(sentence: str, sources: Sequence[Source], question: str = "") -> LocalVerdict:
    """Whether the union of the sources supports the sentence, as far as words show.

    A sentence that says what the sources lack is taken as such (`gap`): words cannot show an absence, they only show
    where it is wrong.
    """
    signs = signs_of(sentence, sources, question)
    kind: Kind = "gap" if says_gap(sentence) else "synthesis" if len(sources) > 1 else "statement"
    if kind == "gap":
        return LocalVerdict("supported", kind, 1.0)
    support = support_of(signs)
    beyond = signs.values["uncovered"]
    if support >= 0.5 and beyond <= MOST_UNCOVERED:
        return LocalVerdict("supported", kind, support, beyond=beyond)
    worst = max(NAMES, key=lambda name: signs.values[name] * -_weights()[name])
    verdict: Verdict = "contradicted" if worst in CONTRADICTING else "not_found"
    return LocalVerdict(verdict, kind, support, tuple(signs.reasons), beyond)


def support_of(signs: Signs) -> float:
    """The chance that a sentence with these signs is supported: `1 / (1 + exp(-(bias + weights · signs)))`."""
    weights = _weights()
    score = weights["bias"] + sum(weights[name] * value for name, value in signs.values.items())
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, score))))
