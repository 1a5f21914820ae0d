"""Chunks with all their sentences, kept in memory by the open snapshot: searches come upon the same ones again."""

from __future__ import annotations

from collections.abc import Iterable

from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage, PassageSentence, load_passages, sentences_by_chunk

MOST_KEPT = 5000
"""Chunks with their sentences that an open snapshot keeps in memory, some kilobytes each."""


def read_chunks(index: OpenIndex, names: Iterable[str]) -> dict[str, tuple[Passage, tuple[PassageSentence, ...]]]:
    """The chunks with these ids and their sentences in order; those read before from memory."""
    kept, wanted = index.kept_chunks, list(dict.fromkeys(names))
    found = {name: kept[name] for name in wanted if name in kept}
    missing = [name for name in wanted if name not in found]
    if missing:
        rows = index.corpus.chunk_ids.rows_of(missing).values()
        cursor = index.snapshot.cursor_of(index.corpus.paper_ids[index.corpus.paper[row]] for row in rows)
        passages = load_passages(cursor, missing, [0.0] * len(missing), index.kept)
        sentences = sentences_by_chunk(cursor, passages)
        read = {passage.chunk_id: (passage, tuple(sentences[passage.chunk_id])) for passage in passages}
        if len(kept) + len(read) > MOST_KEPT:
            kept.clear()
        kept.update(read)
        found |= read
    return found
