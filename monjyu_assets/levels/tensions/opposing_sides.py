"""Which sides of two claims oppose each other, and how plainly: a score from what the two claims alone say.

The score does not look at the rest of the collection, so that a pair keeps it whatever is added or deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from monjyu_assets.levels.tensions.tension_words import NONE, effect_stems, general_stems
from monjyu_core.storage.rows_levels import TensionSideRow

GENERAL_WEIGHT = 0.25
"""What a word counts that many claims share, whatever they are about."""
APART = 1.25
"""Ratio from which two numbers of one measure do not go together."""
LEAST_TARGET = 0.45
FEWEST, FEWEST_OF_NUMBERS = 2, 3
"""Words of content that both share at least, of what they speak of and what it depends on."""
LEAST_SCORE = 0.5
"""Pairs below are not kept."""
LEAST_AGENT, UNSAID, NEAR_UNSAID = 0.25, 0.4, 0.65
"""Of what it depends on: how alike at least; what counts where one side does not say it, and how near both must be."""
WITHIN = 0.5
"""What a pair of one paper counts: mostly both hold, of different groups or times."""
COMPARED = 0.8
"""What a pair counts of which one side only compares with something."""
OTHER_NAMES = 0.6
"""What a pair counts whose claims name different things."""


@dataclass(frozen=True)
class Opposition:
    """`score` 0 to 1. `kind`: `direction`, `negation` or `numbers`."""

    kind: str
    score: float
    first: TensionSideRow
    second: TensionSideRow


def opposition(
    ones: Sequence[TensionSideRow], others: Sequence[TensionSideRow], near: float, *, same_paper: bool = False
) -> Opposition | None:
    """The plainest opposition of two claims whose vectors are so near (cosine); None where none is plain enough."""
    found = [made for one in ones for other in others if (made := _opposed(one, other, near, same_paper))]
    return max((made for made in found if made.score >= LEAST_SCORE), key=lambda made: made.score, default=None)


def _opposed(one: TensionSideRow, other: TensionSideRow, near: float, same_paper: bool) -> Opposition | None:
    strength = _strength(one, other)
    likeness = _alike(one, other, near) if strength else 0.0
    if not likeness:
        return None
    strength *= one["weight"] * other["weight"] * (WITHIN if same_paper else 1.0) * _names(one, other)
    both_ways = one["sign"] * other["sign"] == -1
    strength *= COMPARED if bool(one["versus"]) != bool(other["versus"]) else 1.0
    kind = "numbers" if one["kind"] == "number" else "direction" if both_ways else "negation"
    return Opposition(kind, strength * (0.65 * likeness + 0.35 * near), one, other)


def _strength(one: TensionSideRow, other: TensionSideRow) -> float:
    """How plainly the signs are opposed, 0 to 1."""
    if "number" in (one["kind"], other["kind"]):
        return float(one["kind"] == other["kind"] and one["axis"] == other["axis"] and _apart(one, other))
    signs = {one["sign"], other["sign"]}
    if one["axis"] == other["axis"]:
        if signs == {1, -1}:
            return 1.0
        return 0.9 if NONE in signs and len(signs) == 2 else 0.0
    if "statement" in (one["kind"], other["kind"]) or NONE not in signs or len(signs) == 1:
        return 0.0
    effects = {"amount", "worth", "some", "none"}
    return 0.85 if {one["axis"], other["axis"]} <= effects else 0.0


def _apart(one: TensionSideRow, other: TensionSideRow) -> bool:
    """Whether the ranges neither meet nor nearly do."""
    ranges = sorted((side["low"] or 0.0, side["high"] or 0.0) for side in (one, other))
    (_, below), (above, _) = ranges
    return 0 < below < above and above / below >= APART


def _alike(one: TensionSideRow, other: TensionSideRow, near: float) -> float:
    """How much both are said of the same thing, 0 to 1; 0 where the heads differ."""
    numbers = one["kind"] == "number"
    shared = set(one["target"]) & set(other["target"])
    if one["head"] != other["head"] and (numbers or not {one["head"], other["head"]} & shared):
        return 0.0
    if one["head"] != other["head"] and {one["head"], other["head"]} & effect_stems():
        return 0.0  # a large effect on X is no large X
    target = alike(one["target"], other["target"], strict=numbers)
    if target < LEAST_TARGET:
        return 0.0
    if not _specific(one["target"], other["target"]):
        return 0.0
    everything = ([*one["target"], *one["agent"]], [*other["target"], *other["agent"]])
    if _specific(*everything) < (FEWEST_OF_NUMBERS if numbers else FEWEST):
        return 0.0
    if numbers:
        around = alike(*everything)
        return 0.6 * target + 0.4 * around
    if one["versus"] and other["versus"] and alike(one["versus"], other["agent"]) > alike(one["agent"], other["agent"]):
        return 0.0  # "higher in A than in B", "lower in B than in A": they agree
    agent = alike(one["agent"], other["agent"]) if one["agent"] and other["agent"] else UNSAID
    if one["agent"] and other["agent"] and (agent < LEAST_AGENT or not _specific(one["agent"], other["agent"])):
        return 0.0
    if (not one["agent"] or not other["agent"]) and near < NEAR_UNSAID:
        return 0.0
    return 0.55 * target + 0.45 * agent


def _names(one: TensionSideRow, other: TensionSideRow) -> float:
    """Less where each names what the other does not, and they share no name."""
    first, second = set(one["names"]), set(other["names"])
    return OTHER_NAMES if first and second and not first & second else 1.0


def _specific(one: Collection[str], other: Collection[str]) -> int:
    """How many words both share that not every paper has."""
    return len((set(one) & set(other)) - general_stems())


def alike(one: Collection[str], other: Collection[str], *, strict: bool = False) -> float:
    """How much two phrases share, 0 to 1: of the shorter one and of both; `strict`: of both only."""
    first, second = set(one), set(other)
    shared = _weight(first & second)
    if not shared:
        return 0.0
    both = shared / _weight(first | second)
    return both if strict else (both + shared / min(_weight(first), _weight(second))) / 2


def _weight(words: Collection[str]) -> float:
    return sum(GENERAL_WEIGHT if word in general_stems() else 1.0 for word in words)
