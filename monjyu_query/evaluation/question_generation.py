"""Generates questions with gold sentences from the structure of a collection, by kind.

- `fact`: two or three phrases that occur together in only one sentence, which is the gold.
- `relation`: the two phrases of an edge of the noun graph. Gold: the sentences that contain both, 3 to 20 from at
  least two papers.
- `community`: three phrases of a community. Gold: the sentences that contain two of them, within the same limits.
- `citation`: a work that at least two papers cite. Gold: the sentences that cite it, within the same limits.
- `unanswerable`: two phrases that occur together in no paper. No gold.

Each kind uses a phrase at most once or twice (`_ASKED`). Equal seeds produce equal questions.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeVar

from monjyu_core.language.packs import Texts, listed
from monjyu_core.text.language import language_of_name
from monjyu_core.values import Values
from monjyu_query.evaluation import Kind
from monjyu_query.evaluation.question_structure import Phrase, Sentence, Structure, Work

T = TypeVar("T")
FEWEST_GOLD, MOST_GOLD, FEWEST_PAPERS = 3, 20, 2
_FACT_SHARE = 0.5
"""The share of a sentence's letters that its question may repeat."""
_TRIED_PHRASES = 8
_HUB = (30, 0.025)
"""A phrase is not used if it occurs in more sentences than the larger of this number and this share of all."""
_COMMUNITY_PHRASES = 3
_LONGEST_TITLE = 150
_ASKED: dict[Kind, int] = {"fact": 1, "relation": 2, "community": 2, "citation": 1, "unanswerable": 1}
"""The maximum number of questions about one phrase."""

_PAIR = re.compile(r"(?:(?<=^)|(?<=, )|(?<= and ))(?!and\b)([a-z]{3,}) (?!and\b)([a-z]{3,})(?=$|,| and )")

Made = tuple[str, list[Sentence], list[str]]
"""Text, gold, and the subject of the question (phrases, a title)."""


def generate(structure: Structure, kinds: Sequence[Kind], count: int, seed: int) -> list[Values]:
    """Return up to `count` questions of each kind, with `id`, `kind`, `text`, `paraphrase`, and `gold`, a list of
    `paper_id` and `sentence`."""
    questions: list[Values] = []
    for kind in kinds:
        rng = random.Random(f"{kind} {seed}")
        used: Counter[str] = Counter()
        made = 0
        for text, gold, about in _MAKERS[kind](structure, rng):
            if made == count:
                break
            if all(used[name] < _ASKED[kind] for name in about):
                used.update(about)
                made += 1
                evidence = [{"paper_id": sentence.paper_id, "sentence": sentence.text} for sentence in gold]
                other = paraphrased(kind, text)
                record = {"id": f"{kind}-{made}", "kind": kind, "text": text, "paraphrase": other, "gold": evidence}
                questions.append(record)
    return questions


def paraphrased(kind: Kind, text: str) -> str:
    """Return the question in the next template of its kind, with its names reordered ("student feedback" as "feedback
    of student"), so that a search for neighbouring words alone finds less."""
    for frames in map(str.splitlines, Texts("generated").every(kind).values()):
        for n, frame in enumerate(frames):
            match = re.fullmatch(re.sub(r"\\\{\d?\\\}", "(.+)", re.escape(frame)), text)
            if match:
                turned = [_PAIR.sub(r"\2 of \1", part) for part in match.groups()]
                return frames[(n + 1) % len(frames)].format(*turned)
    return text


def _facts(structure: Structure, rng: random.Random) -> Iterator[Made]:
    phrases = _askable(structure, structure.phrases)
    for sentence in _shuffled(rng, structure.sentences):
        inside = [phrase for phrase in phrases if phrase.occurs_in(sentence.folded)]
        some = _shuffled(rng, inside)[:_TRIED_PHRASES]
        for chosen in (*combinations(some, 3), *combinations(some, 2)):
            fits = sum(len(phrase.surface) for phrase in chosen) <= _FACT_SHARE * len(sentence.text)
            if fits and _apart(chosen) and len(structure.sentences_with(chosen)) == 1:
                yield _asked("fact", chosen, rng), [sentence], [sentence.text, *(phrase.key for phrase in chosen)]
                break


def _relations(structure: Structure, rng: random.Random) -> Iterator[Made]:
    for pair in _shuffled(rng, structure.edges):
        chosen = _askable(structure, pair)
        gold = structure.sentences_with(chosen) if len(chosen) == len(pair) and _apart(chosen) else []
        if _enough(gold):
            yield _asked("relation", chosen, rng), gold, list(pair)


def _communities(structure: Structure, rng: random.Random) -> Iterator[Made]:
    for members in _shuffled(rng, structure.communities):
        phrases = _askable(structure, members)
        for chosen in combinations(_shuffled(rng, phrases)[:_TRIED_PHRASES], _COMMUNITY_PHRASES):
            gold = structure.sentences_with(chosen, 2) if _apart(chosen) else []
            if _enough(gold) and all(any(p.occurs_in(s.folded) for s in gold) for p in chosen):
                yield _asked("community", chosen, rng), gold, [phrase.key for phrase in chosen]
                break


def _citations(structure: Structure, rng: random.Random) -> Iterator[Made]:
    for work in _shuffled(rng, structure.works):
        if _enough(work.citing) and len(work.title) <= _LONGEST_TITLE:
            text = rng.choice(_templates("citation", language_of_name(work.title))).format(_named(work))
            yield text, list(work.citing), [work.title]


def _unanswerable(structure: Structure, rng: random.Random) -> Iterator[Made]:
    phrases = [p for p in _askable(structure, structure.phrases) if len(structure.papers[p.key]) > 1]
    others = _shuffled(rng, phrases)
    for chosen in zip(_shuffled(rng, phrases), others, strict=True):
        together = structure.papers[chosen[0].key] & structure.papers[chosen[1].key]
        if not together and _apart(chosen) and not structure.sentences_with(chosen):
            yield _asked("unanswerable", chosen, rng), [], [phrase.key for phrase in chosen]


_MAKERS: dict[Kind, Callable[[Structure, random.Random], Iterator[Made]]] = {
    "fact": _facts,
    "relation": _relations,
    "community": _communities,
    "citation": _citations,
    "unanswerable": _unanswerable,
}


def _askable(structure: Structure, names: Iterable[str]) -> list[Phrase]:
    most = max(_HUB[0], int(_HUB[1] * len(structure.sentences)))
    phrases = [structure.phrases[name] for name in names]
    return [phrase for phrase in phrases if 0 < len(structure.sentences_with([phrase])) <= most]


def _shuffled(rng: random.Random, values: Sequence[T]) -> list[T]:
    return rng.sample(values, len(values))


def _enough(gold: Sequence[Sentence]) -> bool:
    papers = {sentence.paper_id for sentence in gold}
    return FEWEST_GOLD <= len(gold) <= MOST_GOLD and len(papers) >= FEWEST_PAPERS


def _apart(phrases: Sequence[Phrase]) -> bool:
    """Whether no phrase is a part of another, in any spelling."""
    pairs = ((a, b) for a in phrases for b in phrases if a is not b)
    return not any(inner in outer for a, b in pairs for inner in a.variants for outer in b.variants)


def _asked(kind: Kind, phrases: Sequence[Phrase], rng: random.Random) -> str:
    names = [phrase.surface for phrase in phrases]
    language = language_of_name("".join(names))
    template = rng.choice(_templates(kind, language))
    if "{0}" in template:
        return template.format(*names)
    return template.format(listed(names, language, "and"))


def _templates(kind: Kind, language: str) -> list[str]:
    """Return the templates of a kind: `{}` stands for the list of all phrases, `{0}` and `{1}` for one phrase each."""
    return Texts("generated")[language][kind].splitlines()


def _named(work: Work) -> str:
    year = f", {work.year}" if work.year else ""
    by = f" ({work.author}{year})" if work.author else ""
    return f"“{work.title}”{by}"
