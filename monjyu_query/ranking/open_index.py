"""One opened snapshot with all that a request reads: database, corpus, full text. Shared by threads, never changed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monjyu_core.errors import StorageError
from monjyu_core.paper import Retraction, retractions
from monjyu_core.settings.search import PriorSettings
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.keyword_file import SearchFile, StoredChunks
from monjyu_core.storage.nearest_table import MIN_RECALL, NearestTable
from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.asking.passages import Passage, PassageSentence, load_passages, sentences_by_chunk
from monjyu_query.ranking.corpus import Corpus, load_corpus, open_search_files
from monjyu_query.ranking.fusion import Mask, Scores
from monjyu_query.ranking.query_embedding import Scale, scale_of
from monjyu_query.ranking.retrieval import KeywordIndex
from monjyu_query.ranking.scripts import wide_chunks
from monjyu_query.ranking.vector_store import AzureSearchStore, LocalStore, Nearest, VectorStore

# What speaks for a paper before it is read: citations in the collection, works shared with the best hits, its year.
# All weights are 0 unless set: measured, none of them helps (docs/benchmarks.md).


BEST = 10
"""Passages whose papers count as hits."""

_WORKS = """
SELECT DISTINCT citing_id AS paper_id, cited_id AS work FROM citation_edges
UNION SELECT DISTINCT i.canonical_id, u.work_id FROM unresolved_references u JOIN paper_identity i USING (paper_id)
"""
_CITED = "SELECT cited_id, count(DISTINCT citing_id) FROM citation_edges GROUP BY cited_id"
_COUPLED = f"""
WITH works AS ({_WORKS}), sizes AS (SELECT paper_id, count(*) AS n FROM works GROUP BY paper_id)
SELECT a.paper_id, b.paper_id, count(*) / sqrt(any_value(x.n) * any_value(y.n))
FROM works a JOIN works b USING (work) JOIN sizes x ON x.paper_id = a.paper_id JOIN sizes y ON y.paper_id = b.paper_id
WHERE a.paper_id <> b.paper_id GROUP BY ALL
"""
_EDGES = """
SELECT citing_id, cited_id, 1.0 FROM citation_edges UNION SELECT cited_id, citing_id, 1.0 FROM citation_edges"""


@dataclass(frozen=True)
class PaperPrior:
    """For m papers: `cited` (m,) the logarithm of how often others here cite it, `recent` (m,) its year, both with mean
    0 and deviation 1; `pairs` (p, 2) of papers that are coupled, `strength` (p,) from 0 to 1: the cosine of their
    references (Kessler 1963, "Bibliographic coupling between scientific papers", normalised), 1 where one cites the
    other."""

    cited: NDArray[np.float32]
    recent: NDArray[np.float32]
    pairs: NDArray[np.intp]
    strength: NDArray[np.float32]

    def weighted(self, scores: Scores, corpus: Corpus, passing: Mask, weights: PriorSettings) -> Scores:
        """Scores (n,) in deviations, with what the weights say of each chunk's paper added."""
        found = weights.cited * self.cited + weights.recent * self.recent
        if weights.coupled and len(self.pairs):
            found = found + weights.coupled * self._coupled(scores, corpus, passing)
        return np.where(passing, scores + found[corpus.paper], scores).astype(np.float32)

    def _coupled(self, scores: Scores, corpus: Corpus, passing: Mask) -> NDArray[np.float32]:
        """How closely each paper (m,) is coupled with the papers of the best passages, itself left out."""
        ranked = np.where(passing, scores, -np.inf)
        best = np.argsort(-ranked, kind="stable")[:BEST]
        hit = np.zeros(len(corpus.paper_ids), np.bool_)
        hit[corpus.paper[best[ranked[best] > -np.inf]]] = True
        held = np.zeros(len(corpus.paper_ids), np.float32)
        of_hits = hit[self.pairs[:, 1]]
        np.add.at(held, self.pairs[of_hits, 0], self.strength[of_hits])
        return (held / max(int(hit.sum()), 1)).astype(np.float32)


def read_prior(snapshot: Snapshot, corpus: Corpus) -> PaperPrior:
    """What a snapshot's citation network and years say of the corpus's papers; a file stands as its paper."""
    cursor = snapshot.cursor()
    canonical = dict(cursor.execute("SELECT paper_id, canonical_id FROM paper_identity").fetchall())
    files: dict[str, list[int]] = {}
    for place, paper_id in enumerate(corpus.paper_ids):
        files.setdefault(canonical.get(paper_id, paper_id), []).append(place)
    cited = np.zeros(len(corpus.paper_ids))
    for paper_id, count in cursor.execute(_CITED).fetchall():
        cited[files.get(paper_id, [])] = np.log1p(count)
    years = dict(cursor.execute("SELECT paper_id, year FROM papers WHERE year IS NOT NULL").fetchall())
    recent = np.array([years.get(paper_id, np.nan) for paper_id in corpus.paper_ids], np.float64)
    coupled = {(a, b): strength for query in (_COUPLED, _EDGES) for a, b, strength in cursor.execute(query).fetchall()}
    pairs = [
        (one, other, strength)
        for (a, b), strength in coupled.items()
        for one in files.get(a, ())
        for other in files.get(b, ())
    ]
    return PaperPrior(
        _standard(cited),
        _standard(recent),
        np.array([pair[:2] for pair in pairs], np.intp).reshape(-1, 2),
        np.array([pair[2] for pair in pairs], np.float32),
    )


def _standard(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """With mean 0 and deviation 1; 0 where a value is not known, or all are the same."""
    known = values[~np.isnan(values)]
    spread = float(known.std()) if known.size else 0.0
    scaled = (values - known.mean()) / spread if spread > 0 else np.zeros(len(values))
    return np.nan_to_num(scaled).astype(np.float32)


_log = logging.getLogger(__name__)


class AboutPaper(NamedTuple):
    title: str
    year: int | None
    doi: str | None


@dataclass(frozen=True)
class OpenIndex:
    """`wide` (n,) are the chunks in Chinese, Japanese or Korean; `nearest` is there where chunks are too many to be
    compared one by one; `kept` are rows of chunks that were read before, `kept_chunks` passages with their
    sentences, `kept_papers` whole papers."""

    snapshot: Snapshot
    corpus: Corpus
    keywords: KeywordIndex
    store: VectorStore
    wide: Mask
    chunks: StoredChunks
    nearest: Nearest | None = None
    kept: dict[str, Any] = field(default_factory=dict, compare=False)
    kept_chunks: dict[str, Any] = field(default_factory=dict, compare=False)
    kept_papers: dict[str, Any] = field(default_factory=dict, compare=False)

    @cached_property
    def scale(self) -> Scale:
        """What a similarity says under the snapshot's model."""
        return scale_of(self.snapshot.manifest.embedding.model, self.corpus.vectors)

    @cached_property
    def prior(self) -> PaperPrior:
        """What speaks for the papers before they are read."""
        return read_prior(self.snapshot, self.corpus)

    @cached_property
    def retracted(self) -> dict[str, Retraction]:
        """The retracted papers."""
        return retractions(self.snapshot.cursor())

    @cached_property
    def languages(self) -> frozenset[str]:
        """Of the papers, as ISO 639-1 codes."""
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
        """What is said of each paper where it is named."""
        rows = self.snapshot.cursor().execute("SELECT paper_id, coalesce(title, ''), year, doi FROM papers").fetchall()
        return {row[0]: AboutPaper(*row[1:]) for row in rows}


def open_index(snapshot: Snapshot, settings: Settings | None = None) -> OpenIndex:
    """Map a snapshot's search files and read what stands beside them. StorageError where they cannot be read, or where
    `search.backend` of the settings names a service that does not hold the snapshot.

    The snapshot is closed, and its lease ends, when the last request lets go of it.
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
    """The approximate index, where the snapshot has one that finds enough and can be read."""
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


# Chunks with all their sentences, kept in memory by the open snapshot: searches come upon the same ones again.


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
