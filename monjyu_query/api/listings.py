"""Lists collections, papers and noun phrases (level 1): those with the largest weights, or linked to a phrase."""

from pydantic import BaseModel

from monjyu_core.errors import QueryError, StorageError
from monjyu_core.storage.collection import known_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import Snapshot, current_manifest, read_current
from monjyu_query.papers.records import list_papers
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


class CollectionRecord(BaseModel):
    """A collection. All fields except name and language describe the published snapshot; without one they are None, 0
    or empty. `unreadable` is the reason why the snapshot cannot be read, with a hint."""

    name: str
    language: str | None = None
    snapshot_id: str | None = None
    level: int | None = None
    built: str | None = None
    papers: int = 0
    chunks: int = 0
    embedding_model: str | None = None
    behind: list[str] = []
    unreadable: str | None = None


class PaperRecord(BaseModel):
    """A paper in a list. `chunks` is the number of its passages, `retracted` whether a notice retracts it."""

    paper_id: str
    title: str
    authors: list[str]
    year: int | None = None
    venue: str | None = None
    doi: str | None = None
    arxiv_id: str | None = None
    language: str
    document_type: str
    page_count: int
    is_academic_paper: bool
    keywords: list[str]
    source_path: str
    chunks: int
    retracted: bool = False


def collection_record(data: DataFolder, name: str) -> CollectionRecord:
    """Return the collection as its published snapshot describes it."""
    language = known_record(data, name).language
    folder = data.collection(name)
    try:
        if read_current(folder) is None:
            return CollectionRecord(name=name, language=language)
        manifest = current_manifest(folder)
    except StorageError as error:
        return CollectionRecord(name=name, language=language, unreadable=str(error))
    return CollectionRecord(
        name=name,
        language=language,
        snapshot_id=manifest.snapshot_id,
        level=manifest.level,
        built=manifest.created_at,
        papers=manifest.rows.get("papers", 0),
        chunks=manifest.rows.get("chunks", 0),
        embedding_model=manifest.embedding.model,
        behind=manifest.behind,
    )


def paper_records(snapshot: Snapshot) -> list[PaperRecord]:
    """Return the papers of a snapshot, ordered by title."""
    found = list_papers(snapshot)
    return [PaperRecord(**one | {"title": one["title"] or "", "keywords": one["keywords"] or []}) for one in found]
