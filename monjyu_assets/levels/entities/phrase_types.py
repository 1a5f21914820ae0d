"""Which phrases of a paper are entities, and of which type: the type with most votes, or a concept by where it stands.

The types depend on the paper alone, so they are the same in any collection.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from monjyu_assets.levels.engines.paper_sources import SourcePaper
from monjyu_assets.levels.entities.cited import is_organization, person_key
from monjyu_assets.levels.entities.english_findings import HEADED, NO_ENTITY, head_type
from monjyu_assets.levels.entities.findings import Findings, fold
from monjyu_assets.levels.entities.lexicon import general_heads, generic, type_of_name

SAID_TWICE, IN_FRONT, NAME = 0.4, 0.6, 0.45
"""Confidence of a concept: in two sentences; in the title, abstract or keywords; a name without a type."""
LONGEST_WORD = 30
"""Letters: a longer word is text that the page's columns mixed up."""
COMPOUND, OFTEN = 4, 4
"""A shorter Japanese word is a concept if it appears in more sentences than that."""
NO_CONCEPT = frozenset({NO_ENTITY, "researcher"})
"""NER's types that rule out a concept: places, dates, strangers."""

_SOFTWARE = re.compile(r"(?:[A-Z][a-z]{2,}){2,}|[A-Z][a-z]{2,}[A-Z]{1,3}|[A-Za-z]{2,}\.(?:js|py|jl)|[Pp]y[A-Z][a-z]\w*")

Decided = dict[str, tuple[str, float]]
"""Phrase key to (type, confidence)"""


@dataclass
class PaperFindings:
    """`findings` by distinct sentence; `long`: the keys of the long forms of the paper's acronyms."""

    findings: dict[str, list[Findings]] = field(default_factory=lambda: defaultdict(list))
    long: set[str] = field(default_factory=set)


def types_of_phrases(paper: SourcePaper, read: PaperFindings) -> Decided:
    """The type of each phrase that is an entity."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    common: set[str] = set()
    best: dict[str, dict[str, float]] = defaultdict(dict)
    sentences_of: dict[str, set[str]] = defaultdict(set)
    proper: set[str] = set()
    shapes: dict[str, str] = {}
    for text, several in read.findings.items():
        for phrase in (phrase for findings in several for phrase in findings.phrases):
            sentences_of[phrase.key].add(text)
            shapes.setdefault(phrase.key, phrase.surface)
            if phrase.proper and phrase.start > 0:
                proper.add(phrase.key)
            if phrase.surface[:1].islower():
                common.add(phrase.key)
            for entity_type, confidence in phrase.votes:
                votes[phrase.key][entity_type] += round(100 * confidence)
                best[phrase.key][entity_type] = max(best[phrase.key].get(entity_type, 0.0), confidence)
    for key in read.long & sentences_of.keys():  # the parser may not have seen all of a long form as one phrase
        headed = head_type(key.split())
        if headed:
            votes[key][headed] += round(100 * HEADED)
            best[key].setdefault(headed, HEADED)
    named = _Named.of(paper, read.long)
    families = {name.split()[-1] for name in _people(paper)}
    ends = _ends(read)
    decided: Decided = {}
    for key in sentences_of:
        chosen = _choose(shapes[key], votes[key], best[key], families)
        top = votes[key].most_common(1)
        if chosen is None and not (top and top[0][0] in NO_CONCEPT):
            times = len(sentences_of[key]) + (key in ends)
            chosen = _concept(key, shapes[key], times, named, proper=key in proper and key not in common)
        if chosen:
            decided[key] = chosen
    return decided


def _ends(read: PaperFindings) -> set[str]:
    """Phrases that a sentence relates to another one: said once, they are as good as said twice."""
    return {
        phrase.key
        for several in read.findings.values()
        for findings in several
        for phrase in findings.phrases
        if any(phrase.head in (one.source, one.target) for one in findings.relations)
    }


@dataclass(frozen=True)
class _Named:
    """What a paper names in its front, folded: `titles` its title and keywords, `front` its abstract too; the long
    forms of acronyms; the works that it cites."""

    titles: str
    front: str
    long: set[str]
    works: tuple[str, ...]

    @classmethod
    def of(cls, paper: SourcePaper, long: set[str]) -> _Named:
        titles = fold(" ".join([paper.title, *paper.keywords]))
        works = tuple(fold(reference.title) for reference in paper.references if reference.title)
        return cls(f" {titles} ", f" {titles} {fold(paper.abstract)} ", long, works)


def _people(paper: SourcePaper) -> set[str]:
    names = [author.name for author in paper.authors]
    names += [name for reference in paper.references for name in reference.authors]
    return {key for name in names if (key := person_key(name))}


def _choose(surface: str, votes: Counter[str], best: dict[str, float], families: set[str]) -> tuple[str, float] | None:
    """The type with most votes. NER's word on people and organizations needs support from elsewhere."""
    for entity_type in sorted(votes, key=lambda entity_type: (-votes[entity_type], entity_type)):
        sure = best[entity_type]
        if entity_type == NO_ENTITY:
            return None
        if entity_type == "researcher" and (not person_key(surface) or fold(surface).split()[-1] not in families):
            continue
        if entity_type == "organization" and sure <= 0.5:
            continue
        if entity_type == "researcher":
            sure = 0.8
        return entity_type, sure
    return None


def _concept(key: str, surface: str, times: int, named: _Named, *, proper: bool) -> tuple[str, float] | None:
    """Whether an untyped phrase is a concept (or, by its shape, a tool, an organization)."""
    words = fold(key)
    if not words or words in generic() or max(map(len, words.split())) > LONGEST_WORD:
        return None
    if _SOFTWARE.fullmatch(surface):
        return "tool", NAME
    several = len(key.split()) > 1 or not key.isascii()
    if several and is_organization(surface):
        return "organization", NAME
    if several and type_of_name(surface.split()[0]) == "tool" and not is_general(key):
        return "tool", NAME  # "Python programming", "BLAS wrappers"
    if key in named.long or (several and f" {words} " in named.titles):
        return "concept", IN_FRONT
    if several and (is_general(key) or _is_work(surface, words, named.works)):
        return None
    if several and f" {words} " in named.front:
        return "concept", IN_FRONT
    if several:
        return ("concept", SAID_TWICE) if times > (1 if key.isascii() or len(key) >= COMPOUND else OFTEN) else None
    return ("concept", NAME) if proper and times > 1 and len(surface) > 2 else None


def is_general(key: str) -> bool:
    """Whether the head of a phrase says nothing of a field."""
    head = key.split()[-1]
    return head in general_heads() or head.removesuffix("s") in general_heads()


def _is_work(surface: str, words: str, works: Sequence[str]) -> bool:
    """Whether a phrase in capitals is (the beginning of) the title of a work that the paper cites."""
    capitals = sum(word[:1].isupper() for word in surface.split()) > 1
    return capitals and any(work.startswith(words) for work in works)
