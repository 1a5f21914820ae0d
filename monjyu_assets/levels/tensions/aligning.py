"""Which words of two statements mean the same: by stem, by a list, by the vectors of the words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from monjyu_assets.levels.tensions.likeness import written_out
from monjyu_assets.levels.tensions.tension_words import GROUPS, contrasts, general_stems, measure_stems, stem_of
from monjyu_core.storage.rows.rows_levels import TensionSideRow

Near = Callable[[str, str], float]
"""The cosine of two words."""
SAME_WORDS = "same_words_en.txt"
BY_LIST, LEAST_NEAR = 0.9, 0.6
"""What two words count that a list calls the same, and the cosine from which their vectors do."""
IN_REST, IN_TITLE = 0.9, 0.7
"""What a word counts that stands in another clause of the other sentence, or in the title of its paper only."""
GENERAL_WEIGHT = 0.25
"""What a word counts that many claims share, whatever they are about."""
VERB_WEIGHT = 0.5
"""What a verb counts: much is said by "given", "underwent", "took part"."""
MOST_LOOKED_UP = 30
"""Words whose vectors are compared for a pair."""


@dataclass(frozen=True)
class Aligned:
    """How much of one side is found in the other, 0 to 1: by stem each word's `found`; `share` of all, weighed;
    `left`: words that say what it is about and are not found."""

    found: Mapping[str, float]
    share: float
    left: tuple[str, ...]

    @property
    def told(self) -> frozenset[str]:
        """The stems found that say what it is about."""
        return frozenset(stem for stem, strength in self.found.items() if strength > 0 and weight_of(stem) == 1)

    def of(self, stems: Iterable[str]) -> float:
        """The best that one of these stems is found."""
        return max((self.found.get(stem, 0.0) for stem in stems), default=0.0)


@lru_cache(maxsize=1)
def same_words() -> dict[str, frozenset[str]]:
    """By stem the stems that a list calls the same."""
    found: dict[str, set[str]] = {}
    for line in files(__package__).joinpath(SAME_WORDS).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            group = {stem_of(word) for word in line.split()}
            for stem in group:
                found.setdefault(stem, set()).update(group)
    return {stem: frozenset(group - {stem}) for stem, group in found.items()}


def aligned(one: TensionSideRow, other: TensionSideRow, near: Near) -> Aligned:
    """How much of the clause of `one` is found in the sentence of `other` and its paper's title."""
    own = _by_stem(written_out(one["words"], other["words"]))
    clause, rest = _by_stem(written_out(other["words"], one["words"])), _by_stem(other["wider"])
    title = set(other["topic"])
    found: dict[str, float] = {}
    for stem, word in own.items():
        strength = max(_meets(stem, word, clause, near), IN_REST * _meets(stem, word, rest, near))
        found[stem] = max(strength, IN_TITLE if stem in title else 0.0)
    weights = {stem: weight_of(stem) * (VERB_WEIGHT if word.endswith("/v") else 1.0) for stem, word in own.items()}
    whole = sum(weights.values())
    share = sum(found[stem] * weight for stem, weight in weights.items()) / whole if whole else 0.0
    left = tuple(
        stem
        for stem, word in own.items()
        if found[stem] < LEAST_NEAR and weights[stem] == 1 and not word.endswith("/v")
    )
    return Aligned(found, share, left)


def weight_of(stem: str) -> float:
    return GENERAL_WEIGHT if stem in general_stems() or stem in measure_stems() else 1.0


def _by_stem(words: Sequence[str]) -> dict[str, str]:
    return {stem_of(word.removesuffix("/v")): word for word in words}


def sentence_stems(side: TensionSideRow) -> set[str]:
    """The stems of the words of the other clauses of its sentence."""
    return set(_by_stem(side["wider"]))


def _meets(stem: str, word: str, there: Mapping[str, str], near: Near) -> float:
    if stem in there:
        return 1.0
    listed = same_words().get(stem, frozenset())
    if any(other in there for other in listed):
        return BY_LIST
    if weight_of(stem) < 1 or contrasts().get(stem, frozenset()) & there.keys():
        return 0.0
    best = 0.0
    for other, form in list(there.items())[:MOST_LOOKED_UP]:
        if weight_of(other) == 1 and not (stem in GROUPS and other in GROUPS):
            best = max(best, near(word.removesuffix("/v"), form.removesuffix("/v")))
    return best if best >= LEAST_NEAR else 0.0


def of_other_people(one: Collection[str], other: Collection[str]) -> bool:
    """Whether both say of whom it is, and it is of others."""
    first, second = ({stem for stem in some if stem in GROUPS} for some in (one, other))
    same = any(stem in second or same_words().get(stem, frozenset()) & second for stem in first)
    return bool(first) and bool(second) and not same
