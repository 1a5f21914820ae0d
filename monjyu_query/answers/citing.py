"""Sentences to citations, each looked up in its source first."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from monjyu_core.paper import Span
from monjyu_query.search.passages import PassageSentence, standing
from monjyu_query.search.result import Citation


def cite(cursor: duckdb.DuckDBPyConnection, sentences: Sequence[PassageSentence]) -> list[Citation]:
    """A numbered citation for every sentence that stands in its source; the others are left out."""
    return [_citation(number, sentence) for number, sentence in enumerate(standing(cursor, sentences), start=1)]


def _citation(number: int, sentence: PassageSentence) -> Citation:
    spans = [Span.model_validate(span) for span in sentence.spans]
    first = spans[0] if spans else None
    return Citation(
        n=number,
        paper_id=sentence.passage.paper_id,
        paper_title=sentence.passage.paper_title,
        chunk_id=sentence.passage.chunk_id,
        sentence_ids=[sentence.sentence_id],
        quote=sentence.text,
        page=first.page if first else None,
        boxes=first.boxes if first else [],
        spans=spans,
    )
