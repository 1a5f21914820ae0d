"""What kind of claim a sentence makes, and how surely: results, methods, limitations, background, future work,
definitions; not questions, instructions, thanks or licences.

English by a small learned classifier over the cues of `claim_cues` (weights: `claim_kinds.json`), Japanese by rules.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from monjyu_assets.levels.claims.claim_cues import NAMES, cues_of
from monjyu_assets.levels.phrases.prose import is_prose
from monjyu_core.errors import ConfigurationError
from monjyu_core.text.standing_alone import stands_alone

KINDS = ("result", "method", "limitation", "background", "future_work", "definition")
NO_CLAIM = "none"

_NUMBER = re.compile(r"\d+(?:\.\d+)?\s?(?:%|％|倍|点|件|人)|[<>=≈]\s?\d|\d+\.\d+")
_JAPANESE = (
    (
        "result",
        re.compile(
            r"より(?:も)?[^。、]{0,12}?(?:高|低|大き|小さ|速|遅|優|良|多|少)|上回|下回|比べ|比較して"
            r"|(?:示|分か|わか|確認|得られ|明らか|達成|向上|改善|減少|増加)(?:し|さ|せ|っ|れ|た|する)"
        ),
    ),
    (
        "method",
        re.compile(r"(?:本稿|本論文|本研究|我々|われわれ|提案手法)[^。]{0,60}(?:提案|開発|構築|示す|述べる|実装)"),
    ),
    ("limitation", re.compile(r"(?:できない|困難|課題|問題(?:が|で)|限界|不十分)")),
    ("definition", re.compile(r"とは[^。]{2,80}(?:である|をいう|を指す)|と(?:呼ぶ|呼ばれる|いう。)")),
)
_JA_NOT_SAID = re.compile(r"か。$|[?？]$|図\s?\d|表\s?\d|謝辞|予定である|参照")
_JA_SCORES = {"result": 0.3, "method": 0.25, "limitation": 0.2, "definition": 0.2}
_JA_SECTIONS = {"abstract": 0.1, "results": 0.12, "conclusion": 0.1, "discussion": 0.08}


@dataclass(frozen=True)
class Assertion:
    """`confidence`, 0 to 1: the chance that the sentence makes a claim of this kind."""

    kind: str
    confidence: float


@lru_cache(maxsize=1)
def _classifier() -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.float64]]:
    """The kinds, their weights (kinds, signs) and biases."""
    found = json.loads(files(__package__).joinpath("claim_kinds.json").read_text(encoding="utf-8"))
    if tuple(found["signs"]) != NAMES:
        raise ConfigurationError("claim_kinds.json was learned for other signs.", "Run training/claims.py.")
    return tuple(found["kinds"]), np.array(found["weights"]), np.array(found["bias"])


def assertion(
    text: str, section_type: str, heading: str = "", title: str = "", *, japanese: bool = False
) -> Assertion | None:
    """What a sentence claims; None where it claims nothing, or says nothing without the sentence before it."""
    if japanese:
        return _japanese(text, section_type)
    if not is_prose(text) or not stands_alone(text) or text.rstrip(' "”)').endswith("?"):
        return None
    kinds, weights, bias = _classifier()
    scores = weights @ np.array(cues_of(text, section_type, heading, title)) + bias
    chances = np.exp(scores - scores.max())
    best = int(chances.argmax())
    if kinds[best] == NO_CLAIM:
        return None
    return Assertion(kinds[best], round(float(chances[best] / chances.sum()), 3))


def _japanese(text: str, section_type: str) -> Assertion | None:
    if not is_prose(text, japanese=True) or not text.endswith("。") or _JA_NOT_SAID.search(text):
        return None
    if not stands_alone(text):
        return None
    kind = next((kind for kind, pattern in _JAPANESE if pattern.search(text)), "background")
    kind = "future_work" if "今後" in text else kind
    score = 0.35 + _JA_SCORES.get(kind, 0.0) + _JA_SECTIONS.get(section_type, 0.04)
    return Assertion(kind, round(min(1.0, score + 0.15 * bool(_NUMBER.search(text))), 3))
