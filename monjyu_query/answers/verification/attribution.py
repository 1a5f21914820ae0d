"""What figures, names and words of direction are said of, here and in the sources."""

from __future__ import annotations

import re
from collections.abc import Sequence

from monjyu_query.answers.verification.alignment import Words
from monjyu_query.answers.verification.contexts import alike, anchors, context_of
from monjyu_query.answers.verification.exact_facts import NAME
from monjyu_query.answers.verification.numbers import SMALL, Figure, same_value
from monjyu_query.answers.verification.polarity import DIRECTION, DIRECTION_JA, SIDES, sides_ja

LEAST_ALIKE = 0.25
"""How alike two contexts must be to be the same place."""
CLAUSES = re.compile(r"[,;:]?\s+(?:and|while|whereas|but|although|though|however)\s+|[;,]\s+|[、。；]")
_JOINED = re.compile(r"\b(?:both|and|between|than|unlike|like|as well as|compared)\b|と|も", re.I)


def moved_figures(
    said: Words,
    matched: Sequence[tuple[Figure, list[tuple[Words, Figure]]]],
    there: Sequence[tuple[Words, Figure]],
) -> float:
    """How much better a figure of the sentence fits another figure's place in the source than its own, or two of them
    each other's."""
    contexts = [context_of(said, figure.start, figure.end) for figure, _ in matched]
    here = [_fit(context, own) for context, (_, own) in zip(contexts, matched, strict=True)]
    worst = 0.0
    for one, (figure, own) in enumerate(matched):
        others = [o for o in there if not same_value(figure, o[1]) and o[1].percent == own[0][1].percent]
        weight = 1.0 if figure.exact or figure.value > SMALL else 0.7
        worst = max(worst, weight * (_fit(contexts[one], others) - here[one]))
        for two in range(one):
            if not same_value(figure, matched[two][0]):
                crossed = _fit(contexts[one], matched[two][1]) + _fit(contexts[two], own)
                worst = max(worst, crossed - here[one] - here[two])
    return max(0.0, worst)


def _fit(context: dict[str, float], places: Sequence[tuple[Words, Figure]]) -> float:
    return max((alike(context, context_of(text, one.start, one.end)) for text, one in places), default=0.0)


def moved_names(said: Words, pieces: Sequence[Words]) -> float:
    """How much better what stands around a name fits another name's place in the sources."""
    there = [anchor for piece in pieces for anchor in anchors(piece, NAME)]
    own = anchors(said, NAME)
    spoken = {anchor.word for anchor in own}
    worst = 0.0
    for anchor in own:
        here = max(
            (alike(anchor.context, other.context) for other in there if _one_name(anchor.word, other.word)),
            default=None,
        )
        if here is None:
            continue
        for other in there:
            if not _one_name(anchor.word, other.word) and other.word not in anchor.context:
                gain = alike(anchor.context, other.context) - here
                worst = max(worst, gain * (1.0 if other.word not in spoken else 0.8))
    return worst


def merged_sources(said: Words, sources: Sequence[Words]) -> float:
    """How far a clause names what only one source has and says of it what only another one has, 0 to 1."""
    if len(sources) < 2:
        return 0.0
    terms = [{term for _, term in source.content} for source in sources]
    texts = [source.text.casefold() for source in sources]
    worst = 0.0
    for clause in map(Words, CLAUSES.split(said.text)):
        names = {match.group().casefold() for match in NAME.finditer(clause.text)}
        own = {n for n, text in enumerate(texts) if names and all(name in text for name in names)}
        rest = [term for place, term in clause.content if clause.plain[place] not in names]
        if not own and names and not _JOINED.search(clause.text):
            sides = {
                n
                for name in names
                for n, text in enumerate(texts)
                if name in text and sum(name in t for t in texts) == 1
            }
            worst = max(worst, 0.6 if len(sides) > 1 else 0.0)
        if not own or len(own) == len(texts) or len(rest) < 2:
            continue
        shares = [sum(term in known for term in rest) / len(rest) for known in terms]
        worst = max(worst, max(shares[n] for n in range(len(texts)) if n not in own) - max(shares[n] for n in own))
    return min(1.0, worst)


def _one_name(one: str, other: str) -> bool:
    return one == other or one in other or other in one


def turned_directions(said: Words, pieces: Sequence[Words]) -> tuple[float, int, list[str]]:
    """How much better a word of direction fits the place of its opposite; how many such words the sources do not have;
    those that are turned."""
    there = [
        (anchor, _side_of(anchor.word, wide=piece.wide))
        for piece in pieces
        for anchor in anchors(piece, _pattern(piece))
    ]
    opposite, new = 0.0, 0
    words = []
    for anchor in anchors(said, _pattern(said)):
        sides = _side_of(anchor.word, wide=said.wide)
        same = [alike(anchor.context, other.context) for other, known in there if known & sides]
        other_sides = {(pair, 1 - side) for pair, side in sides}
        against = [
            alike(anchor.context, other.context) for other, known in there if known & other_sides and not known & sides
        ]
        gain = max(against, default=0.0) - max(same, default=0.0)
        if gain > opposite and max(against, default=0.0) > LEAST_ALIKE:
            opposite = gain
            words.append(anchor.word)
        if not same:
            new += 1
    return opposite, new, list(dict.fromkeys(words))


def _pattern(text: Words) -> re.Pattern[str]:
    return DIRECTION_JA if text.wide else DIRECTION


def _side_of(word: str, *, wide: bool) -> set[tuple[int, int]]:
    return sides_ja(word) if wide else SIDES.get(word, set())
