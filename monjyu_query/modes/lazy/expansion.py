"""The query expander: subqueries and one expanded query, from the noun graph or from the best chunks' own terms."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.selection import Question
from monjyu_query.modes.lazy.concept_graph import Concept, ConceptGraph
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import load_passages

_WORD = re.compile(r"[^\W\d_]{3,}")
_WIDE_WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{2,}|[\u30a1-\u30ff]{3,}|[\uac00-\ud7a3]{2,}")
_BETWEEN_PARTS = re.compile(r"[,;:，、；：]|\b(?:and|or|versus|vs|than|as well as)\b", re.I)
_TERMS_A_PART = 2
_SHARE_A_PART = 0.3
"""Of what the question's terms weigh; less is no part of its own, but a year or an aside."""
_SHARE_A_CONCEPT = 0.15
"""Of what the question's terms weigh; a word that says less of it leads elsewhere."""
CONCEPTS = 4
NEIGHBOURS = 3
READ_CHUNKS = 10
"""Chunks whose frequent terms stand in for a graph."""
_READ_TERMS = 48
"""As many as the keyword index looks up at once."""
_TERMS = 6


@dataclass(frozen=True)
class Expansion:
    """`subqueries` begin with the question itself; `expanded` joins them; `concepts` are keys of the noun graph."""

    subqueries: list[str]
    expanded: str
    concepts: list[str] = field(default_factory=list)


def matching_concepts(index: OpenIndex, graph: ConceptGraph, query: str) -> list[Concept]:
    """The concepts all of whose terms stand in the question: those of most terms first, none inside another."""
    asked = index.keywords.query_terms(query).result()
    own = {term.term for term in asked}
    question = Question.of(asked, len(index.corpus))
    found = graph.candidates([term.term for term in asked])
    terms = [frozenset(some) for some in index.keywords.terms([concept.surface for concept in found])]
    whole = [
        (concept, some)
        for concept, some in zip(found, terms, strict=True)
        if some and some <= own and question.share(some) >= _SHARE_A_CONCEPT
    ]
    whole.sort(key=lambda pair: (-len(pair[1]), -pair[0].weight, pair[0].phrase))
    chosen: list[tuple[Concept, frozenset[str]]] = []
    for concept, some in whole:
        if not any(some <= other for _, other in chosen):
            chosen.append((concept, some))
    return [concept for concept, _ in chosen[:CONCEPTS]]


def expand(index: OpenIndex, graph: ConceptGraph, query: str, best_chunks: Sequence[str], most: int) -> Expansion:
    """At most `most` subqueries without a model: the question, its parts, then the question with related terms.

    The terms are the neighbours of its concepts in the noun graph; without a graph, terms that are frequent in the
    chunks most like the question (`best_chunks`) and rare elsewhere.
    """
    concepts = matching_concepts(index, graph, query)
    groups = [[near.surface for near in graph.neighbours(concept.phrase, NEIGHBOURS)] for concept in concepts]
    groups = [group for group in groups if group]
    if not groups:
        terms = _frequent_terms(index, query, best_chunks)
        groups = [terms[start : start + 2] for start in range(0, len(terms) - 1, 2)]
    parts = parts_of(index, query)[: most - 1]
    groups = groups[: max(0, most - 1 - len(parts))]
    added = list(dict.fromkeys(term for group in groups for term in group))
    subqueries = list(dict.fromkeys([query, *parts, *(f"{query} {', '.join(group)}" for group in groups)]))
    expanded = f"{query} ({', '.join(added)})" if added else query
    return Expansion(subqueries, expanded, [concept.phrase for concept in concepts])


def related_terms(
    index: OpenIndex, graph: ConceptGraph, query: str, best_chunks: Sequence[str], most: int
) -> list[str]:
    """At most `most` terms to add to a question: in turns the neighbours of each of its concepts in the noun graph,
    the closest first; without any, terms of the chunks most like it."""
    groups = [graph.neighbours(concept.phrase, most) for concept in matching_concepts(index, graph, query)]
    turns = [group[place].surface for place in range(most) for group in groups if place < len(group)]
    found = [term for term in dict.fromkeys(turns) if term.casefold() not in query.casefold()]
    return (found or _frequent_terms(index, query, best_chunks))[:most]


def parts_of(index: OpenIndex, query: str) -> list[str]:
    """The parts of a question that asks for several things, each of two terms or more; none where it asks for one."""
    parts = [part.strip(" ?.!。？") for part in _BETWEEN_PARTS.split(query)]
    question = Question.of(index.keywords.query_terms(query).result(), len(index.corpus))
    terms = [set(own) for own in index.keywords.terms(parts)]
    pairs = zip(parts, terms, strict=True)
    whole = [part for part, own in pairs if len(own) >= _TERMS_A_PART and question.share(own) >= _SHARE_A_PART]
    return whole if len(whole) > 1 else []


def _frequent_terms(index: OpenIndex, query: str, chunks: Sequence[str]) -> list[str]:
    """Words that more than one of the chunks has, by `p ln(p / q)`, p their share of these chunks and q of all; those
    of the question left out."""
    passages = load_passages(index.snapshot.cursor(), chunks, [0.0] * len(chunks))
    word = _WIDE_WORD if count_wide(query) else _WORD
    counts = Counter(found for passage in passages for found in set(word.findall(passage.text.lower())))
    words = sorted((found for found, count in counts.items() if count > 1), key=lambda found: (-counts[found], found))
    asked = {term.term for term in index.keywords.query_terms(query).result()}
    scored: dict[str, tuple[float, str]] = {}
    for term in index.keywords.query_terms(" ".join(words[:_READ_TERMS])).result():
        known = counts.get(term.word.lower(), 0)
        if term.term in asked or not known or not term.frequency:
            continue
        share, usual = known / len(passages), term.frequency / len(index.corpus)
        if share > usual:
            scored.setdefault(term.word.lower(), (-share * math.log(share / usual), term.word.lower()))
    return [found for _, found in sorted(scored.values())[:_TERMS]]
