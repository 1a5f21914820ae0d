"""Whether a source says what a generated sentence says: shared terms, shared numbers, nearness of meaning.

No check of words sees a negation that was turned round; it sees a sentence whose substance stands in no source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from monjyu_core.text.quotes import foreign_addresses

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
ENOUGH_TERMS = 0.5
"""Weighted share of a sentence's terms that one sentence of a source must have."""
ENOUGH_TWO = 0.65
"""The same for two sentences of one source together, which share more by chance."""


@dataclass(frozen=True)
class Support:
    """`places` are the source sentences (at most two) that say it best, `share` (0-1) what they have of its terms."""

    places: tuple[int, ...]
    share: float
    enough: bool


def find_support(
    sentence: str,
    terms: Sequence[str],
    sources: Sequence[frozenset[str]],
    texts: Sequence[str],
    weights: Mapping[str, float],
) -> Support:
    """The best one or two of the source sentences (their terms and texts, in parallel) for a generated sentence.

    A number or an address of the sentence that the chosen sources lack means no support, however alike the words are.
    `weights` (idf) of terms not among them are 1.
    """
    own = frozenset(terms)
    total = sum(weights.get(term, 1.0) for term in own)
    if not own or not total or not sources:
        return Support((), 0.0, enough=False)

    def share(have: frozenset[str]) -> float:
        return sum(weights.get(term, 1.0) for term in own & have) / total

    first = max(range(len(sources)), key=lambda place: share(sources[place]))
    best = share(sources[first])
    if best >= ENOUGH_TERMS and same_facts(sentence, texts[first]):
        return Support((first,), best, enough=True)
    second = max(range(len(sources)), key=lambda place: share(sources[first] | sources[place]))
    both = share(sources[first] | sources[second])
    places = tuple(sorted({first, second}))
    together = f"{texts[first]} {texts[second]}"
    return Support(places, both, enough=both >= ENOUGH_TWO and same_facts(sentence, together))


def same_facts(sentence: str, source: str) -> bool:
    """Whether the source has all numbers and addresses of the sentence."""
    return _numbers(sentence) <= _numbers(source) and not foreign_addresses(sentence, source)


def _numbers(text: str) -> set[str]:
    """Numbers without separators of thousands, small counts aside (a sentence may say "2 studies" of two)."""
    found = {match.group().rstrip(".,").replace(",", "") for match in _NUMBER.finditer(text)}
    return {number for number in found if len(number) > 1}
