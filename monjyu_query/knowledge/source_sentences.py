"""Source sentences by their ids: what entities, findings and claims rest on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import duckdb

from monjyu_query.asking.passages import PassageSentence, load_passages

_SENTENCES = """SELECT s.sentence_id, min_by(l.chunk_id, (c.ord, l.chunk_id)), any_value(s.section_ord),
    any_value(s.ord), any_value(s.start), any_value(s."end"), any_value(s.text), any_value(s.spans)
FROM sentences s JOIN chunk_sentences l USING (sentence_id) JOIN chunks c ON c.chunk_id = l.chunk_id
WHERE s.sentence_id IN (SELECT unnest($ids::VARCHAR[]))
    AND (NOT $some OR l.chunk_id IN (SELECT unnest($chunks::VARCHAR[])))
GROUP BY s.sentence_id"""


def sentences_by_id(
    cursor: duckdb.DuckDBPyConnection, ids: Iterable[str], within: Collection[str] | None = None
) -> dict[str, PassageSentence]:
    """The sentences with these ids, each in the first chunk that has it; `within` are the chunks that may be read (None
    = all). What is in no such chunk is left out."""
    wanted = sorted(set(ids))
    if not wanted or (within is not None and not within):
        return {}
    values = {"ids": wanted, "some": within is not None, "chunks": sorted(within or ())}
    rows = cursor.execute(_SENTENCES, values).fetchall()
    chunks = sorted({row[1] for row in rows})
    passages = {p.chunk_id: p for p in load_passages(cursor, chunks, [0.0] * len(chunks))}
    return {
        name: PassageSentence(passages[chunk], name, section, place, start, end, text, tuple(spans or ()))
        for name, chunk, section, place, start, end, text, spans in rows
        if chunk in passages
    }


def in_order(sentences: dict[str, PassageSentence], ids: Sequence[str]) -> tuple[PassageSentence, ...]:
    """Those of the ids that were found, in their order."""
    return tuple(sentences[name] for name in ids if name in sentences)
