"""Looks up noun phrases (level 1): those with the largest weights, and those that occur together with a phrase."""

from pydantic import BaseModel

from monjyu_core.errors import QueryError
from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.questions.theme_tree import check_level

_TOP = """SELECT phrase, surface, df, papers, tfidf, degree FROM graph_nodes
ORDER BY tfidf DESC, phrase LIMIT $most"""
_KEY = """SELECT phrase FROM graph_nodes WHERE phrase = $text OR lower(surface) = lower($text)
ORDER BY phrase = $text DESC, df DESC, phrase LIMIT 1"""
_BESIDE = """WITH near AS (
    SELECT target AS other, cooccurrences, weight FROM graph_edges WHERE source = $phrase
    UNION ALL SELECT source, cooccurrences, weight FROM graph_edges WHERE target = $phrase)
SELECT other, coalesce(surface, other), cooccurrences, weight FROM near LEFT JOIN graph_nodes ON phrase = other
ORDER BY weight DESC, other LIMIT $most"""


class PhraseRecord(BaseModel):
    """A phrase of the noun graph. `text` is its most frequent spelling, `chunks` and `papers` are the numbers of chunks
    and papers that contain it, and `degree` is the number of phrases linked to it."""

    phrase: str
    text: str
    chunks: int
    papers: int
    tfidf: float
    degree: int


class CoOccurrence(BaseModel):
    """A phrase that is linked to another, with the number of common chunks and the edge's weight in `graph_edges`."""

    phrase: str
    text: str
    chunks: int
    weight: float


def top_phrases(snapshot: Snapshot, most: int) -> list[PhraseRecord]:
    """Return up to `most` phrases by decreasing tf-idf weight. Raises QueryError below level 1."""
    check_level(snapshot, 1, "The noun graph")
    rows = snapshot.cursor().execute(_TOP, {"most": most}).fetchall()
    return [PhraseRecord(**dict(zip(PhraseRecord.model_fields, row, strict=True))) for row in rows]


def co_occurrences(snapshot: Snapshot, phrase: str, most: int) -> list[CoOccurrence]:
    """Return up to `most` phrases linked to `phrase` (its key or its most frequent spelling), by decreasing weight.
    Raises QueryError below level 1, and if `phrase` is not in the graph."""
    check_level(snapshot, 1, "The noun graph")
    cursor = snapshot.cursor()
    found = cursor.execute(_KEY, {"text": " ".join(phrase.split())}).fetchone()
    if found is None:
        raise QueryError(
            f"The noun graph has no phrase {phrase!r}.", "`top_phrases` returns the phrases with the largest weights."
        )
    rows = cursor.execute(_BESIDE, {"phrase": found[0], "most": most}).fetchall()
    return [CoOccurrence(**dict(zip(CoOccurrence.model_fields, row, strict=True))) for row in rows]
