"""What levels 2 to 4 know of a question: the chunks behind its entities, relationships, report findings and claims."""

from __future__ import annotations

from monjyu_query.answers.selection import Question
from monjyu_query.knowledge.concept_graph import has_tables
from monjyu_query.ranking.open_index import OpenIndex

MOST = 1000
"""Of each kind that are compared with a question, those with most of its words first."""
_LEAST_SHARE = 0.3
"""Of what the question's terms weigh, that a text must have to lead to its chunks."""
_KINDS: dict[str, tuple[int, str]] = {
    "entities": (
        2,
        """SELECT e.name || ' ' || coalesce(e.description, '') AS text, list(c.chunk_id) AS chunks
        FROM entities e JOIN entity_chunks c USING (entity_id) GROUP BY e.entity_id, text""",
    ),
    "relationships": (2, "SELECT description AS text, chunk_ids AS chunks FROM relationships"),
    "community_reports": (
        3,
        """SELECT text, list(DISTINCT chunk_id) AS chunks FROM (
            SELECT f.summary || ' ' || f.explanation AS text, unnest(f.sentence_ids) AS sentence_id
            FROM (SELECT unnest(findings) AS f FROM community_reports)) JOIN chunk_sentences USING (sentence_id)
        GROUP BY text""",
    ),
    "claims": (4, "SELECT coalesce(subject, '') || ' ' || statement AS text, [chunk_id] AS chunks FROM claims"),
}
_LIKE = """WITH told AS ({}), counted AS (SELECT text, chunks,
    len(list_filter($words::VARCHAR[], lambda word: contains(lower(text), word))) AS words FROM told)
SELECT text, chunks FROM counted WHERE words > 0 ORDER BY words DESC, text LIMIT $most"""


def leads_of(index: OpenIndex, question: Question, level: int) -> dict[int, tuple[float, int]]:
    """The rows of chunks that texts of levels 2 up to `level` rest on, with the largest share (0 to 1) of the
    question's terms that such a text has, and its level. Empty where the snapshot has none of them."""
    cursor = index.snapshot.cursor()
    words = [word for word in question.weights if len(word) > 1]
    found: dict[str, tuple[float, int]] = {}
    for table, (of, told) in _KINDS.items():
        if of > level or not words or not has_tables(cursor, (table,)):
            continue
        rows = cursor.execute(_LIKE.format(told), {"words": words, "most": MOST}).fetchall()
        terms = index.keywords.terms([text for text, _ in rows])
        for (_, chunks), own in zip(rows, terms, strict=True):
            share = question.share(set(own))
            if share >= _LEAST_SHARE:
                found |= {chunk: max(found.get(chunk, (0.0, 0)), (share, of)) for chunk in chunks}
    return {row: found[chunk] for chunk, row in index.corpus.chunk_ids.rows_of(found).items()}
