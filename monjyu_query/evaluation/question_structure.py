"""Reads the material for questions: sentences, phrases, edges, communities and citations of a snapshot.

Gold sentences are found only by matching the spelling of phrases, never by the search's ranking, stemmer or vectors.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import duckdb

from monjyu_core.errors import QueryError
from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.text.search_text import count_wide
from monjyu_query.answers.selection import is_prose
from monjyu_query.knowledge.concept_graph import GRAPH_TABLES, has_tables

SHORTEST, LONGEST = 40, 400
"""The minimum and maximum length of a gold sentence; a wide character counts three towards the minimum."""
_MOST_WORDS = 4
_LETTERS = re.compile(r"[^\W\d_]{4,}")

_SENTENCES = """SELECT DISTINCT i.canonical_id, s.text, min(s.paper_id || ' ' || lpad(s.ord::VARCHAR, 6, '0')) AS place
FROM sentences s JOIN chunk_sentences USING (sentence_id) JOIN paper_identity i ON i.paper_id = s.paper_id
GROUP BY ALL ORDER BY place"""
_VARIANTS = (
    "SELECT DISTINCT phrase, lower(surface) FROM phrase_mentions UNION SELECT phrase, lower(surface) FROM graph_nodes"
)
_PAPERS = "SELECT DISTINCT phrase, canonical_id FROM phrase_mentions JOIN paper_identity USING (paper_id)"
_NODES = "SELECT phrase, surface FROM graph_nodes ORDER BY phrase"
_EDGES = "SELECT source, target FROM graph_edges WHERE cooccurrences > 1 ORDER BY source, target"
_COMMUNITIES = """SELECT list(phrase ORDER BY tfidf DESC, phrase) FROM community_members JOIN graph_nodes USING (phrase)
WHERE community_id NOT IN (SELECT parent_id FROM communities WHERE parent_id IS NOT NULL)
GROUP BY community_id ORDER BY community_id"""
_CITED = """WITH works AS (
    SELECT work_id AS work, paper_id, ref_id, ord FROM unresolved_references
    UNION ALL SELECT cited_id, citing_id, ref_id, ref_ord FROM citation_edges)
SELECT work, any_value(r.title ORDER BY w.paper_id, r.ord), any_value(r.authors[1] ORDER BY w.paper_id, r.ord),
    any_value(r.year ORDER BY w.paper_id, r.ord), list(DISTINCT [i.canonical_id, c.context])
FROM works w JOIN "references" r ON r.paper_id = w.paper_id AND r.ord = w.ord
JOIN inline_citations c ON c.paper_id = w.paper_id AND c.ref_id = w.ref_id
JOIN paper_identity i ON i.paper_id = w.paper_id
WHERE r.title IS NOT NULL GROUP BY work HAVING count(DISTINCT i.canonical_id) > 1 ORDER BY work"""


@dataclass(frozen=True)
class Sentence:
    """A sentence of a snapshot; `text` is on one line, `folded` in lower case."""

    paper_id: str
    text: str
    folded: str


@dataclass(frozen=True)
class Phrase:
    """A node of the noun graph: its usual spelling (`surface`), and all spellings in the papers (`variants`)."""

    key: str
    surface: str
    variants: tuple[str, ...]
    pattern: re.Pattern[str]

    def occurs_in(self, folded: str) -> bool:
        return any(variant in folded for variant in self.variants) and self.pattern.search(folded) is not None


@dataclass(frozen=True)
class Work:
    """A cited work and the citing sentences."""

    title: str
    author: str
    year: int | None
    citing: tuple[Sentence, ...]


@dataclass
class Structure:
    """The structure of one snapshot, in a fixed order. `papers` are the papers that contain each phrase."""

    sentences: list[Sentence]
    phrases: dict[str, Phrase]
    papers: dict[str, set[str]]
    edges: list[tuple[str, str]]
    communities: list[list[str]]
    works: list[Work]
    _found: dict[str, frozenset[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, snapshot: Snapshot) -> Structure:
        """The structure of a snapshot. Raises QueryError below level 1."""
        cursor = snapshot.cursor()
        if not has_tables(cursor, GRAPH_TABLES):
            raise QueryError("Questions are generated from level 1.", "Upgrade the collection to level 1.")
        rows = cursor.execute(_SENTENCES).fetchall()
        sentences = [s for paper, text, _ in rows if (s := _sentence(paper, text)) is not None]
        papers: dict[str, set[str]] = defaultdict(set)
        for phrase, paper in cursor.execute(_PAPERS).fetchall():
            papers[phrase].add(paper)
        phrases = _phrases(cursor)
        edges = [(a, b) for a, b in cursor.execute(_EDGES).fetchall() if a in phrases and b in phrases]
        groups = [
            [name for name in members if name in phrases] for (members,) in cursor.execute(_COMMUNITIES).fetchall()
        ]
        return cls(sentences, phrases, papers, edges, groups, _works(cursor, sentences))

    def sentences_with(self, phrases: Sequence[Phrase], least: int | None = None) -> list[Sentence]:
        """Return the sentences with at least `least` of the phrases (default: all) as whole words, in any spelling."""
        counts = Counter(place for phrase in phrases for place in self._places(phrase))
        return [self.sentences[place] for place in sorted(counts) if counts[place] >= (least or len(phrases))]

    def _places(self, phrase: Phrase) -> frozenset[int]:
        if phrase.key not in self._found:
            places = (n for n, sentence in enumerate(self.sentences) if phrase.occurs_in(sentence.folded))
            self._found[phrase.key] = frozenset(places)
        return self._found[phrase.key]


def _sentence(paper: str, text: str) -> Sentence | None:
    line = " ".join(text.split())
    fits = len(line) + 2 * count_wide(line) >= SHORTEST and len(line) <= LONGEST
    return Sentence(paper, line, line.casefold()) if fits and is_prose(line) else None


def _phrases(cursor: duckdb.DuckDBPyConnection) -> dict[str, Phrase]:
    variants: dict[str, set[str]] = defaultdict(set)
    for phrase, surface in cursor.execute(_VARIANTS).fetchall():
        if surface:
            variants[phrase].add(" ".join(surface.split()).casefold())
    nodes = cursor.execute(_NODES).fetchall()
    return {key: _phrase(key, surface or key, variants[key]) for key, surface in nodes if _is_askable(surface or key)}


def _phrase(key: str, surface: str, variants: set[str]) -> Phrase:
    ordered = tuple(sorted({*variants, surface.casefold()}))
    either = "|".join(re.escape(variant) for variant in sorted(ordered, key=lambda v: (-len(v), v)))
    bounds = ("", "") if count_wide(surface) else (r"(?<!\w)", r"(?!\w)")
    return Phrase(key, " ".join(surface.split()), ordered, re.compile(f"{bounds[0]}(?:{either}){bounds[1]}"))


def _is_askable(surface: str) -> bool:
    """Whether a phrase suits a question: it has a word of letters, up to four words, and no address."""
    words = surface.split()
    letters = count_wide(surface) > 1 or _LETTERS.search(surface) is not None
    return letters and len(words) <= _MOST_WORDS and not re.search(r"https?|www\.|@|/", surface)


def _works(cursor: duckdb.DuckDBPyConnection, sentences: Sequence[Sentence]) -> list[Work]:
    by_text = {(sentence.paper_id, sentence.text): sentence for sentence in sentences}
    works = []
    for _, title, author, year, contexts in cursor.execute(_CITED).fetchall():
        keys = sorted({(paper, " ".join(context.split())) for paper, context in contexts})
        citing = tuple(by_text[key] for key in keys if key in by_text)
        works.append(Work(" ".join(title.split()), author or "", year, citing))
    return works
