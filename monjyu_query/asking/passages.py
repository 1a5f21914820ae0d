"""Rows of a snapshot from which answers are composed: the retrieved chunks and their sentences."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import duckdb

from monjyu_core.errors import QueryError
from monjyu_core.paper import Box, Span
from monjyu_core.values import Values
from monjyu_query.asking.result import Hit


@dataclass(frozen=True)
class Passage:
    """A chunk with its score; `header` is its header in the index, `text` the raw text."""

    chunk_id: str
    paper_id: str
    paper_title: str
    section_type: str
    header: str
    text: str
    page: int | None
    score: float


@dataclass(frozen=True)
class PassageSentence:
    """A sentence of a passage. `place` is its position within the paper; `start` and `end` are offsets in the section;
    `spans` are the pages and boxes, as in the table `sentences`."""

    passage: Passage
    sentence_id: str
    section_ord: int
    place: int
    start: int
    end: int
    text: str
    spans: tuple[Any, ...]

    @classmethod
    def of(cls, passage: Passage, row: Sequence[Any]) -> Self:
        """The sentence from a row with the columns after `passage`."""
        return cls(passage, *[*row[:-1], tuple(row[-1] or ())])


MOST_KEPT = 10_000
"""The number of chunk rows that an open snapshot caches in memory, about a kilobyte each."""

_CHUNKS = """SELECT c.chunk_id, c.paper_id, coalesce(p.title, ''), c.section_type, c.header, c.text, c.page_start
FROM chunks c JOIN papers p ON p.paper_id = c.paper_id WHERE c.chunk_id IN ({chunks})"""

_SENTENCES = """SELECT l.chunk_id, s.sentence_id, s.section_ord, s.ord, s.start, s."end", s.text, s.spans
FROM chunk_sentences l JOIN sentences s ON s.sentence_id = l.sentence_id
WHERE l.chunk_id IN ({chunks}) ORDER BY l.chunk_id, l.ord"""

_BEFORE = """SELECT paper_id, sentence_id, section_ord, ord, start, "end", text, spans FROM sentences
WHERE (paper_id, section_ord, ord) IN ({places})"""

_SECTIONS = "SELECT paper_id, section_ord, text FROM sections WHERE paper_id IN ({papers})"


def _fetch(cursor: duckdb.DuckDBPyConnection, query: str, name: str, values: Sequence[str]) -> list[Any]:
    """The rows of a query whose values have a placeholder each, which DuckDB filters faster than a list."""
    marks = ", ".join("?" * len(values))
    return cursor.execute(query.format(**{name: marks}), list(values)).fetchall()


def load_passages(
    cursor: duckdb.DuckDBPyConnection,
    chunks: Sequence[str],
    scores: Sequence[float] | None = None,
    kept: Values | None = None,
) -> list[Passage]:
    """The `chunks` (ids) as passages in the same order, with their scores (by default 0); unknown chunks are omitted.
    `kept` caches rows of the snapshot, because a look-up of ten rows takes a third of a hybrid search's time. Threads
    may share it."""
    rows: Values = {name: row for name in chunks if kept and (row := kept.get(name)) is not None}
    missing = [name for name in chunks if name not in rows]
    if missing:
        read = {row[0]: row for row in _fetch(cursor, _CHUNKS, "chunks", missing)}
        rows |= read
        if kept is not None:
            if len(kept) + len(read) > MOST_KEPT:
                kept.clear()
            kept.update(read)
    found = zip(chunks, [0.0] * len(chunks) if scores is None else scores, strict=True)
    return [Passage(*[*rows[chunk_id], score]) for chunk_id, score in found if chunk_id in rows]


def load_sentences(cursor: duckdb.DuckDBPyConnection, passages: Sequence[Passage]) -> list[PassageSentence]:
    """The sentences of the passages, best passage first; a sentence in several belongs to the best of them."""
    found: dict[str, PassageSentence] = {}
    for sentences in sentences_by_chunk(cursor, passages).values():
        for sentence in sentences:
            found.setdefault(sentence.sentence_id, sentence)
    return list(found.values())


def sentences_by_chunk(
    cursor: duckdb.DuckDBPyConnection, passages: Sequence[Passage]
) -> dict[str, list[PassageSentence]]:
    """All sentences of each passage in order, by chunk id; a sentence in the overlap of two chunks is in both."""
    by_id = {passage.chunk_id: passage for passage in passages}
    grouped: dict[str, list[PassageSentence]] = {chunk_id: [] for chunk_id in by_id}
    if not by_id:
        return grouped
    for chunk_id, *row in _fetch(cursor, _SENTENCES, "chunks", list(by_id)):
        grouped[chunk_id].append(PassageSentence.of(by_id[chunk_id], row))
    return grouped


def sentences_before(cursor: duckdb.DuckDBPyConnection, sentences: Sequence[PassageSentence]) -> list[PassageSentence]:
    """The sentence directly before each of `sentences` in its section, assigned to the same passage."""
    wanted = {(s.passage.paper_id, s.section_ord, s.place - 1): s.passage for s in sentences if s.place}
    if not wanted:
        return []
    places = ", ".join(["(?, ?, ?)"] * len(wanted))
    rows = cursor.execute(_BEFORE.format(places=places), [value for place in wanted for value in place]).fetchall()
    return [PassageSentence.of(wanted[paper, row[1], row[2]], row) for paper, *row in rows]


def section_texts(
    cursor: duckdb.DuckDBPyConnection, sentences: Sequence[PassageSentence]
) -> dict[tuple[str, int], str]:
    """The texts of all sections of the sentences' papers, by paper id and number of the section."""
    papers = sorted({sentence.passage.paper_id for sentence in sentences})
    return {(p, place): text for p, place, text in _fetch(cursor, _SECTIONS, "papers", papers)} if papers else {}


def standing(texts: Mapping[tuple[str, int], str], sentences: Sequence[PassageSentence]) -> list[PassageSentence]:
    """The sentences that equal, letter by letter, the text at their position in the `section_texts`."""
    return [
        s for s in sentences if s.text and texts.get((s.passage.paper_id, s.section_ord), "")[s.start : s.end] == s.text
    ]


def spans_by_page(spans: Iterable[Any]) -> list[Span]:
    """The boxes of several sentences' spans, page by page in reading order."""
    pages: dict[int, list[Box]] = {}
    for span in map(Span.model_validate, spans):
        pages.setdefault(span.page, []).extend(span.boxes)
    return [Span(page=page, boxes=boxes) for page, boxes in pages.items()]


def hit_of(passage: Passage) -> Hit:
    """The passage as shown in results."""
    return Hit.model_validate(passage, from_attributes=True)


# Sections of a paper by the names that readers use.
def sections_named(sections: Sequence[tuple[str, str]], wanted: str) -> list[int]:
    """Positions of the sections (heading, section type) that `wanted` names: by number from 1, by type, or by words of
    the heading. Raises QueryError with the existing sections if none matches.
    """
    name = wanted.strip().lower()
    if name.isdecimal() and 0 < int(name) <= len(sections):
        return [int(name) - 1]
    places = range(len(sections))
    found = [place for place in places if sections[place][1] == name]
    found = found or [place for place in places if name in sections[place][0].lower()]
    if not found:
        listed = "; ".join(f"{number}. {heading}" for number, (heading, _) in enumerate(sections, start=1))
        raise QueryError(f"The paper has no section {wanted!r}.", f"It has: {listed}.")
    return found


# Source sentences by their ids: the evidence for entities, findings and claims.
_SENTENCES_BY_ID = """SELECT s.sentence_id, min_by(l.chunk_id, (c.ord, l.chunk_id)), any_value(s.section_ord),
    any_value(s.ord), any_value(s.start), any_value(s."end"), any_value(s.text), any_value(s.spans)
FROM sentences s JOIN chunk_sentences l USING (sentence_id) JOIN chunks c ON c.chunk_id = l.chunk_id
WHERE s.sentence_id IN (SELECT unnest($ids::VARCHAR[]))
    AND (NOT $some OR l.chunk_id IN (SELECT unnest($chunks::VARCHAR[])))
GROUP BY s.sentence_id"""


def sentences_by_id(
    cursor: duckdb.DuckDBPyConnection, ids: Iterable[str], within: Collection[str] | None = None
) -> dict[str, PassageSentence]:
    """The sentences with `ids`, each in the first chunk that contains it; `within` are the chunks that may be read
    (None = all). Sentences outside them are omitted."""
    wanted = sorted(set(ids))
    if not wanted or (within is not None and not within):
        return {}
    values = {"ids": wanted, "some": within is not None, "chunks": sorted(within or ())}
    rows = cursor.execute(_SENTENCES_BY_ID, values).fetchall()
    chunks = sorted({row[1] for row in rows})
    passages = {p.chunk_id: p for p in load_passages(cursor, chunks)}
    return {name: PassageSentence.of(passages[chunk], (name, *row)) for name, chunk, *row in rows if chunk in passages}


def in_order(sentences: dict[str, PassageSentence], ids: Sequence[str]) -> tuple[PassageSentence, ...]:
    """The sentences that were found, in the order of the ids."""
    return tuple(sentences[name] for name in ids if name in sentences)
