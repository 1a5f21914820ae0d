"""Numbers that a statement gives for a measure: "the incubation period is 5.2 days".

A measure is known by the words that name it, without those that only say how it was reckoned ("mean", "estimated") and
without its head where others serve as well: "case-fatality rate" and "fatality ratio" are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from monjyu_assets.levels.tensions.clause_grammar import PARTS
from monjyu_assets.levels.tensions.quantities import Quantity, quantities
from monjyu_assets.levels.tensions.tension_side import Side
from monjyu_assets.levels.tensions.tension_words import GROUPS, UNSURE, directions, stem_of
from monjyu_assets.levels.tensions.told_words import amounts, lemmas, stems

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_HEADS = frozenset(
    ("rate", "ratio", "period", "time", "duration", "number", "proportion", "percentage", "interval", "risk", "index",
     "score", "value", "factor", "coefficient", "level", "length", "share", "life")
)  # fmt: skip
"""Heads that name a measure only with the words before them."""
_MEASURES = frozenset(
    ("prevalence", "incidence", "mortality", "fatality", "sensitivity", "specificity", "accuracy", "half-life",
     "seroprevalence", "survival", "efficacy", "effectiveness", "lifetime", "latency", "precision", "recall", "r0",
     "cfr", "auc", "power", "heritability", "lethality", "reliability", "viscosity", "density", "conductivity")
)  # fmt: skip
"""Nouns that name a measure by themselves."""
_SHORT = {"r0": ("reproduct",), "cfr": ("fatal",)}
"""Standard short names of measures, by the words that they stand for."""
_RECKONED_WORDS = (
    "mean median average estimated estimate overall basic total observed reported approximate crude initial "
    "case current typical maximum minimum high low typical recent new first second same different large small "
    "common corresponding respective final pooled early actual true expected real certain given above"
)
_RECKONED = frozenset(stem_of(word) for word in _RECKONED_WORDS.split())
_OF_THE_STUDY_WORDS = (
    "age follow response sample questionnaire participant respondent patient subject study population group p "
    "t sampling error significance confidence reynolds mach page case completion attrition dropout"
)
_OF_THE_STUDY = frozenset(stem_of(word) for word in _OF_THE_STUDY_WORDS.split())
"""Measures that each study has of its own."""
_GIVING = frozenset(
    ("be", "estimate", "report", "find", "range", "reach", "average", "equal", "calculate", "observe", "vary", "have",
     "remain", "exceed", "measure", "determine", "compute")
)  # fmt: skip
"""Verbs that may stand between a measure and its value."""
_CUTS = re.compile(r"[;:]\s|\b(?:by|than|compared|versus|vs|while|whereas|but|although|per)\b", re.IGNORECASE)
_GIVES = re.compile(
    r"\b(?:is|was|were|are|be|been|of|at|ranged?|ranging|ranges|reached|averaged|equal\w*)\b|[:=≈~(]|,\s*$"
)
_FARTHEST, _BESIDE = 90, 5
"""Characters between a measure and its value at most, and where no other value can be meant ("rate of 34%")."""
_SHARED_UNITS = frozenset(("%", "day", "sd", "m", "g", "mpa", "point"))
"""Units of a number whose statement says what it is of without the name of a measure."""
_FEWEST_TOLD = 3
_COULD_BE = re.compile(r"\bcould be\b")
_AT_A_RATE = re.compile(r"\b(?:per|each|every|apiece)\b", re.IGNORECASE)
_OF_THE_PEOPLE = frozenset(
    ("female", "male", "woman", "man", "girl", "boy", "respond", "interval", "follow", "follow-up")
)
"""Words of what each study's people are."""
_WITHOUT_UNIT = frozenset(("reproduct", "odd", "hazard"))
"""Stems of measures that have no unit; other bare numbers are mostly parameters of a study."""
_TIMES, _SHARES = frozenset(("period", "time", "duration", "interval", "half-life", "lifetime", "latency")), frozenset(
    ("rate", "prevalence", "incidence", "mortality", "fatality", "sensitivity", "specificity", "accuracy", "efficacy",
     "effectiveness", "proportion", "percentage", "seroprevalence", "cfr", "lethality", "recall", "precision")
)  # fmt: skip


def number_sides(doc: Doc, said: str) -> Iterator[Side]:
    """The measures of a statement, each with the one value or range that it gives for it. Several values of one measure
    are a range from the least to the greatest; where there are more of a unit than measures, none is read: which
    belongs to which is not sure. Intervals are taken from `said`: the parser does not read them. Where no measure has a
    value, the one share of the statement is of what all of it says."""
    text = doc.text
    if text.rstrip().endswith("?"):
        return
    wide = {one.point: one for one in quantities(said)}
    found = [_widened(one, wide) for one in quantities(text)]
    if not found or len(found) > 6:
        return
    sides = list(_measured(doc, found))
    sure = [one for one in found if one.sure]
    if len(sure) == 1:
        yield from sides
        yield from _of_all(doc, sure)
    else:
        yield from sides or _of_all(doc, [one for one in found if one.unit in _SHARED_UNITS])


def _widened(one: Quantity, wide: Mapping[tuple[float, float], Quantity]) -> Quantity:
    other = wide.get(one.point, one)
    if one.unit not in {"", other.unit}:
        return one
    return replace(one, low=other.low, high=other.high, unit=other.unit, sure=other.sure)


def _of_all(doc: Doc, found: Sequence[Quantity]) -> Iterator[Side]:
    """ "28% of first-year students dropped out": the measure is what the statement says."""
    shares = [one for one in found if one.unit != "day"] or found  # "after 12 weeks" is when
    if len(shares) != 1 or UNSURE.search(_COULD_BE.sub("was", doc.text)):
        return
    ways = {way for token in doc if (way := _changes(token))}
    if not shares[0].sure and (_AT_A_RATE.search(doc.text) or ways):
        return
    value = shares[0]
    words = [token for token in doc if not value.start <= token.idx < value.end]
    told = lemmas(words)
    if len(told) < _FEWEST_TOLD or _OF_THE_PEOPLE & {word.removesuffix("/v") for word in told}:
        return
    shown = doc.text[value.start : value.end].strip()
    of_whom = [token for token in words if _is_condition(token)]
    change = "".join(f" {way:+d}" for way in sorted(ways))  # a fall by 2% and one by 8%
    yield Side(
        "number", f"number {value.unit}{change}", 1, shown, "", (), stems(words), (), stems(of_whom), value.low,
        value.high, " ".join(word.removesuffix("/v") for word in told[:6]), told, (), amounts(words, doc[0]),
    )  # fmt: skip


def _changes(token: Token) -> int:
    """1 for a rise that is said, -1 for a fall, 0 for neither."""
    kind = None if any(c.dep_ == "prt" for c in token.children) else PARTS.get(token.pos_)
    found = directions().get((kind, token.lower_ if kind == "adj" else token.lemma_.casefold())) if kind else None
    said = found is not None and found.axis in {"amount", "worth", "time"} and token.dep_ != "amod"
    return found.sign if found is not None and said else 0


def _measured(doc: Doc, found: Sequence[Quantity]) -> Iterator[Side]:
    text = doc.text
    measures = [token for token in doc if _names_measure(token)]
    given = [(measure, value) for measure in measures if (value := _value_of(measure, measures, found, text))]
    for measure, value in given:
        like = [one for one in found if one.unit == value.unit]
        beside = 0 <= value.start - (measure.idx + len(measure)) <= _BESIDE
        if not beside and len(like) > sum(one.unit == value.unit for _, one in given):
            if len(given) > 1 or like[0] != value or any(_says_verb(token) for token in doc if token.idx >= value.end):
                continue
            value = replace(value, low=min(one.low for one in like), high=max(one.high for one in like))
        key = _key(measure)
        if not key or _OF_THE_STUDY & set(key) or not _fits(measure, key, value) or _supposed(measure, value, text):
            continue
        of = _of(doc, measure, value)
        of_whom = [token for token in of if _is_condition(token)]
        shown = text[value.start : value.end].strip()
        concept = doc[_phrase(measure)[0].i : measure.i + 1].text[:80]
        yield Side(
            "number", f"number {value.unit}", 1, shown, key[-1], key, stems(of), (), stems(of_whom),
            value.low, value.high, concept, lemmas(of), (), amounts(of, measure),
        )  # fmt: skip


def _supposed(measure: Token, value: Quantity, text: str) -> bool:
    """Whether the value is only thought possible, or taken as a case: "an R0 of less than 1 indicates"."""
    start = max(text.rfind(mark, 0, measure.idx) for mark in ",;:") + 1
    if UNSURE.search(text[start : value.end]):
        return True
    indefinite = any(child.lower_ in {"a", "an"} for child in measure.children)
    return indefinite and measure.dep_ == "nsubj" and measure.head.lemma_ in {"indicate", "mean", "imply", "suggest"}


def _is_condition(token: Token) -> bool:
    """Whether a word says of whom, where or when."""
    stem = stem_of(token.lemma_.casefold())
    named = token.pos_ == "PROPN" and token.text.istitle() and token.i > 0
    return named or (stem in GROUPS and (stem != "control" or token.tag_ == "NNS"))


def _names_measure(token: Token) -> bool:
    if token.pos_ not in {"NOUN", "PROPN"}:
        return False
    lemma = token.lemma_.casefold()
    if lemma in _MEASURES:
        return not (token.i + 1 < len(token.doc) and token.doc[token.i + 1].lemma_.casefold() in _HEADS)
    return lemma in _HEADS and len(_phrase(token)) > 1


def _phrase(measure: Token) -> list[Token]:
    """The words that name the measure: those right before it that hang on it."""
    start = measure.i
    while start > 0:
        before = measure.doc[start - 1]
        hyphen = before.text == "-" and start > 1
        if not (hyphen or (before.pos_ in {"NOUN", "ADJ", "PROPN"} and not before.like_num) or before.tag_ == "VBN"):
            break
        start -= 1
    return list(measure.doc[start : measure.i + 1])


def _key(measure: Token) -> tuple[str, ...]:
    lemma = measure.lemma_.casefold()
    if lemma in _SHORT:
        return _SHORT[lemma]
    own = [stem for stem in stems(_phrase(measure)) if stem not in _RECKONED]
    named = [stem for stem in own if stem != stem_of(lemma)]
    return tuple(sorted(named)) if lemma in _HEADS else tuple(sorted({*named, stem_of(lemma)}))


def _fits(measure: Token, key: Sequence[str], value: Quantity) -> bool:
    """Whether a measure of this name has values in this unit."""
    lemma = measure.lemma_.casefold()
    if not value.unit:
        return bool(_WITHOUT_UNIT & set(key))
    if lemma in _TIMES:
        return value.unit == "day"
    return value.unit == "%" if lemma in _SHARES else True


def _value_of(measure: Token, measures: Sequence[Token], found: Sequence[Quantity], text: str) -> Quantity | None:
    """The first value after the measure, where what stands between gives it; or one right before its name."""
    begin = _phrase(measure)[0].idx
    end = measure.idx + len(measure)
    before = [value for value in found if value.end <= begin]
    if before and not text[before[-1].end : begin].strip(" -") and before[-1].unit:
        return before[-1]
    for value in found:
        if value.start < end:
            continue
        gap = text[end : value.start]
        crossed = any(end <= other.idx < value.start for other in measures)
        linked = len(gap) <= _FARTHEST and _GIVES.search(gap) and not _CUTS.search(gap)
        return value if linked and not crossed and _only_gives(measure, value) else None
    return None


def _only_gives(measure: Token, value: Quantity) -> bool:
    """Whether the verbs between say what the measure is, and not that it changes."""
    between = (token for token in measure.doc[measure.i + 1 :] if token.idx < value.start)
    return all(token.lemma_.casefold() in _GIVING for token in between if _says_verb(token))


def _says_verb(token: Token) -> bool:
    return token.pos_ in {"VERB", "AUX"} and token.dep_ != "amod"


def _of(doc: Doc, measure: Token, value: Quantity) -> list[Token]:
    """What the measure is of: the other words of the statement."""
    own = {token.i for token in _phrase(measure)}
    return [
        token for token in doc
        if token.i not in own and not token.like_num and not value.start <= token.idx < value.end
    ]  # fmt: skip
