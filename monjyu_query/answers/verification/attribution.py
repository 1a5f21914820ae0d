"""Detects figures, names and words of direction that refer to something else in the sentence than in its sources."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from monjyu_core.language.packs import cues
from monjyu_query.answers.verification.exact_facts import NAME, Words, word_list
from monjyu_query.answers.verification.numbers import SMALL, Figure, same_value

# The context of a word in a text, and the similarity of two contexts.
FAR = 12
"""The approximate number of words on either side that show what a figure or a name belongs to."""
JOINTS = re.compile(cues("attribution.joints"))
"""Matches divisions of a sentence: words across a division are less related."""


@dataclass(frozen=True)
class Anchor:
    """A name or word of direction, with the weights of the terms around it."""

    word: str
    context: dict[str, float]


def context_of(sentence: Words, start: int, end: int) -> dict[str, float]:
    """Terms of a sentence around a position, with weights that fall with distance and at each division between."""
    weights: dict[str, float] = {}
    for place, term in sentence.content:
        match = sentence.found[place]
        if match.start() < end and match.end() > start:
            continue
        low, high = (match.end(), start) if match.end() <= start else (end, match.start())
        between = sentence.text[low:high]
        distance = len(between) / (4 if sentence.wide else 6)
        joints = len(JOINTS.findall(between))
        if distance <= FAR:
            weights[term] = max(weights.get(term, 0.0), 1.0 / (1 + 0.35 * distance) / (1 + 2.0 * joints))
    return weights


def alike(one: dict[str, float], other: dict[str, float]) -> float:
    """The cosine of two contexts, 0 to 1."""
    norm = np.sqrt(sum(v * v for v in one.values()) * sum(v * v for v in other.values()))
    return float(sum(weight * other.get(term, 0.0) for term, weight in one.items()) / norm) if norm else 0.0


def anchors(sentence: Words, pattern: re.Pattern[str]) -> list[Anchor]:
    """Every match of a pattern with its context."""
    return [
        Anchor(match.group().casefold().removesuffix("'s"), context_of(sentence, match.start(), match.end()))
        for match in pattern.finditer(sentence.text)
    ]


# Words that reverse a sentence's meaning: negation, opposites, universal words.
NEGATIONS = frozenset(
    (
        "not", "no", "never", "none", "nor", "neither", "without", "cannot", "n't", "hardly", "rarely", "lack", "lacks",
        "lacked", "lacking", "fail", "fails", "failed", "absence", "absent", "exclude", "excluded", "except", "unable",
        "nobody", "nothing", "unlike", "instead", "rather", "avoid", "avoids", "avoided", "free", "non", "barely",
        "unavailable", "unaffected", "unchanged", "insufficient", "prevent", "prevents", "prevented",
    )
)  # fmt: skip
_ABSOLUTE = re.compile(cues("attribution.absolute"), re.I)
_NEGATED_UNSPACED = re.compile(cues("attribution.negated_unspaced"))
_NOT_NEGATED_UNSPACED = re.compile(cues("attribution.not_negated_unspaced"))


def _pairs(name: str) -> list[tuple[tuple[str, ...], ...]]:
    return [tuple(tuple(side.split()) for side in line.split("|")) for line in word_list(name)]


def _sides() -> dict[str, set[tuple[int, int]]]:
    found: dict[str, set[tuple[int, int]]] = {}
    for number, pair in enumerate(_pairs("opposites_en.txt")):
        for side, words in enumerate(pair):
            for word in words:
                found.setdefault(word, set()).add((number, side))
    return found


SIDES = _sides()
"""The pairs of opposites (number, side) of each English word."""
SIDES_UNSPACED = _pairs("opposites_ja.txt")
DIRECTION = re.compile(rf"\b(?:{'|'.join(sorted(SIDES, key=len, reverse=True))})\b", re.I)
DIRECTION_UNSPACED = re.compile(
    "|".join(sorted({word for pair in SIDES_UNSPACED for side in pair for word in side}, key=len, reverse=True))
)


def absolutes(text: str) -> set[str]:
    """The words that claim totality or certainty, truncated so that forms of one word agree."""
    return {match.group().lower()[:5] for match in _ABSOLUTE.finditer(text)}


def negated_unspaced(text: str) -> int:
    """The number of negated predicates."""
    return len(_NEGATED_UNSPACED.findall(_NOT_NEGATED_UNSPACED.sub("", text)))


def negated_words(words: list[str]) -> Iterator[int]:
    """The positions of the words that a preceding negation reaches: up to four, within the clause."""
    for place, word in enumerate(words):
        reached = range(place + 1, min(place + 5, len(words))) if word in NEGATIONS else ()
        yield from takewhile(lambda n: words[n] not in {",", ";", "but", "and", "which", "that", "while"}, reached)


LEAST_ALIKE = 0.25
"""The minimum similarity of two contexts that are about the same thing."""
CLAUSES = re.compile(r"[,;:]?\s+(?:and|while|whereas|but|although|though|however)\s+|[;,]\s+|[、。；]")
_JOINED = re.compile(cues("attribution.joined"), re.I)


def moved_figures(
    said: Words, matched: Sequence[tuple[Figure, list[tuple[Words, Figure]]]], there: Sequence[tuple[Words, Figure]]
) -> float:
    """The largest amount by which a figure of the sentence fits the context of another figure in the sources better
    than its own context there, or by which two figures fit better if exchanged."""
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
    """The largest amount by which a name fits the context of another name in the sources better than its own."""
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
    """How far a clause names what only one source has and states about it what only another one has, 0 to 1."""
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
    """The largest amount by which a word of direction fits the context of its opposite in the sources better than its
    own; the number of the sentence's words of direction that the sources lack; the reversed words."""
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
    return DIRECTION_UNSPACED if text.wide else DIRECTION


def _side_of(word: str, *, wide: bool) -> set[tuple[int, int]]:
    """The pairs of opposites (number, side) of a word of direction."""
    if not wide:
        return SIDES.get(word, set())
    return {(number, side) for number, pair in enumerate(SIDES_UNSPACED) for side in (0, 1) if word in pair[side]}
