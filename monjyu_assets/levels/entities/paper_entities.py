"""The entities and relationships of one paper, chunk by chunk, without a model.

The rows depend on the paper alone, so they are the same in any collection.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set

from monjyu_assets.levels.engines.chunk_engine import EntityResult, FoundEntity, FoundRelationship
from monjyu_assets.levels.engines.paper_sources import SourceChunk, SourcePaper
from monjyu_assets.levels.entities.cited import (
    cited_in,
    entity,
    link,
    person_key,
    person_name,
    title_page,
)
from monjyu_assets.levels.entities.english_findings import english_findings
from monjyu_assets.levels.entities.findings import OWN_PAPER, Findings, FoundPhrase, fold
from monjyu_assets.levels.entities.japanese_findings import japanese_findings
from monjyu_assets.levels.entities.phrase_types import Decided, PaperFindings, types_of_phrases
from monjyu_assets.levels.phrases.acronyms import agreed, definitions
from monjyu_assets.levels.phrases.cleaning import clean, is_boilerplate, windows
from monjyu_assets.levels.phrases.english_phrases import english_phrases
from monjyu_assets.levels.phrases.japanese_phrases import installed, is_japanese
from monjyu_assets.levels.phrases.paper_phrases import Long, long_of, merged, without_definitions

LONGEST = 320
"""Characters of a description at most."""
NEAR = 3
"""Entities after one that stand together with it."""
CO_OCCURS = "co_occurs"
"""The type of the relationship of two entities that only stand together in a sentence; it has no direction."""
MAKERS = frozenset({"researcher", "organization"})
OF_A_PAPER = frozenset({"uses", "based_on", "compares_with", "provides", "addresses", "improves_on"})
"""What "we" may do in a relationship."""

_NOTED = re.compile(r"([A-Za-z][A-Za-z.-]{2,})\d{1,2}")

Node = tuple[str, str]
"""(type, key)"""


def paper_results(paper: SourcePaper) -> list[EntityResult]:
    """The rows of all chunks of a paper."""
    read = _read(paper)
    decided = types_of_phrases(paper, read)
    return [_chunk(paper, chunk, read, decided) for chunk in paper.chunks]


def _read(paper: SourcePaper) -> PaperFindings:
    texts = list(dict.fromkeys(s.text for chunk in paper.chunks for s in chunk.sentences))
    kept = [text for text in texts if not is_boilerplate(text)]
    known = agreed(pair for text in kept for pair in definitions(text))
    pieces = [(text, window) for text in kept for window in windows(clean(without_definitions(text, known)))]
    japanese = [piece for piece in pieces if is_japanese(piece[1])]
    others = [piece for piece in pieces if not is_japanese(piece[1])]
    read = PaperFindings()
    words = {word for text in kept for word in text.split()}
    forms = english_phrases(list(known.values())) if others else [[] for _ in known]
    longs: dict[str, Long] = {s: long_of(form, f) for (s, form), f in zip(known.items(), forms, strict=True)}
    read.long = {key for key, _ in longs.values()}
    shorts = {key: short for short, (key, _) in longs.items()}
    parsed = list(zip(others, english_findings([w for _, w in others]), strict=True)) if others else []
    if japanese and installed() is not None:
        parsed += zip(japanese, japanese_findings([w for _, w in japanese]), strict=True)
    for (text, _), findings in parsed:
        for phrase in findings.phrases:
            phrase.key, phrase.surface = merged((phrase.key, phrase.surface), longs)
            phrase.key, phrase.surface = _without_note(phrase.key, phrase.surface, words)
            if phrase.key in shorts and shorts[phrase.key] not in phrase.surface:
                phrase.surface += f" ({shorts[phrase.key]})"
        read.findings[text].append(findings)
    return read


def _without_note(key: str, surface: str, words: Set[str]) -> tuple[str, str]:
    """The name without the number of a footnote that sticks to it, where the paper has it without as well."""
    match = _NOTED.fullmatch(surface)
    return (match[1].casefold(), match[1]) if match and match[1] in words else (key, surface)


def _chunk(paper: SourcePaper, chunk: SourceChunk, read: PaperFindings, decided: Decided) -> EntityResult:
    """The entities of a chunk's sentences and citations; the first chunk adds the title page."""
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
    entity_type, confidence = decided[phrase.key]
    if entity_type == "researcher":
        return entity(
            entity_type, person_key(phrase.surface), person_name(phrase.surface), text[:LONGEST], [where], confidence
        )
    return entity(entity_type, phrase.key, phrase.surface, text[:LONGEST], [where], confidence)


def _joined(findings: Findings, decided: Decided, this_paper: Node, text: str, where: str) -> list[FoundRelationship]:
    """The relationships that the sentence states between entities, and which of the others stand together in it."""
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
    """The relationship as the types of its ends allow it; None where they do not."""
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
    """One row for each entity of a chunk, with its most frequent form. `definitions_of`, by (type, key), gives the
    description; else the first one counts."""
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
    """One row for each pair of entities and type in a chunk; the weight is the sum."""
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
