"""Which sides of two statements oppose each other, and how plainly: a score from what the two alone say.

The score does not look at the rest of the collection, so that a pair keeps it whatever is added or deleted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from monjyu_assets.levels.tensions.likeness import Likeness, alike, same_names, specific, with_short_forms, written_out
from monjyu_assets.levels.tensions.tension_words import NONE, counterparts, effect_stems, general_stems, measure_stems
from monjyu_core.storage.rows.rows_levels import TensionSideRow

APART, RANGES_APART = 1.25, 1.1
"""Ratio from which two numbers of one measure do not go together, and the ends of two ranges."""
FEWEST = 2
"""Words of content that both share at least, of what they speak of and of what it depends on."""
LEAST_COVER, LEAST_JACCARD = 0.5, 0.3
"""Of the words of both clauses: the share of the shorter one, and of both together, that they have in common."""
LEAST_TARGET, LEAST_AGENT, LEAST_OTHER, LEAST_OF_OTHERS = 0.6, 0.5, 0.4, 0.67
"""Share of what it is said of, and of what that depends on, that the other's clause has too: of one side, of each,
and of what that depends on where each has words that the other has not."""
LEAST_SCORE = 0.5
"""Pairs below are not kept."""
COMPARED = 0.8
"""What a pair counts of which one side only compares with something."""
OTHER_PLACE = 0.8
"""What a pair counts whose sides each name conditions that the other does not."""
_EFFECTS = frozenset(("amount", "worth", "relation", "some", "none"))


@dataclass(frozen=True)
class Opposition:
    """`score` 0 to 1. `kind`: `direction`, `negation` or `numbers`."""

    kind: str
    score: float
    first: TensionSideRow
    second: TensionSideRow


def opposition(ones: Sequence[TensionSideRow], others: Sequence[TensionSideRow], near: float) -> Opposition | None:
    """The plainest opposition of two claims whose vectors are so near (cosine); None where none is plain enough."""
    found = [made for one in ones for other in others if (made := _opposed(one, other, near))]
    best = max(found, key=lambda made: made.score, default=None)
    if best is None or best.score < LEAST_SCORE or _agree(ones, others):
        return None
    return best


def _agree(ones: Sequence[TensionSideRow], others: Sequence[TensionSideRow]) -> bool:
    """Whether they say the same in another of their sides, or one says both: "it rises with A and falls with B"."""
    both = [
        (one, other)
        for one in ones for other in others
        if one["kind"] == other["kind"] == "direction" and one["axis"] == other["axis"] and one["head"] == other["head"]
    ]  # fmt: skip
    return any(one["sign"] == other["sign"] in (1, -1) and _alike(one, other) is not None for one, other in both)


def _opposed(one: TensionSideRow, other: TensionSideRow, near: float) -> Opposition | None:
    numbers = "number" in (one["kind"], other["kind"])
    strength = _apart(one, other) if numbers else _strength(one, other)
    if not strength or not same_names(one["names"], other["names"]) or _counterparts(one, other):
        return None
    likeness = _same_measure(one, other) if numbers else _alike(one, other)
    if likeness is None:
        return None
    strength *= one["weight"] * other["weight"]
    strength *= COMPARED if bool(one["versus"]) != bool(other["versus"]) else 1.0
    strength *= OTHER_PLACE if likeness.conditions_differ else 1.0
    both_ways = one["sign"] * other["sign"] == -1
    kind = "numbers" if numbers else "direction" if both_ways else "negation"
    shared = 0.5 * likeness.jaccard + 0.5 * likeness.cover
    return Opposition(kind, strength * (0.75 * shared + 0.25 * max(near, 0.0)), one, other)


def _strength(one: TensionSideRow, other: TensionSideRow) -> float:
    """How plainly the signs are opposed, 0 to 1."""
    signs = {one["sign"], other["sign"]}
    if len(signs) == 1:
        return 0.0
    if one["axis"] == other["axis"]:
        return 1.0 if signs == {1, -1} or NONE in signs else 0.0
    axes = {one["axis"], other["axis"]}
    return 0.9 if NONE in signs and axes <= _EFFECTS else 0.0


def _apart(one: TensionSideRow, other: TensionSideRow) -> float:
    """Whether both give ranges of one measure that neither meet nor nearly do."""
    if one["kind"] != other["kind"] or one["axis"] != other["axis"] or set(one["target"]) != set(other["target"]):
        return 0.0
    ranges = sorted((side["low"] or 0.0, side["high"] or 0.0) for side in (one, other))
    (_, below), (above, _) = ranges
    least = RANGES_APART if all(low < high for low, high in ranges) else APART
    return float(0 < below < above and not math.isinf(above) and above / below >= least)


def _same_measure(one: TensionSideRow, other: TensionSideRow) -> Likeness | None:
    """How much a measure of one name is of the same thing."""
    first, second = [*one["agent"], *one["topic"]], [*other["agent"], *other["topic"]]
    first, second = with_short_forms(first, second)
    shared = specific(first, second) - measure_stems()
    named = bool(set(one["names"]) & set(other["names"]))
    if len(shared) < FEWEST and not (named and shared):
        return None
    if not (specific(one["agent"], second) | specific(first, other["agent"])) - measure_stems():
        return None  # only their titles share it
    if one["around"] and other["around"] and not set(one["around"]) & set(other["around"]):
        return None  # of other people, places or times
    found = alike(one["agent"], other["agent"])
    return replace(
        found,
        jaccard=max(found.jaccard, 0.4 + 0.3 * named),
        cover=max(found.cover, 0.6 + 0.2 * named),
        conditions_differ=set(one["around"]) != set(other["around"]),
    )


def _alike(one: TensionSideRow, other: TensionSideRow) -> Likeness | None:
    """How much both are said of the same thing; None where it is another."""
    if one["head"] != other["head"] and {one["head"], other["head"]} & effect_stems():
        return None  # a large effect on X is no large X
    first, second = with_short_forms(_clause(one), _clause(other))
    if len(specific(first, second)) < FEWEST:
        return None
    found = alike(first, second)
    if found.cover < LEAST_COVER or found.jaccard < LEAST_JACCARD:
        return None
    if one["versus"] and other["versus"] and _turned_round(one, other):
        return None
    both_ways = one["sign"] * other["sign"] == -1
    if not _same_head(one, other, both_ways=both_ways) or not _both_ends(one, other):
        return None
    return replace(found, conditions_differ=_other_conditions(one, other))


def _clause(side: TensionSideRow) -> list[str]:
    return list(dict.fromkeys([*side["target"], *side["agent"], *side["around"]]))


def _counterparts(one: TensionSideRow, other: TensionSideRow) -> bool:
    """Whether one speaks of the counterpart of what the other speaks of: "internal pressure", "external pressure"."""
    first, second = set(_clause(one)), set(_clause(other))
    return any(
        word not in second and counterparts().get(word) in second and counterparts()[word] not in first
        for word in first
    )


def _same_head(one: TensionSideRow, other: TensionSideRow, *, both_ways: bool) -> bool:
    """Whether what is up or down here is there: heads that every paper has ("outcome", "level") say little."""
    there = [set(written_out(_clause(side), _clause(by))) for side, by in ((one, other), (other, one))]
    if both_ways:
        there = [set(one["target"]), set(other["target"])]
    heads = [(one["head"], there[1]), (other["head"], there[0])]
    return all(head in words or head in general_stems() for head, words in heads)


def _turned_round(one: TensionSideRow, other: TensionSideRow) -> bool:
    """ "Higher in A than in B", "lower in B than in A": they agree."""
    straight = alike(one["versus"], other["versus"]).cover + alike(one["agent"], other["agent"]).cover
    crossed = alike(one["versus"], other["agent"]).cover + alike(one["agent"], other["versus"]).cover
    return crossed >= straight


def _both_ends(one: TensionSideRow, other: TensionSideRow) -> bool:
    """Whether both what it is said of and what that depends on are shared: one end alone is another finding."""
    shares, agents, unlike = [], [], 0
    for side, theirs in ((one, _clause(other)), (other, _clause(one))):
        target, agent = written_out(side["target"], theirs), written_out(side["agent"], theirs)
        there = set(written_out(theirs, _clause(side)))
        rest = [word for word in written_out(_clause(side), theirs) if word not in target]
        if not specific(rest, there):
            return False
        shares.append(alike(target, there).cover_of_first)
        if agent and not set(agent) <= there:
            unlike += 1
        agents.append(alike(agent, there).cover_of_first if agent else LEAST_AGENT)
    if (
        max(shares) < LEAST_TARGET
        or min(shares) < LEAST_OTHER
        or max(agents) < LEAST_AGENT
        or min(agents) < LEAST_OTHER
    ):
        return False
    if unlike == len(agents) and max(agents) < LEAST_OF_OTHERS:
        return False  # "statin therapy", "aspirin therapy"
    if one["sign"] * other["sign"] != -1:
        return True
    mine, others = with_short_forms(one["target"], other["target"])
    return bool(specific(mine, others)) and alike(mine, others).cover >= LEAST_TARGET


def _other_conditions(one: TensionSideRow, other: TensionSideRow) -> bool:
    """Whether each names conditions that the other does not."""
    first, second = set(_clause(one)), set(_clause(other))
    return bool(set(one["around"]) - second - general_stems()) and bool(set(other["around"]) - first - general_stems())
