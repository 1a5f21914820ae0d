"""Sentences to citations, each looked up in its source first."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from monjyu_query.passages import PassageSentence, stands_in_source
from monjyu_query.result import Citation


def cite(cursor: duckdb.DuckDBPyConnection, sentences: Sequence[PassageSentence]) -> list[Citation]:
    """A numbered citation for every sentence that stands in its source; the others are left out."""
    found = [sentence for sentence in sentences if stands_in_source(cursor, sentence)]
    return [_citation(number, sentence) for number, sentence in enumerate(found, start=1)]


def _citation(number: int, sentence: PassageSentence) -> Citation:
    first = sentence.spans[0] if sentence.spans else None
    return Citation(
        n=number,
        paper_id=sentence.passage.paper_id,
        paper_title=sentence.passage.paper_title,
        chunk_id=sentence.passage.chunk_id,
        sentence_ids=[sentence.sentence_id],
        quote=sentence.text,
        page=first.page if first else None,
        boxes=first.boxes if first else [],
        spans=list(sentence.spans),
    )
