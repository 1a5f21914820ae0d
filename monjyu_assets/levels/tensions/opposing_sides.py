"""Which sides of two statements oppose each other, and how plainly: a score from what the two alone say.

The score does not look at the rest of the collection, so that a pair keeps it whatever is added or deleted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from monjyu_assets.levels.tensions.aligning import (
    IN_TITLE,
    Aligned,
    Near,
    aligned,
    of_other_people,
    same_words,
    sentence_stems,
    weight_of,
)
from monjyu_assets.levels.tensions.likeness import same_names, share_a_name
from monjyu_assets.levels.tensions.tension_words import NONE, contrasts, effect_stems, stem_of
from monjyu_core.storage.rows.rows_levels import TensionSideRow

APART, RANGES_APART = 1.25, 1.1
"""Ratio from which two numbers of one measure do not go together, and the ends of two ranges."""
LEAST_SHARE, LEAST_BOTH = 0.5, 0.6
"""The share of each clause that the other says too, and the mean of both."""
LEAST_SHARE_OF_ALL = 0.7
"""The share where a number is of all that a statement says."""
ALIKE_SHARE, ALIKE_BOTH, ALIKE_OF_ALL = 0.4, 0.45, 0.5
"""The same shares of statements that are alike: what one names and the other leaves out, or calls by another word,
counts less there."""
MANY, ALIKE, ALIKE_NAMED = 4, 0.6, 0.45
"""Alike are those that have so many words in common and vectors so near (cosine), or a name and vectors less near."""
WORTH = 0.85
"""What it counts that one says "lowered" and the other "improved"."""
FEWEST = 2
"""Words that say what it is about and that both have."""
LEAST_SCORE, ALIKE_SCORE = 0.5, 0.4
"""Pairs below are not kept."""
COMPARED, OTHER_PLACE, OTHER_WORD = 0.85, 0.85, 0.93
"""What a pair counts of which one side only compares with something, and one whose sides each name what the other does
not, for each such word."""
NAMED, BY_TITLE = 0.9, 0.7
"""What two numbers of one measure share whose statements name the same thing, and whose statements and titles do."""
_EFFECTS = frozenset(("amount", "worth", "relation", "some", "none", "time"))


@dataclass(frozen=True)
class Opposition:
    """`score` 0 to 1. `kind`: `direction`, `negation` or `numbers`."""

    kind: str
    score: float
    first: TensionSideRow
    second: TensionSideRow


def opposition(
    ones: Sequence[TensionSideRow], others: Sequence[TensionSideRow], cosine: float, near: Near
) -> Opposition | None:
    """The plainest opposition of two statements whose vectors are so near (cosine); `near` compares words. None where
    none is plain enough."""
    found = [made for one in ones for other in others if (made := _opposed(one, other, cosine, near))]
    best = max(found, key=lambda made: made.score, default=None)
    if best is None or (best.kind != "numbers" and _agree(ones, others)):
        return None
    return best


def _agree(ones: Sequence[TensionSideRow], others: Sequence[TensionSideRow]) -> bool:
    """Whether they say the same in another of their sides, or one says both: "it rises with A and falls with B"."""
    return any(
        one["kind"] == other["kind"] == "direction"
        and one["axis"] == other["axis"]
        and one["head"] == other["head"]
        and one["sign"] == other["sign"] in (1, -1)
        and set(one["target"]) & set(other["target"]) >= {one["head"]}
        for one in ones
        for other in others
    )


def _opposed(one: TensionSideRow, other: TensionSideRow, cosine: float, near: Near) -> Opposition | None:
    numbers = "number" in (one["kind"], other["kind"])
    strength = _apart(one, other) if numbers else _strength(one, other)
    if (
        not strength
        or not (same_names(one["names"], other["names"]) or _names_told(one, other) or _names_told(other, one))
        or _counterparts(one, other)
        or _other_terms(one, other)
    ):
        return None
    if not numbers and not _shares_a_word(one, other):
        return None
    there, back = aligned(one, other, near), aligned(other, one, near)
    alike = _alike(one, other, min(len(there.told), len(back.told)), cosine, numbers)
    if not (_same_measure if numbers else _same_thing)(one, other, there, back, alike):
        return None
    strength *= one["weight"] * other["weight"]
    strength *= COMPARED if bool(one["versus"]) != bool(other["versus"]) else 1.0
    share = (there.share + back.share) / 2
    if numbers and one["target"]:
        share = NAMED if share_a_name(one["names"], other["names"]) else BY_TITLE
        strength *= OTHER_PLACE if set(one["around"]) != set(other["around"]) else 1.0
    else:
        strength *= (OTHER_WORD if alike else OTHER_PLACE) ** min(len(there.left), len(back.left))
    kind = "numbers" if numbers else "direction" if one["sign"] * other["sign"] == -1 else "negation"
    score = strength * (0.8 * share + 0.2 * max(cosine, 0.0))
    return Opposition(kind, score, one, other) if score >= (ALIKE_SCORE if alike else LEAST_SCORE) else None


def _strength(one: TensionSideRow, other: TensionSideRow) -> float:
    """How plainly the signs are opposed, 0 to 1."""
    signs = {one["sign"], other["sign"]}
    if len(signs) == 1:
        return 0.0
    if one["axis"] == other["axis"]:
        return 1.0 if signs == {1, -1} or NONE in signs else 0.0
    axes = {one["axis"], other["axis"]}
    if signs == {1, -1} and axes == {"amount", "worth"} and not _unwanted_stems() & {*one["target"], *other["target"]}:
        return WORTH
    return 0.95 if NONE in signs and axes <= _EFFECTS else 0.0


@lru_cache(maxsize=1)
def _unwanted_stems() -> frozenset[str]:
    """What is better when there is less of it: "improved pain" is "lowered pain"."""
    words = (
        "risk mortality death error failure pain symptom disease infection stress anxiety depression cost"
        " price loss damage injury delay latency noise waste pollution bias complication burden severity fatigue"
        " relapse recurrence pressure cholesterol glucose time duration drag emission deficit disorder impairment"
    )
    return frozenset(stem_of(word) for word in words.split())


def _apart(one: TensionSideRow, other: TensionSideRow) -> float:
    """Whether both give ranges of one measure that neither meet nor nearly do."""
    if one["kind"] != other["kind"] or one["axis"] != other["axis"]:
        return 0.0
    ranges = sorted((side["low"] or 0.0, side["high"] or 0.0) for side in (one, other))
    (_, below), (above, _) = ranges
    least = RANGES_APART if all(low < high for low, high in ranges) else APART
    return float(0 < below < above and not math.isinf(above) and above / below >= least)


def _names_told(one: TensionSideRow, other: TensionSideRow) -> bool:
    """Whether the other says in words what the names of one stand for."""
    there = other["read"].casefold()
    return any(" " in name and name.casefold() in there for name in one["names"])


def _other_terms(one: TensionSideRow, other: TensionSideRow) -> bool:
    """Whether both name people, amounts or what they compare with, and not the same."""
    if of_other_people(_stems(one), _stems(other)):
        return True
    for name in ("amounts", "versus"):
        first, second = set(one[name]), set(other[name])
        if first and second and not first & second:
            return True
    return False


def _stems(side: TensionSideRow) -> set[str]:
    return {*side["target"], *side["agent"], *side["around"], *side["versus"]}


def _shares_a_word(one: TensionSideRow, other: TensionSideRow) -> bool:
    """Whether they have a word in common that says what they are about: the vectors of words cost."""
    first, second = _stems(one), _stems(other)
    return any(weight_of(stem) == 1 for stem in first & (second | set(other["topic"]))) or any(
        weight_of(stem) == 1 for stem in second & set(one["topic"])
    )


def _counterparts(one: TensionSideRow, other: TensionSideRow) -> bool:
    """Whether one speaks of the counterpart of what the other speaks of: "internal pressure", "external pressure"."""
    first, second = _stems(one), _stems(other)
    return any(
        word not in second and (there := contrasts().get(word, frozenset()) & second) and not there & first
        for word in first
    )


def _alike(one: TensionSideRow, other: TensionSideRow, told: int, cosine: float, numbers: bool) -> bool:
    """Whether so much else is the same that a word of one that the other lacks need not mean another thing. Words alone
    tell that of measured values only: effects of many things on one share most of their words."""
    named = told >= FEWEST + 1 and share_a_name(one["names"], other["names"])
    return (numbers and told >= MANY and cosine >= ALIKE) or (named and cosine >= ALIKE_NAMED)


def _same_thing(one: TensionSideRow, other: TensionSideRow, there: Aligned, back: Aligned, alike: bool) -> bool:
    """Whether what goes up or down is the same, and what that depends on."""
    least, both = (ALIKE_SHARE, ALIKE_BOTH) if alike else (LEAST_SHARE, LEAST_BOTH)
    if min(there.share, back.share) < least or (there.share + back.share) / 2 < both:
        return False
    for side, by, found in ((one, other, there), (other, one, back)):
        if len(found.told) < FEWEST or not _head_found(side, found, alike):
            return False
        if not found.told - set(side["target"]) and not _shares_elsewhere(side, by):
            return False
    return not _turned_round(one, other)


def _shares_elsewhere(side: TensionSideRow, by: TensionSideRow) -> bool:
    """Whether what it depends on stands in another clause: "X was higher in those who took A"."""
    there = _stems(by) | sentence_stems(by)
    return any(weight_of(stem) == 1 for stem in sentence_stems(side) & there - set(by["target"]))


def _head_found(side: TensionSideRow, found: Aligned, alike: bool) -> bool:
    """Whether what goes up or down is in the other: its head, or most of what stands with it ("marks of students in the
    examination", "how students performed in the examination")."""
    head = side["head"]
    told = [stem for stem in side["target"] if weight_of(stem) == 1 and stem not in effect_stems()]
    there = [stem for stem in told if found.found.get(stem, 0.0) > 0]
    if weight_of(head) < 1 or head in effect_stems():
        return bool(there) if told else found.of(side["target"]) > 0
    if found.found.get(head, 0.0) > (IN_TITLE if alike else 0) or (
        len(there) >= FEWEST and 3 * len(there) >= 2 * len(told)
    ):
        return True
    return alike and 2 * len(there) >= len(told) and found.of(there) > IN_TITLE


def _turned_round(one: TensionSideRow, other: TensionSideRow) -> bool:
    """ "Higher in A than in B", "lower in B than in A": they agree. Where one compares and the other names both without
    saying which is compared, that is not known."""

    def shared(first: str, second: str) -> int:
        return len(set(one[first]) & set(other[second]))  # type: ignore[literal-required]

    if one["versus"] and other["versus"]:
        crossed = shared("versus", "agent") + shared("agent", "versus")
        return crossed >= shared("versus", "versus") + shared("agent", "agent")
    for side, by in ((one, other), (other, one)):
        against = {stem for stem in side["versus"] if weight_of(stem) == 1} - set(side["agent"])
        named = _stems(by) | sentence_stems(by)
        if against and against <= named:
            return True
    return False


def _same_measure(one: TensionSideRow, other: TensionSideRow, there: Aligned, back: Aligned, alike: bool) -> bool:
    """Whether two numbers are of the same measure of the same thing."""
    if not one["target"] or not other["target"]:  # of all that the statement says
        least = ALIKE_OF_ALL if alike and _measured(one) and _measured(other) else LEAST_SHARE_OF_ALL
        close = there.share + back.share >= 2 * least and min(there.share, back.share) >= ALIKE_SHARE
        people = one["around"] and other["around"] and not set(one["around"]) & set(other["around"])
        return len(there.told) >= FEWEST and close and not (one["target"] or other["target"] or people)
    if not _same_key(one["target"], other["target"]):
        return False
    if one["around"] and other["around"] and not set(one["around"]) & set(other["around"]):
        return False  # of other people, places or times
    if share_a_name(one["names"], other["names"]):
        return True
    first, second = {*one["agent"], *one["topic"]}, {*other["agent"], *other["topic"]}
    return len([stem for stem in first & second if weight_of(stem) == 1]) >= FEWEST


def _measured(side: TensionSideRow) -> bool:
    """Whether an interval is given for the number."""
    low, high = side["low"] or 0.0, side["high"] or 0.0
    return 0 < low < high < math.inf


def _same_key(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether measures have one name: "fatality" and "mortality" are one."""
    first, second = set(one), set(other)
    return all(
        any(word == there or there in same_words().get(word, ()) for there in those)
        for these, those in ((first, second), (second, first))
        for word in these
    )
