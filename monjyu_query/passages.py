"""Rows of a snapshot that answers are made of: the chunks that were hit, and their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from monjyu_core.paper import Span


@dataclass(frozen=True)
class Passage:
    """A chunk with its score; `header` is what stands before it in the index, `text` the raw text."""

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
    """A sentence of a passage. `place` orders those of a paper; `start` and `end` are offsets in the section."""

    passage: Passage
    sentence_id: str
    section_ord: int
    place: int
    start: int
    end: int
    text: str
    spans: tuple[Span, ...]


_CHUNKS = """SELECT c.chunk_id, c.paper_id, coalesce(p.title, ''), c.section_type, c.header, c.text, c.page_start
FROM chunks c JOIN papers p USING (paper_id)
WHERE list_contains($papers::VARCHAR[], c.paper_id) AND list_contains($chunks::VARCHAR[], c.chunk_id)"""

_SENTENCES = """SELECT l.chunk_id, s.sentence_id, s.section_ord, s.ord, s.start, s."end", s.text, s.spans
FROM chunk_sentences l JOIN sentences s ON s.sentence_id = l.sentence_id AND s.paper_id = l.paper_id
WHERE list_contains($papers::VARCHAR[], l.paper_id) AND list_contains($papers::VARCHAR[], s.paper_id)
  AND list_contains($chunks::VARCHAR[], l.chunk_id)
ORDER BY l.chunk_id, l.ord"""

_SECTION_TEXT = "SELECT text FROM sections WHERE paper_id = ? AND section_ord = ?"


def load_passages(
    cursor: duckdb.DuckDBPyConnection, chunks: Sequence[str], papers: Sequence[str], scores: Sequence[float]
) -> list[Passage]:
    """The chunks with these ids (of these papers), in the given order, with their scores."""
    values = {"chunks": list(chunks), "papers": sorted(set(papers))}
    rows: dict[str, Any] = {row[0]: row for row in cursor.execute(_CHUNKS, values).fetchall()}
    found = zip(chunks, scores, strict=True)
    return [Passage(*(*rows[chunk_id], score)) for chunk_id, score in found if chunk_id in rows]


def load_sentences(cursor: duckdb.DuckDBPyConnection, passages: Sequence[Passage]) -> list[PassageSentence]:
    """The sentences of the passages, best passage first; one that stands in several belongs to the best of them."""
    by_id = {passage.chunk_id: passage for passage in passages}
    values = {"chunks": list(by_id), "papers": sorted({passage.paper_id for passage in passages})}
    grouped: dict[str, list[Any]] = {chunk_id: [] for chunk_id in by_id}
    for chunk_id, *rest in cursor.execute(_SENTENCES, values).fetchall():
        grouped[chunk_id].append(rest)
    seen: set[str] = set()
    sentences: list[PassageSentence] = []
    for chunk_id, passage in by_id.items():
        for sentence_id, section, place, start, end, text, spans in grouped[chunk_id]:
            if sentence_id not in seen:
                seen.add(sentence_id)
                spanned = tuple(Span.model_validate(span) for span in spans or [])
                sentences.append(PassageSentence(passage, sentence_id, section, place, start, end, text, spanned))
    return sentences


def stands_in_source(cursor: duckdb.DuckDBPyConnection, sentence: PassageSentence) -> bool:
    """Whether the sentence is, letter by letter, what stands at its place in its paper's section."""
    row = cursor.execute(_SECTION_TEXT, [sentence.passage.paper_id, sentence.section_ord]).fetchone()
    return bool(row and sentence.text and row[0][sentence.start : sentence.end] == sentence.text)
