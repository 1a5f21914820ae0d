"""The query expander: subqueries and one expanded query, from the noun graph or from the best chunks' own terms."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from monjyu_core.text.search_text import count_wide
from monjyu_core.text.unicode_words import letter_words
from monjyu_query.answers.answer_form import asked_types
from monjyu_query.answers.selection import Question
from monjyu_query.answers.topic import sides_of, topic_of
from monjyu_query.modes.lazy.concept_graph import Concept, ConceptGraph
from monjyu_query.search.lazy_explanation import Origin
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import load_passages

_SHORTEST = 3
_WIDE_WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{2,}|[\u30a1-\u30ff]{3,}|[\uac00-\ud7a3]{2,}")
_BETWEEN_PARTS = re.compile(r"[,;:，、；：]|\b(?:and|or|versus|vs|than|as well as)\b", re.I)
_TERMS_A_PART = 2
_SHARE_A_PART = 0.3
"""Of what the question's terms weigh; less is no part of its own, but a year or an aside."""
_SHARE_A_CONCEPT = 0.15
"""Of what the question's terms weigh; a word that says less of it leads elsewhere."""
CONCEPTS = 4
READ_CHUNKS = 10
"""Chunks whose frequent terms stand in for a graph."""
_READ_TERMS = 48
"""As many as the keyword index looks up at once."""
_TERMS = 6
_ASPECTS = 2
"""Of one subquery."""


@dataclass(frozen=True)
class Expansion:
    """`subqueries` begin with the question itself; the first `asking` of them ask for something, the others are ways to
    find passages; `expanded` joins them; `concepts` are keys of the noun graph. `by_model`: a model wrote them, for the
    `reasoning` that it gives where it is asked."""

    subqueries: list[str]
    expanded: str
    asking: int = 1
    concepts: list[str] = field(default_factory=list)
    by_model: bool = False
    reasoning: str = ""

    def origins(self) -> list[Origin]:
        """Where each subquery comes from."""
        if self.by_model:
            return ["model"] * len(self.subqueries)
        parts = max(0, self.asking - 1)
        return ["question", *["part"] * parts, *["aspects"] * (len(self.subqueries) - 1 - parts)]  # type: ignore[list-item]


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
    """At most `most` subqueries without a model: the question, its parts or the sides of its comparison, then its topic
    with aspects that the chunks most like it (`best_chunks`) speak of.

    Aspects are phrases of the noun graph that stand in many of these chunks, in few others, and in more than one paper;
    without a graph words of that kind.
    """
    concepts = matching_concepts(index, graph, query)
    parts = [part for part in parts_of(index, query) if part != query][: most - 1]
    aspects = _aspects(index, graph, query, best_chunks)[: _ASPECTS * max(0, most - 1 - len(parts))]
    groups = [aspects[start : start + _ASPECTS] for start in range(0, len(aspects), _ASPECTS)]
    topic = topic_of(query) or query
    ways = [f"{topic}: {', '.join(group)}" for group in groups]
    subqueries = list(dict.fromkeys([query, *parts, *ways]))
    expanded = f"{query} ({', '.join(aspects)})" if aspects else query
    return Expansion(subqueries, expanded, 1 + len(parts), [concept.phrase for concept in concepts])


def _aspects(index: OpenIndex, graph: ConceptGraph, query: str, chunks: Sequence[str]) -> list[str]:
    """By `p ln(p / q)`, p a phrase's share of these chunks and q of all; none that says what the question or a better
    one says."""
    if not graph.present:
        return _frequent_terms(index, query, chunks)
    found = graph.frequent(chunks, len(index.corpus))
    terms = [frozenset(some) for some in index.keywords.terms([concept.surface for concept in found])]
    known = {term.term for term in index.keywords.query_terms(query).result()}
    chosen: list[str] = []
    for concept, own in zip(found, terms, strict=True):
        if own and not own & known and len(chosen) < _TERMS:
            chosen.append(concept.surface)
            known |= own
    return chosen


def related_terms(
    index: OpenIndex, graph: ConceptGraph, query: str, best_chunks: Sequence[str], most: int
) -> list[str]:
    """At most `most` terms to add to a question: in turns the neighbours of each of its concepts in the noun graph,
    the closest first; without any, terms of the chunks most like it."""
    groups = list(graph.neighbours([c.phrase for c in matching_concepts(index, graph, query)], most).values())
    turns = [group[place].surface for place in range(most) for group in groups if place < len(group)]
    found = [term for term in dict.fromkeys(turns) if term.casefold() not in query.casefold()]
    return (found or _frequent_terms(index, query, best_chunks))[:most]


def parts_of(index: OpenIndex, query: str) -> list[str]:
    """The parts of a question that asks for several things, each of two terms or more, or the sides of a comparison;
    none where it asks for one."""
    parts = [part.strip(" ?.!。？") for part in _BETWEEN_PARTS.split(query)]
    question = Question.of(index.keywords.query_terms(query).result(), len(index.corpus))
    terms = [set(own) for own in index.keywords.terms(parts)]
    pairs = zip(parts, terms, strict=True)
    whole = [part for part, own in pairs if len(own) >= _TERMS_A_PART and question.share(own) >= _SHARE_A_PART]
    if len(whole) > 1:
        return whole
    return _sides(index, query, question) if "comparison" in asked_types(query) else []


def _sides(index: OpenIndex, query: str, question: Question) -> list[str]:
    sides = sides_of(query)
    terms = [set(own) for own in index.keywords.terms(sides)]
    told = [side for side, own in zip(sides, terms, strict=True) if question.share(own) >= _SHARE_A_CONCEPT]
    return told if len(told) > 1 else []


def _frequent_terms(index: OpenIndex, query: str, chunks: Sequence[str]) -> list[str]:
    """Words that more than one of the chunks has, by `p ln(p / q)`, p their share of these chunks and q of all; those
    of the question left out."""
    passages = load_passages(index.snapshot.cursor(), chunks, [0.0] * len(chunks))
    cut = _WIDE_WORD.findall if count_wide(query) else partial(letter_words, shortest=_SHORTEST)
    counts = Counter(found for passage in passages for found in set(cut(passage.text.lower())))
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
