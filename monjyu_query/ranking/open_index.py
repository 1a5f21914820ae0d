"""An opened snapshot with everything that a request reads: database, corpus, full text. Threads share it."""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from monjyu_core.errors import StorageError
from monjyu_core.paper import Retraction, retractions
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.keyword_file import SearchFile, StoredChunks
from monjyu_core.storage.nearest_table import MIN_RECALL, NearestTable
from monjyu_core.storage.snapshot import Snapshot
from monjyu_core.values import Values
from monjyu_query.asking.passages import Passage, PassageSentence, load_passages, sentences_by_chunk
from monjyu_query.ranking.corpus import Corpus, load_corpus, open_search_files
from monjyu_query.ranking.fusion import Mask
from monjyu_query.ranking.query_embedding import Scale, scale_of
from monjyu_query.ranking.retrieval import KeywordIndex
from monjyu_query.ranking.scripts import wide_chunks
from monjyu_query.ranking.vector_store import AzureSearchStore, LocalStore, Nearest, VectorStore

_log = logging.getLogger(__name__)
T = TypeVar("T")


class AboutPaper(NamedTuple):
    title: str
    year: int | None
    doi: str | None


@dataclass(frozen=True)
class OpenIndex:
    """A snapshot opened for searches. `wide` (n,) marks chunks in Chinese, Japanese or Korean; `nearest` is set if the
    collection has too many chunks for an exact comparison; `kept` caches rows of chunks, `kept_chunks` passages with
    their sentences, `kept_papers` whole papers."""

    snapshot: Snapshot
    corpus: Corpus
    keywords: KeywordIndex
    store: VectorStore
    wide: Mask
    chunks: StoredChunks
    nearest: Nearest | None = None
    kept: Values = field(default_factory=dict, compare=False)
    kept_chunks: Values = field(default_factory=dict, compare=False)
    kept_papers: Values = field(default_factory=dict, compare=False)

    @cached_property
    def scale(self) -> Scale:
        """The similarity (low, high) of the closest chunk to an unrelated and to a well-answered question."""
        return scale_of(self.snapshot.manifest.embedding.model, self.corpus.vectors)

    @cached_property
    def retracted(self) -> dict[str, Retraction]:
        """The retracted papers."""
        return retractions(self.snapshot.cursor())

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages of the papers, as ISO 639-1 codes."""
        rows = (
            self.snapshot.cursor().execute("SELECT DISTINCT language FROM papers WHERE language IS NOT NULL").fetchall()
        )
        return frozenset(row[0] for row in rows)

    @cached_property
    def written_reports(self) -> bool:
        """Whether a model wrote reports of the communities."""
        query = "SELECT count(*) FROM community_reports WHERE starts_with(engine, 'llm')"
        level = self.snapshot.manifest.level
        return level >= 3 and bool(self.snapshot.cursor().execute(query).fetchall()[0][0])

    @cached_property
    def about_papers(self) -> dict[str, AboutPaper]:
        """Title, year and DOI of each paper."""
        rows = self.snapshot.cursor().execute("SELECT paper_id, coalesce(title, ''), year, doi FROM papers").fetchall()
        return {row[0]: AboutPaper(*row[1:]) for row in rows}


def open_index(snapshot: Snapshot, settings: Settings | None = None) -> OpenIndex:
    """Map a snapshot's search files and read the rest. Raises StorageError if they cannot be read, or `search.backend`
    of the settings names a service that does not have the snapshot.

    The snapshot is closed, and its lease ends, when the last request releases it.
    """
    files = open_search_files(snapshot)
    corpus = load_corpus(snapshot, files)
    keywords = KeywordIndex(files, corpus)
    local = settings is None or settings.search.backend == "local"
    store = LocalStore(corpus, keywords) if settings is None or local else _of_azure(snapshot, corpus, settings)
    nearest = _nearest(snapshot, corpus, files) if local else None
    stored = StoredChunks(files, corpus.vectors.stored)
    return OpenIndex(snapshot, corpus, keywords, store, wide_chunks(snapshot, corpus), stored, nearest)


def _nearest(snapshot: Snapshot, corpus: Corpus, files: Sequence[SearchFile]) -> Nearest | None:
    """The approximate index; None if the snapshot has none that can be read and has enough recall."""
    entry = snapshot.manifest.nearest
    if entry is None or entry.recall < MIN_RECALL:
        return None
    try:
        return Nearest(NearestTable(snapshot.collection.lance, entry), corpus, files)
    except StorageError as error:
        _log.warning("Every chunk of %s is compared: %s", snapshot.id, error.message)
        return None


def _of_azure(snapshot: Snapshot, corpus: Corpus, settings: Settings) -> AzureSearchStore:
    from monjyu_core.azure.search_index import SearchIndexes, index_name

    collection = snapshot.collection.name
    name = index_name(settings.azure.search.index_prefix, collection, snapshot.id)
    indexes = SearchIndexes(settings.azure)
    if not indexes.holds(name, snapshot.manifest.embedding.dimensions, len(corpus)):
        indexes.close()
        raise StorageError(
            f"Azure AI Search does not have snapshot {snapshot.id}.", f"`monjyu index -c {collection}` publishes it."
        )
    return AzureSearchStore(corpus, indexes, name, settings.azure.search.semantic)


class PerSnapshot(Generic[T]):
    """What `read` derives from an open snapshot, kept for the most recent one. Thread-safe."""

    def __init__(self, read: Callable[[OpenIndex], T]) -> None:
        self._read, self._lock = read, threading.Lock()
        self._kept: tuple[str, T] | None = None

    def of(self, index: OpenIndex) -> T:
        with self._lock:
            if self._kept is None or self._kept[0] != index.snapshot.id:
                self._kept = (index.snapshot.id, self._read(index))
            return self._kept[1]


# Chunks with all their sentences, cached by the open snapshot, because searches read the same ones again.
MOST_KEPT = 5000
"""The number of chunks with their sentences that an open snapshot caches, some kilobytes each."""


def read_chunks(index: OpenIndex, names: Iterable[str]) -> dict[str, tuple[Passage, tuple[PassageSentence, ...]]]:
    """The chunks `names` (ids) and their sentences in order, from the cache if possible."""
    kept, wanted = index.kept_chunks, list(dict.fromkeys(names))
    found = {name: kept[name] for name in wanted if name in kept}
    missing = [name for name in wanted if name not in found]
    if missing:
        rows = index.corpus.chunk_ids.rows_of(missing).values()
        cursor = index.snapshot.cursor_of(index.corpus.paper_ids[index.corpus.paper[row]] for row in rows)
        passages = load_passages(cursor, missing, kept=index.kept)
        sentences = sentences_by_chunk(cursor, passages)
        read = {passage.chunk_id: (passage, tuple(sentences[passage.chunk_id])) for passage in passages}
        if len(kept) + len(read) > MOST_KEPT:
            kept.clear()
        kept.update(read)
        found |= read
    return found
