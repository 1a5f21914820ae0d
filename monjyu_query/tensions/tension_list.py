"""The tensions of a collection as readers are given them: both sides quoted with page and rectangles, or not at all."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import duckdb
from pydantic import BaseModel, ConfigDict

from monjyu_core.errors import QueryError
from monjyu_core.text.word_terms import word_terms
from monjyu_query.answers.citing import cite_windows
from monjyu_query.answers.quote_windows import Window
from monjyu_query.knowledge.source_sentences import in_order, sentences_by_id
from monjyu_query.modes.lazy.concept_graph import has_tables
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.result import Citation

Kind = Literal["direction", "negation", "numbers"]
_MEASURES = (
    (re.compile(r"\bR ?0\b"), "basic reproduction number"),
    (re.compile(r"\bCFRs?\b"), "case fatality rate"),
)
"""Measures that papers name by letters only, and questions in full."""
_NAME = re.compile(r"\b(?=[\w-]*[A-Z\d])\w+(?:-\w+)+")
"""A name of several parts, which stand together: "SARS-CoV-2" is not SARS-CoV with a 2 somewhere."""
MOST, LONGEST_CONCEPT = 200, 200
"""Pairs that are given at most, and characters of a concept."""
_ALL = """SELECT tension_id, kind, concept, score, engine,
    first_sentence_ids, first_statement, first_cue, first_paper_id,
    second_sentence_ids, second_statement, second_cue, second_paper_id
FROM tensions WHERE first_paper_id <> second_paper_id ORDER BY score DESC, tension_id"""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TensionSide(_Model):
    """What one paper says: `citation` is the `n` of its quote, `cue` the words that are opposed to the other side's."""

    paper_id: str
    paper_title: str
    year: int | None
    statement: str
    cue: str
    citation: int


class Tension(_Model):
    """Statements of two papers about one thing that do not go together. `kind`: opposite directions, one denies
    the other, or numbers of one measure that lie apart. `score`: how plainly, 0 to 1."""

    tension_id: str
    kind: Kind
    concept: str
    score: float
    engine: str
    first: TensionSide
    second: TensionSide


class Tensions(_Model):
    """The plainest first. `total` counts those of the concept, or all; `built`: whether the index has the table."""

    collection: str
    snapshot_id: str
    level: int
    concept: str | None
    built: bool
    total: int
    tensions: list[Tension]
    citations: list[Citation]


@dataclass(frozen=True)
class _Row:
    tension_id: str
    kind: Kind
    concept: str
    score: float
    engine: str
    first_ids: Sequence[str]
    first_statement: str
    first_cue: str
    first_paper: str
    second_ids: Sequence[str]
    second_statement: str
    second_cue: str
    second_paper: str

    @property
    def text(self) -> str:
        """What the words of a concept are looked for in: both statements, with measures in full."""
        text = f"{self.concept} {self.first_statement} {self.second_statement}"
        return " ".join((text, *(long for short, long in _MEASURES if short.search(text))))


def tensions_of(
    index: OpenIndex, concept: str | None = None, most: int = 50, papers: Collection[str] | None = None
) -> Tensions:
    """The tensions of a snapshot, of a concept (all of whose words a pair has) or all, among these papers or all.
    QueryError for a concept without words. A snapshot made before there were tensions has none."""
    wanted = _words(concept)
    cursor = index.snapshot.cursor()
    built = "tensions" in index.snapshot.manifest.rows
    rows = [_Row(*row) for row in cursor.execute(_ALL).fetchall()] if has_tables(cursor, ("tensions",)) else []
    if concept and wanted:
        rows = _about(rows, concept, wanted)
    if papers is not None:
        rows = [row for row in rows if row.first_paper in papers and row.second_paper in papers]
    tensions, citations = _quoted(index, cursor, rows[: min(most, MOST)])
    return Tensions(
        collection=index.snapshot.collection.name,
        snapshot_id=index.snapshot.id,
        level=index.snapshot.manifest.level,
        concept=concept,
        built=built,
        total=len(rows),
        tensions=tensions,
        citations=citations,
    )


def _about(rows: Sequence[_Row], concept: str, wanted: frozenset[str]) -> list[_Row]:
    """Those that have all words of the concept, and its names whole."""
    names = [re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE) for name in _NAME.findall(concept)]
    terms = word_terms([row.text for row in rows])
    return [
        row
        for row, those in zip(rows, terms, strict=True)
        if wanted <= set(those) and all(name.search(row.text) for name in names)
    ]


def _words(concept: str | None) -> frozenset[str]:
    if concept is None:
        return frozenset()
    if len(concept) > LONGEST_CONCEPT:
        raise QueryError(f"A concept has at most {LONGEST_CONCEPT} characters.", "Name it in a few words.")
    words = frozenset(word_terms([concept])[0])
    if not words:
        raise QueryError("The concept has no words to look for.", "Name it in a few words, or leave it out for all.")
    return words


def _quoted(
    index: OpenIndex, cursor: duckdb.DuckDBPyConnection, rows: Sequence[_Row]
) -> tuple[list[Tension], list[Citation]]:
    """The pairs of which both quotes stand in their papers, and their citations, each quote once."""
    sides = dict.fromkeys(tuple(ids) for row in rows for ids in (row.first_ids, row.second_ids))
    sentences = sentences_by_id(cursor, (name for side in sides for name in side))
    windows: dict[tuple[str, ...], Window] = {}
    for side in sides:
        found = in_order(sentences, side)
        if len(found) == len(side):
            windows[side] = Window(found, found[:1])
    numbers = dict(cite_windows(cursor, list(windows.values())))
    cited = {side: numbers[window] for side, window in windows.items() if window in numbers}
    kept = [row for row in rows if tuple(row.first_ids) in cited and tuple(row.second_ids) in cited]
    used = dict.fromkeys(tuple(ids) for row in kept for ids in (row.first_ids, row.second_ids))
    citations = [cited[side].model_copy(update={"n": n}) for n, side in enumerate(used, start=1)]
    place = {side: citation.n for side, citation in zip(used, citations, strict=True)}
    return [_tension(index, row, place) for row in kept], citations


def _tension(index: OpenIndex, row: _Row, place: dict[tuple[str, ...], int]) -> Tension:
    first = _side(index, row.first_paper, row.first_statement, row.first_cue, place[tuple(row.first_ids)])
    second = _side(index, row.second_paper, row.second_statement, row.second_cue, place[tuple(row.second_ids)])
    return Tension(
        tension_id=row.tension_id,
        kind=row.kind,
        concept=row.concept,
        score=row.score,
        engine=row.engine,
        first=first,
        second=second,
    )


def _side(index: OpenIndex, paper_id: str, statement: str, cue: str, citation: int) -> TensionSide:
    about = index.about_papers[paper_id]
    return TensionSide(
        paper_id=paper_id, paper_title=about.title, year=about.year, statement=statement, cue=cue, citation=citation
    )
