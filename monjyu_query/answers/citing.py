"""Quotes to citations, each looked up in its source first."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

import duckdb

from monjyu_core.paper import Box, Span
from monjyu_core.retractions import retractions
from monjyu_query.answers.quote_windows import Window, lone
from monjyu_query.search.passages import PassageSentence, section_texts, standing
from monjyu_query.search.result import Citation


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
