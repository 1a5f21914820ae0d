"""Numbers that a claim gives for a measure: "the incubation period is 5.2 days"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from monjyu_assets.levels.tensions.clause_grammar import as_written, phrase_words, stem, stems
from monjyu_assets.levels.tensions.tension_side import Side

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_NUMBER = r"(?<![\w.,-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.,-])\d+(?:\.\d+)?"
_VALUE = re.compile(
    rf"(?P<low>{_NUMBER})(?:\s?(?:-|–|to|and|±)\s?(?P<high>\d+(?:\.\d+)?))?\s?[- ]?"
    r"(?P<unit>%|percent|per cent|days?|hours?|h\b|minutes?|min\b|weeks?|months?|years?|nm|mm|cm|km|μm|µm|kb|bp|kDa"
    r"|mg|kg|°C|nucleotides|amino acids|fold|million|billion|thousand)?",
    re.IGNORECASE,
)
_SAME = {
    "percent": ("%", 1.0), "per cent": ("%", 1.0), "day": ("day", 1.0), "week": ("day", 7.0), "month": ("day", 30.4),
    "year": ("day", 365.25), "hour": ("day", 1 / 24), "h": ("day", 1 / 24), "minute": ("day", 1 / 1440),
    "min": ("day", 1 / 1440), "mm": ("m", 1e-3), "cm": ("m", 1e-2), "km": ("m", 1e3), "nm": ("m", 1e-9),
    "μm": ("m", 1e-6), "µm": ("m", 1e-6), "mg": ("g", 1e-3), "kg": ("g", 1e3), "kb": ("nt", 1e3), "bp": ("nt", 1.0),
    "nucleotide": ("nt", 1.0), "million": ("", 1e6), "billion": ("", 1e9), "thousand": ("", 1e3),
}  # fmt: skip
MEASURES = frozenset(
    [
        "rate",
        "period",
        "time",
        "duration",
        "ratio",
        "prevalence",
        "incidence",
        "risk",
        "number",
        "size",
        "length",
        "half-life",
        "proportion",
        "percentage",
        "mortality",
        "fatality",
        "sensitivity",
        "specificity",
        "accuracy",
        "probability",
        "interval",
        "diameter",
        "weight",
        "concentration",
        "temperature",
        "seroprevalence",
        "survival",
        "frequency",
        "efficacy",
        "effectiveness",
        "identity",
        "homology",
        "coverage",
        "lifetime",
        "latency",
        "speed",
        "dose",
        "load",
        "cost",
        "sum",
        "genome",
        "r0",
        "constant",
        "threshold",
        "yield",
        "growth",
        "share",
    ]
)
_OF_THE_STUDY = frozenset(("age", "follow", "response", "sample", "questionnaire", "participant", "respondent", "p"))
_GIVING = frozenset(
    ("have", "find", "show", "report", "observe", "estimate", "give", "yield", "reach", "achieve", "be")
)
_WITHOUT_UNIT = frozenset(("reproduct", "r0", "odd", "hazard"))
"""Stems of measures that have no unit; other bare numbers are mostly parameters of a study."""
_STATED = frozenset(("be", "range", "average", "reach", "estimate", "equal", "remain", "exceed", "vary", "report"))


def number_sides(doc: Doc) -> Iterator[Side]:
    """The measures of a claim with the one value or range that it gives for them. A claim with several values for
    different groups is left out: which belongs to which, the parse does not say surely."""
    if doc.text.rstrip().endswith("?"):
        return
    found = [match for match in _VALUE.finditer(doc.text) if _is_value(match, doc.text)]
    units = {_unit(match)[0] for match in found}
    for match in found:
        unit, factor = _unit(match)
        alone = sum(_unit(other)[0] == unit for other in found) == 1
        if not alone or len(units) > 3:
            continue
        token = next((t for t in doc if t.idx <= match.start("low") < t.idx + len(t)), None)
        share = _share(token) if token is not None and unit == "%" else None
        measure = share[0] if share else _measure(token) if token is not None else None
        if measure is None:
            continue
        span = [w for w in phrase_words(measure) if not w.like_num]
        words = stems(span)
        if _OF_THE_STUDY & set(words) or (not unit and not _WITHOUT_UNIT & set(words)):
            continue
        low = float(match["low"].replace(",", "")) * factor
        high = float(match["high"]) * factor if match["high"] and "±" not in match[0] else low
        rest = share[1] if share else [w for w in doc if w.i not in {one.i for one in span} and not w.like_num]
        shown = match[0].strip()
        yield Side(
            "number", f"number {unit}", 1, shown, stem(measure), words, stems(rest), (), min(low, high),
            max(low, high), as_written(span),
        )  # fmt: skip


_DETECTED = frozenset(
    ("detect", "find", "identify", "observe", "report", "see", "present", "occur", "confirm", "isolate")
)


def _share(number: Token) -> tuple[Token, list[Token]] | None:
    """What was found in a share of something: "X was detected in 32% of Y": X and Y."""
    unit = number.head if number.head.lower_ in {"%", "percent"} else number
    of = [end for prep in unit.children if prep.lower_ == "of" for end in prep.children if end.dep_ == "pobj"]
    into = unit.head
    if into.lower_ not in {"in", "for"} or into.pos_ != "ADP" or into.head.lemma_ not in _DETECTED:
        return None
    subjects = [c for c in into.head.children if c.dep_ in {"nsubj", "nsubjpass"} and c.pos_ in {"NOUN", "PROPN"}]
    around = [w for c in into.head.children if c.dep_ == "prep" and c != into for w in c.subtree]
    return (subjects[0], [word for end in of for word in end.subtree] + around) if subjects else None


def _is_value(match: re.Match[str], text: str) -> bool:
    before = text[max(0, match.start() - 12) : match.start()]
    if re.search(r"(?:\b[pP]\s?[<=>≤]\s?|\bn\s?=\s?|CI\W{0,3}|±\s?|table |figure |fig\.? |-)$", before, re.IGNORECASE):
        return False
    year = not match["unit"] and re.fullmatch(r"(?:19|20)\d\d", match["low"])
    return not year


def _unit(match: re.Match[str]) -> tuple[str, float]:
    name = (match["unit"] or "").casefold()
    return _SAME.get(name) or _SAME.get(name.removesuffix("s")) or (name.removesuffix("s"), 1.0)


def _measure(number: Token) -> Token | None:
    """The measure that a sentence says a number of: "the rate is N", "had a rate of N". A measure that is only a
    condition ("at a rate of N") is none."""
    token = number
    for _ in range(6):
        head = token.head
        if token.dep_ == "ROOT":
            return None
        if _is_measure(head) and head.i < number.i:
            verb = head.head
            said = head.dep_ in {"dobj", "attr"} and verb.lemma_ in _GIVING
            return head if said or head.dep_ == "ROOT" or (head.dep_ == "nsubj" and verb.lemma_ in _STATED) else None
        if head.pos_ in {"VERB", "AUX"}:
            if head.lemma_ not in _STATED:
                return None
            subjects = [c for c in head.children if c.dep_ in {"nsubj", "nsubjpass"}]
            named = [s for s in subjects if _is_measure(s)]
            return named[0] if named else None
        token = head
    return None


def _is_measure(token: Token) -> bool:
    return token.pos_ in {"NOUN", "PROPN"} and token.lemma_.casefold() in MEASURES
