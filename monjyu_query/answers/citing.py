"""Quotes to citations, each looked up in its source first."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import duckdb

from monjyu_core.paper import Box, Span
from monjyu_core.retractions import retractions
from monjyu_query.answers.quote_windows import Window, lone
from monjyu_query.asking.passages import PassageSentence, load_passages, section_texts, standing
from monjyu_query.asking.result import Citation

_SENTENCES = """SELECT sentence_id, paper_id, section_ord, ord, start, "end", text, spans FROM sentences
WHERE sentence_id IN (SELECT unnest($ids::VARCHAR[]))"""


def cite(cursor: duckdb.DuckDBPyConnection, sentences: Sequence[PassageSentence]) -> list[Citation]:
    """A numbered citation for every sentence that stands in its source; the others are left out."""
    return [citation for _, citation in cite_windows(cursor, [lone(sentence) for sentence in sentences])]


def cite_windows(cursor: duckdb.DuckDBPyConnection, windows: Sequence[Window]) -> list[tuple[Window, Citation]]:
    """Each window with its numbered citation, whose quote is what stands in the source from its first sentence to its
    last. A window of which a sentence does not stand there is left out."""
    sentences = [sentence for window in windows for sentence in window.sentences]
    texts = section_texts(cursor, sentences)
    real = {sentence.sentence_id for sentence in standing(texts, sentences)}
    retracted = retractions(cursor)
    whole = [window for window in windows if all(s.sentence_id in real for s in window.sentences)]
    return [(window, _citation(n, window, texts, retracted)) for n, window in enumerate(whole, start=1)]


def cite_again(cursor: duckdb.DuckDBPyConnection, citations: Sequence[Citation]) -> list[Citation]:
    """Citations of another time as this snapshot has them: their quotes, papers, pages and boxes. Those are left out of
    which a sentence or the chunk is missing, or a sentence is of another paper than the chunk."""
    ids = [name for citation in citations for name in citation.sentence_ids]
    rows = {row[0]: row for row in cursor.execute(_SENTENCES, {"ids": ids}).fetchall()}
    chunks = list({citation.chunk_id for citation in citations})
    passages = {one.chunk_id: one for one in load_passages(cursor, chunks, [0.0] * len(chunks))}
    again: list[Citation] = []
    for citation in citations:
        passage = passages.get(citation.chunk_id)
        found = [rows[name] for name in citation.sentence_ids if name in rows]
        if passage is None or not found or [row[1] for row in found] != [passage.paper_id] * len(citation.sentence_ids):
            continue
        sentences = [
            PassageSentence(passage, name, section, place, start, end, text, tuple(spans or ()))
            for name, _, section, place, start, end, text, spans in found
        ]
        key = next((one for one in sentences if one.text == citation.key), sentences[0])
        known = {"n": citation.n, "relevance": citation.relevance}
        again += [one.model_copy(update=known) for _, one in cite_windows(cursor, [Window(tuple(sentences), (key,))])]
    return again


def _citation(number: int, window: Window, texts: dict[tuple[str, int], str], retracted: Container[str]) -> Citation:
    first, last = window.sentences[0], window.sentences[-1]
    spans = _spans(window.sentences)
    return Citation(
        n=number,
        paper_id=first.passage.paper_id,
        paper_title=first.passage.paper_title,
        chunk_id=first.passage.chunk_id,
        sentence_ids=[sentence.sentence_id for sentence in window.sentences],
        quote=texts[first.passage.paper_id, first.section_ord][first.start : last.end],
        key=window.key.text if len(window.sentences) > 1 else None,
        page=spans[0].page if spans else None,
        boxes=spans[0].boxes if spans else [],
        spans=spans,
        retracted=first.passage.paper_id in retracted,
    )


def _spans(sentences: Iterable[PassageSentence]) -> list[Span]:
    """The boxes of all sentences, page by page in reading order."""
    pages: dict[int, list[Box]] = {}
    for sentence in sentences:
        for span in map(Span.model_validate, sentence.spans):
            pages.setdefault(span.page, []).extend(span.boxes)
    return [Span(page=page, boxes=boxes) for page, boxes in pages.items()]
