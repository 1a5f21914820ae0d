"""What turns a sentence's meaning round: negation, opposites, words that claim everything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

NEGATIONS = frozenset(
    (
        "not", "no", "never", "none", "nor", "neither", "without", "cannot", "n't", "hardly", "rarely", "lack", "lacks",
        "lacked", "lacking", "fail", "fails", "failed", "absence", "absent", "exclude", "excluded", "except", "unable",
        "nobody", "nothing", "unlike", "instead", "rather", "avoid", "avoids", "avoided", "free", "non", "barely",
        "unavailable", "unaffected", "unchanged", "insufficient", "prevent", "prevents", "prevented",
    )
)  # fmt: skip
_ABSOLUTE = re.compile(
    r"\b(?:all|every|everyone|always|never|prov(?:e|es|ed|en)|proof|guarantee\w*|completely|entire(?:ly)?|definitiv\w+|"
    r"conclusive\w*|eliminat\w+|universal\w*|certainly|undoubted\w*|unequivocal\w*|exclusively|invariabl\w+|nobody|"
    r"no one|impossible|perfect\w*|whenever|regardless|cures?|definitely|solves?|inevitabl\w+|undeniabl\w+|"
    r"irrefutabl\w+|worldwide|everywhere|established|doubt)\b"
    r"|すべて|全て|全員|全国|必ず|常に|決して|唯一|完全|絶対|間違いなく|証明|確実|あらゆる|いつも|一切|世界中|誰も|断定|不可欠",
    re.I,
)
_NEGATED_JA = re.compile(r"(?:ない|なく|なかっ|ません|ず[、。に]|ぬ|ざる|無い|無く|なし|ないまま|ずに)")
_NOT_NEGATED_JA = re.compile(
    r"(?:ほかならない|に過ぎない|にすぎない|だけでなく|のみならず|ばかりでなく|ばかりか|かもしれない|なければならない|少なくない|少ない|少なく|やむを得ない|危ない)"
)


def _pairs(name: str) -> list[tuple[tuple[str, ...], ...]]:
    lines = files(__package__).joinpath(name).read_text(encoding="utf-8").splitlines()
    return [tuple(tuple(side.split()) for side in line.split("|")) for line in lines if not line.startswith("#")]


def _sides() -> dict[str, set[tuple[int, int]]]:
    found: dict[str, set[tuple[int, int]]] = {}
    for number, pair in enumerate(_pairs("opposites_en.txt")):
        for side, words in enumerate(pair):
            for word in words:
                found.setdefault(word, set()).add((number, side))
    return found


SIDES = _sides()
"""Word to the (pair, side) that it stands on."""
SIDES_JA = _pairs("opposites_ja.txt")
DIRECTION = re.compile(rf"\b(?:{'|'.join(sorted(SIDES, key=len, reverse=True))})\b", re.I)
DIRECTION_JA = re.compile(
    "|".join(sorted({word for pair in SIDES_JA for side in pair for word in side}, key=len, reverse=True))
)


def absolutes(text: str) -> set[str]:
    """The words that claim everything or certainty, cut so that forms of one word agree."""
    return {match.group().lower()[:5] for match in _ABSOLUTE.finditer(text)}


def sides_ja(word: str) -> set[tuple[int, int]]:
    """The (pair, side) that a Japanese word of direction stands on."""
    return {(number, side) for number, pair in enumerate(SIDES_JA) for side in (0, 1) if word in pair[side]}


def negated_ja(text: str) -> int:
    """How many predicates are negated."""
    return len(_NEGATED_JA.findall(_NOT_NEGATED_JA.sub("", text)))


def negated_words(words: list[str], reach: int = 4) -> Iterator[int]:
    """The places of the words that a negation before them reaches, within the clause."""
    for place, word in enumerate(words):
        if word in NEGATIONS:
            for step in range(1, reach + 1):
                if place + step >= len(words) or words[place + step] in {
                    ",",
                    ";",
                    "but",
                    "and",
                    "which",
                    "that",
                    "while",
                }:
                    break
                yield place + step
