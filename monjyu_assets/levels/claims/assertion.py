"""How much a sentence asserts: results, comparisons, numbers, contributions; not questions, plans or instructions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from monjyu_assets.levels.phrases.prose import is_prose

KINDS = ("comparison", "result", "contribution", "limitation", "definition", "statement")

_NUMBER = re.compile(
    r"\d+(?:\.\d+)?\s?(?:%|％|percent|fold|times|倍|点|件|人|students|participants|points)|[<>=≈]\s?\d|\b\d+\.\d+\b"
)


def _words(*stems: str) -> str:
    return "(?:" + "|".join(stems) + ")"


_FINDS = _words(
    "shows?", "showed", "shown", "find", "found", r"demonstrat\w{1,4}", r"indicat\w{1,4}", r"reveal\w{0,3}",
    r"suggest\w{0,3}", r"confirm\w{0,3}", r"observ\w{1,4}", r"conclud\w{1,4}", "reports?", "reported",
)  # fmt: skip
_CHANGES = _words(
    "improve[sd]?", "improving", "improvement", "increase[sd]?", "increasing", "decrease[sd]?", "decreasing",
    "reduce[sd]?", "reducing", "reduction", "achieve[sd]?", "achieving", "significant(?:ly)?", r"correlat\w{1,4}",
)  # fmt: skip
_EVIDENCE = _words(
    "we", "results?", "findings?", "data", "experiments?", "evaluation", "analysis", "survey", "study", "studies",
    "evidence", "tests?", "students",
)  # fmt: skip
_RESULT = re.compile(rf"\b{_EVIDENCE}\b[^.;]{{0,60}}?\b{_FINDS}\b|\b{_CHANGES}\b", re.I)
_MORE = _words(
    "more", "less", "better", "worse", "faster", "slower", "higher", "lower", "larger", "smaller", "greater", "fewer",
    "easier", "rather",
)  # fmt: skip
_COMPARED = re.compile(
    rf"\b{_MORE}\b[^.;]{{0,60}}?\bthan\b|\bcompared (?:to|with)\b|\boutperform|\bversus\b|\bvs\.|\bin contrast\b|"
    r"\bunlike\b|\bwhereas\b|\bsuperior\b|\binferior\b|\bexceed",
    re.I,
)
_OWN = r"(?:we|this (?:paper|work|article|study|package|library|tool|course|module|resource|software)|our \w{1,20})"
_MAKES = _words(
    "present", "propos", "introduc", "develop", "describ", "provid", "offer", "contribut", "design", "implement",
    "releas", "creat", "built", "build", "enabl", "allow",
)  # fmt: skip
_CONTRIBUTED = re.compile(rf"\b{_OWN}\b[^.;]{{0,50}}?\b{_MAKES}\w{{0,4}}\b", re.I)
_LIMITED = re.compile(
    r"\b(?:limitations?|limited to|cannot|unable|fails? to|do(?:es)? not|did not|lacks?|lacking|only a few|"
    r"drawbacks?|difficult(?:y|ies)|insufficient)\b",
    re.I,
)
_DEFINED = re.compile(
    r"^(?:An? |The )?[A-Z][^,.;]{1,60}? (?:is|are) (?:an?|the|one of)\b|\b(?:is|are) (?:defined as|called|known as)\b"
)
_CAUSED = re.compile(
    r"\b(?:because|therefore|thus|hence|due to|leads? to|results? in|consequently|as a result)\b", re.I
)
_NOT_SAID = re.compile(
    r"\?\s*$|^(?:see|note|click|open|run|install|let us|let's|consider|recall|figure|fig\.|table|algorithm|section|"
    r"appendix|copyright|https?:|in (?:section|chapter)|for (?:details|example)|e\.g\.)\b|"
    r"\b(?:future work|will be|would be|we plan|we hope|is organi[sz]ed as follows|remainder of|thank|"
    r"acknowledg\w{1,6}|licen[sc]e[ds]?|licensor|licensee|shown in (?:figure|fig|table))\b",
    re.I,
)
_JAPANESE = (
    (
        "comparison",
        re.compile(r"より(?:も)?[^。、]{0,12}?(?:高|低|大き|小さ|速|遅|優|良|多|少)|上回|下回|比べ|比較して|に対して"),
    ),
    ("result", re.compile(r"(?:示|分か|わか|確認|得られ|明らか|達成|向上|改善|減少|増加)(?:し|さ|せ|っ|れ|た|する)")),
    (
        "contribution",
        re.compile(r"(?:本稿|本論文|本研究|我々|われわれ|提案手法)[^。]{0,60}(?:提案|開発|構築|示す|述べる|実装)"),
    ),
    ("limitation", re.compile(r"(?:できない|困難|課題|問題(?:が|で)|限界|しかし|不十分)")),
    ("definition", re.compile(r"とは[^。]{2,80}(?:である|をいう|を指す)|と(?:呼ぶ|呼ばれる|いう。)")),
)
_JA_NOT_SAID = re.compile(r"か。$|[?？]$|図\s?\d|表\s?\d|謝辞|今後の課題|予定である|参照")
_SECTIONS = {"abstract": 0.1, "results": 0.12, "conclusion": 0.1, "discussion": 0.08, "appendix": -0.2, "other": 0.0}


@dataclass(frozen=True)
class Assertion:
    """`confidence`, 0 to 1: how surely the sentence asserts something citable."""

    kind: str
    confidence: float


def assertion(text: str, section_type: str, *, japanese: bool) -> Assertion | None:
    """What a sentence asserts; None for one that asserts nothing (a question, a plan, a heading, a list of numbers)."""
    if japanese:
        return _japanese(text, section_type)
    if not is_prose(text) or _NOT_SAID.search(text[:600]):
        return None
    signs = {
        "comparison": bool(_COMPARED.search(text)),
        "result": bool(_RESULT.search(text)),
        "contribution": bool(_CONTRIBUTED.search(text)),
        "limitation": bool(_LIMITED.search(text)),
        "definition": bool(_DEFINED.search(text)),
    }
    return _scored(signs, bool(_NUMBER.search(text)), bool(_CAUSED.search(text)), section_type)


def _japanese(text: str, section_type: str) -> Assertion | None:
    if not is_prose(text, japanese=True) or not text.endswith("。") or _JA_NOT_SAID.search(text):
        return None
    signs = {kind: bool(pattern.search(text)) for kind, pattern in _JAPANESE}
    return _scored(signs, bool(_NUMBER.search(text)), "ため" in text or "により" in text, section_type)


def _scored(signs: dict[str, bool], number: bool, cause: bool, section_type: str) -> Assertion:
    """Adds up the signs of an assertion; a plain statement in the abstract stays just below the default threshold."""
    kind = next((kind for kind in KINDS if signs.get(kind)), "statement")
    score = 0.25 + 0.15 * number + 0.08 * cause + _SECTIONS.get(section_type, 0.04)
    score += {"result": 0.25, "comparison": 0.25, "contribution": 0.2, "limitation": 0.12, "definition": 0.12}.get(
        kind, 0
    )
    score += 0.08 * (sum(signs.values()) > 1)
    return Assertion(kind, round(min(1.0, score), 3))
