"""Suggests further questions after an answer, about other things in its passages that the papers answer.

As in DRIFT search (Microsoft Research, 2024), an answer leads to further questions; here from the noun graph (level 1),
without a model. A question is offered only if its answer was seen: a sentence that defines the thing, or three papers
that mention it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from monjyu_core.language.packs import Texts, cues
from monjyu_core.text.language import message_language
from monjyu_query.asking.result import SearchResult
from monjyu_query.knowledge.concept_graph import GRAPH_TABLES, has_tables
from monjyu_query.ranking.open_index import OpenIndex

MOST = 3
_CANDIDATES = 10
_MOST_SHARE = 0.4
"""A phrase in a larger share of the papers is too general to ask about."""
_SEVERAL = 3
"""The number of papers that must mention a thing that no sentence defines."""
_LOOKED_AT = 400
"""The maximum number of sentences in which a definition is searched."""

_PHRASES = """SELECT n.phrase, any_value(n.surface), any_value(n.papers) FROM phrase_mentions m
JOIN graph_nodes n USING (phrase)
WHERE m.chunk_id IN (SELECT unnest($chunks::VARCHAR[])) AND n.papers BETWEEN 2 AND $most
    AND lower(n.surface) NOT IN (SELECT lower(name) FROM authors WHERE name IS NOT NULL)
    AND (contains(n.phrase, ' ') OR n.phrase NOT IN (SELECT phrase FROM phrase_mentions WHERE surface = lower(surface)))
GROUP BY n.phrase ORDER BY count(DISTINCT m.chunk_id) * ln($papers / any_value(n.papers)) DESC, n.phrase LIMIT 60"""
"""A single word counts only if no paper writes it in lower case, because it is then a name."""
_SENTENCES = """SELECT m.phrase, s.text FROM phrase_mentions m JOIN chunk_sentences l USING (chunk_id)
JOIN sentences s USING (sentence_id)
WHERE m.phrase IN (SELECT unnest($phrases::VARCHAR[])) AND contains(lower(s.text), lower(m.surface))
ORDER BY s.sentence_id LIMIT $most"""
_TELLING = re.compile(r"[A-Z0-9]|\s|[\u30a1-\u30fc]{3}|[\u3400-\u9fff]{3}")
_DULL = re.compile(
    r"\b(?:paper|article|author|student|example|section|figure|table|work|lesson|number|way|part|use|order|case|result"
    r"|university|department|introduction|conclusion|acknowledg\w+|license|attribution|et al|https?"
    r"|january|february|march|april|may|june|july|august|september|october|november|december|semester|session|access"
    r"|basic|new|final)s?\b|\d{3,}|[/_@]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Thing:
    phrase: str
    name: str
    defined: int
    """0: no sentence defines it; 1: one does, in the singular; 2: in the plural."""


def follow_ups(index: OpenIndex, query: str, result: SearchResult) -> list[str]:
    """Up to three questions; none if nothing was answered or the snapshot has no noun graph."""
    if result.status == "abstained" or not result.citations:
        return []
    chunks = [*(citation.chunk_id for citation in result.citations), *(hit.chunk_id for hit in result.hits)]
    told = f"{query} {result.answer}" if len(result.answer) < _LOOKED_AT else query
    return questions_raised(index, query, list(dict.fromkeys(chunks)), told)


def questions_raised(index: OpenIndex, query: str, chunks: Sequence[str], told: str) -> list[str]:
    """Up to three questions about concepts that the chunks mention and the text `told` does not."""
    cursor = index.snapshot.cursor()
    if not chunks or not has_tables(cursor, GRAPH_TABLES):
        return []
    papers = len(index.corpus.paper_ids)
    values = {"chunks": list(chunks), "papers": float(papers), "most": max(2, int(_MOST_SHARE * papers))}
    rows = cursor.execute(_PHRASES, values).fetchall()
    names = [(phrase, " ".join((surface or phrase).split())) for phrase, surface, _ in rows]
    common = {phrase for phrase, _, found in rows if found >= _SEVERAL}
    chosen = _new(index, [(p, n) for p, n in names if _TELLING.search(n) and not _DULL.search(n)], told)
    language = message_language(query)
    things = [thing for thing in _defined(index, chosen) if thing.defined or thing.phrase in common]
    ordered = sorted(things, key=lambda thing: not thing.defined)  # what a sentence defines is surest to be answered
    words, forms = Texts("follow_ups")[language], ("about", "one", "several")
    return [words[forms[thing.defined]].format(thing.name) for thing in ordered[:MOST]]


def _new(index: OpenIndex, names: Sequence[tuple[str, str]], told: str) -> list[tuple[str, str]]:
    """Up to ten of the names that share no term with `told` or with an earlier name."""
    chosen: list[tuple[str, str]] = []
    known = set(index.keywords.terms([told])[0])
    for (phrase, name), terms in zip(names, index.keywords.terms([name for _, name in names]), strict=True):
        own = set(terms)
        if own and not own & known and len(chosen) < _CANDIDATES:
            chosen.append((phrase, name))
            known |= own
    return chosen


def _defined(index: OpenIndex, names: Sequence[tuple[str, str]]) -> list[_Thing]:
    """Keep names written without an article, and note which ones a sentence defines: "X is a", "X are the", "Xとは"."""
    values = {"phrases": [phrase for phrase, _ in names], "most": _LOOKED_AT}
    texts: dict[str, list[str]] = {}
    for phrase, text in index.snapshot.cursor().execute(_SENTENCES, values).fetchall():
        texts.setdefault(phrase, []).append(" ".join(text.split()))
    own = [(phrase, name, texts.get(phrase, ())) for phrase, name in names]
    return [
        _Thing(phrase, name, _number(name, said)) for phrase, name, said in own if _mostly_without_article(name, said)
    ]


def _mostly_without_article(name: str, texts: Sequence[str]) -> bool:
    """Whether at most half of the times an article comes before it: "a key aspect" is not a subject of a question."""
    found = re.findall(rf"\b((?:an?|the) (?:[\w-]+ )?)?{re.escape(name)}\b", "\n".join(texts), re.IGNORECASE)
    return 2 * sum(map(bool, found)) <= len(found)


def _number(name: str, texts: Sequence[str]) -> int:
    start = re.escape(name)
    pattern = rf"(?:^|\b)(?:an? |the )?{start}(?: \([^)]{{1,40}}\))? (?P<verb>is|are) (?:an?|the|one)\b"
    found = re.compile(pattern, re.IGNORECASE)
    wide = re.compile(rf"{start}(?:{cues('follow_ups.defines')})")
    for text in texts:
        match = found.search(text)
        if match and match.start() < 4:  # otherwise it is the end of a longer name
            return 1 if match["verb"].lower() == "is" else 2
        if wide.search(text):
            return 1
    return 0
