"""The query expander: the parts of a question as subqueries, its concepts, and additional terms."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from monjyu_core.text.search_text import count_wide
from monjyu_core.text.unicode_words import letter_words
from monjyu_query.answers.segments import asked_types
from monjyu_query.answers.selection import Question
from monjyu_query.asking.lazy_explanation import Origin
from monjyu_query.asking.passages import load_passages
from monjyu_query.asking.topic import sides_of
from monjyu_query.knowledge.concept_graph import Concept, ConceptGraph
from monjyu_query.ranking.open_index import OpenIndex

_SHORTEST = 3
_WIDE_WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]{2,}|[\u30a1-\u30ff]{3,}|[\uac00-\ud7a3]{2,}")
_BETWEEN_PARTS = re.compile(
    r"(?:\s*(?:[,;:，、；：]|[?？。](?=\s*\w)|\b(?:and|or|versus|vs|than|as well as)\b))+", re.I
)
_TERMS_A_PART = 2
_SHARE_A_PART = 0.3
"""The minimum share of the question's term weights in a part; one with less is a year or an aside."""
_SHARE_A_CONCEPT = 0.15
"""The minimum share of the question's term weights in a concept; one with less leads to other subjects."""
_SHARE_A_SIDE = 0.1
CONCEPTS = 4
READ_CHUNKS = 10
"""The number of chunks whose frequent terms are used if the noun graph has no neighbours."""
_READ_TERMS = 48
"""The number of terms per look-up in the keyword index."""
_TERMS = 6
_ITEM_WORDS = 3
"""The maximum number of words between two commas of a list; more is a clause."""


@dataclass(frozen=True)
class Expansion:
    """A question expanded for the search. `subqueries` are the question itself and its parts, or those that a model
    wrote (`by_model`), for the reasons in `reasoning`, if requested; `expanded` is one query for all of them;
    `concepts` are keys of the noun graph."""

    subqueries: list[str]
    expanded: str
    concepts: list[str] = field(default_factory=list)
    by_model: bool = False
    reasoning: str = ""

    def origins(self) -> list[Origin]:
        """The origin of each subquery."""
        count = len(self.subqueries)
        return ["model"] * count if self.by_model else ["question", *["part"] * (count - 1)]  # type: ignore[list-item]


def matching_concepts(index: OpenIndex, graph: ConceptGraph, query: str) -> list[Concept]:
    """Up to four concepts whose terms are all in the question, the longest first, none part of another."""
    asked = index.keywords.query_terms(query)
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


def expand(index: OpenIndex, graph: ConceptGraph, query: str, query_type: str, most: int) -> Expansion:
    """Expand without a model: at most `most` subqueries, which are the question and its parts, and its concepts."""
    concepts = [concept.phrase for concept in matching_concepts(index, graph, query)]
    parts = parts_of(index, query, compares=query_type == "comparison" or "comparison" in asked_types(query))
    return Expansion(list(dict.fromkeys([query, *parts]))[:most], query, concepts)


def related_terms(
    index: OpenIndex, graph: ConceptGraph, query: str, best_chunks: Sequence[str], most: int
) -> list[str]:
    """At most `most` terms to add to a question: in turns the closest neighbours of each of its concepts in the noun
    graph; without neighbours, terms of the chunks most similar to it."""
    groups = list(graph.neighbours([c.phrase for c in matching_concepts(index, graph, query)], most).values())
    turns = [group[place].surface for place in range(most) for group in groups if place < len(group)]
    found = [term for term in dict.fromkeys(turns) if term.casefold() not in query.casefold()]
    return (found or _frequent_terms(index, query, best_chunks))[:most]


def parts_of(index: OpenIndex, query: str, *, compares: bool) -> list[str]:
    """The parts of a question that asks for several things, each with at least two terms; otherwise the sides of a
    comparison; otherwise the question with each item of its list. Empty if the question has a single part."""
    parts = [part.strip(" ?.!。？") for part in _BETWEEN_PARTS.split(query)]
    question = Question.of(index.keywords.query_terms(query), len(index.corpus))
    terms = [set(own) for own in index.keywords.terms(parts)]
    pairs = zip(parts, terms, strict=True)
    whole = [part for part, own in pairs if len(own) >= _TERMS_A_PART and question.share(own) >= _SHARE_A_PART]
    if len(whole) > 1:
        return whole
    sides = _sides(index, query, question) if compares else []
    joined = any(map(str.isalpha, (_BETWEEN_PARTS.findall(query) or [""])[-1]))  # by a word, and not a comma alone
    return sides or (_listed(index, [part for part in parts if part], question) if joined else [])


def _listed(index: OpenIndex, parts: list[str], question: Question) -> list[str]:
    """Split `What are the risks and benefits of X` into `What are the risks of X` and `What are the benefits of X`. A
    list begins with the last word before the first separator and ends with the first term after the last one. Empty if
    there is no such list."""
    while len(parts) > 2 and len(parts[1].split()) > _ITEM_WORDS:
        parts = parts[1:]
    if len(parts) < 2:
        return []
    (*before, first), last = parts[0].split(), parts[-1].split()
    begins = next((place for place, own in enumerate(index.keywords.terms(last[:2])) if own), 0)  # after an article
    rest = last[begins + 1 :]
    items = [first, *parts[1:-1], last[begins]]
    shares = [question.share(set(some)) for some in index.keywords.terms([*items, " ".join([*before, *rest])])]
    if not all(shares[:-1]) or shares[-1] < _SHARE_A_CONCEPT:
        return []
    return [" ".join([*before, item, *rest]) for item in items]


def _sides(index: OpenIndex, query: str, question: Question) -> list[str]:
    sides = sides_of(query)
    terms = [set(own) for own in index.keywords.terms(sides)]
    told = [side for side, own in zip(sides, terms, strict=True) if question.share(own) >= _SHARE_A_SIDE]
    return told if len(told) > 1 else []


def _frequent_terms(index: OpenIndex, query: str, chunks: Sequence[str]) -> list[str]:
    """Words in more than one of the `chunks`, without those of the question, by `p ln(p / q)`, where p is the word's
    share of `chunks` and q its share of all chunks."""
    passages = load_passages(index.snapshot.cursor(), chunks)
    cut = _WIDE_WORD.findall if count_wide(query) else partial(letter_words, shortest=_SHORTEST)
    counts = Counter(found for passage in passages for found in set(cut(passage.text.lower())))
    words = sorted((found for found, count in counts.items() if count > 1), key=lambda found: (-counts[found], found))
    asked = {term.term for term in index.keywords.query_terms(query)}
    scored: dict[str, tuple[float, str]] = {}
    for term in index.keywords.query_terms(" ".join(words[:_READ_TERMS])):
        known = counts.get(term.word.lower(), 0)
        if term.term in asked or not known or not term.frequency:
            continue
        share, usual = known / len(passages), term.frequency / len(index.corpus)
        if share > usual:
            scored.setdefault(term.word.lower(), (-share * math.log(share / usual), term.word.lower()))
    return [found for _, found in sorted(scored.values())[:_TERMS]]
