"""The fields of a collection and of a paper in lists."""

from pydantic import BaseModel

from monjyu_core.errors import StorageError
from monjyu_core.storage.collection import known_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import Snapshot, current_manifest, read_current
from monjyu_query.papers.records import list_papers


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
