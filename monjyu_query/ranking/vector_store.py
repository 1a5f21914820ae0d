"""The search backends: the open snapshot, or an index of Azure AI Search with the same chunks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from monjyu_core.storage.keyword_file import SearchFile
from monjyu_core.storage.nearest_table import CANDIDATES, NearestTable
from monjyu_query.ranking.corpus import Corpus
from monjyu_query.ranking.fusion import Mask, Scores
from monjyu_query.ranking.retrieval import KeywordIndex

if TYPE_CHECKING:
    from monjyu_core.azure.search_index import FoundChunk, SearchIndexes


class VectorStore(Protocol):
    """The chunks of one snapshot. Scores (n,) are in the corpus's order, arbitrary for chunks that do not pass."""

    def vector_scores(self, query: NDArray[np.float32], passing: Mask) -> Scores:
        """Cosine similarity of each chunk with a query vector (d,) of length 1. A store that returns only the nearest
        chunks assigns the lowest returned similarity to the others."""
        ...

    def keyword_scores(self, query: str, passing: Mask) -> Callable[[], Scores]:
        """A function for the keyword score of each chunk; 0 if no word matches. A remote store begins at once."""
        ...

    def reranked(self, query: str, scores: Scores, passing: Mask) -> Scores:
        """The scores after the store's own ranker, if one is in use."""
        ...


@dataclass(frozen=True)
class LocalStore:
    """The snapshot's own matrix and full text."""

    corpus: Corpus
    keywords: KeywordIndex

    def vector_scores(self, query: NDArray[np.float32], passing: Mask) -> Scores:
        return self.corpus.vectors.similarities(query, passing)

    def keyword_scores(self, query: str, passing: Mask) -> Callable[[], Scores]:
        return lambda: self.keywords.scores(query)

    def reranked(self, query: str, scores: Scores, passing: Mask) -> Scores:
        return scores


@dataclass(frozen=True)
class AzureSearchStore:
    """The index `name` of Azure AI Search, which was published with the snapshot."""

    corpus: Corpus
    indexes: SearchIndexes
    name: str
    semantic: bool = False

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(4, thread_name_prefix="azure-search")

    def vector_scores(self, query: NDArray[np.float32], passing: Mask) -> Scores:
        found = self.indexes.nearest(self.name, query.tolist(), self._papers(passing))
        least = min((one.score for one in found), default=0.0)
        return self._filled(found, least)

    def keyword_scores(self, query: str, passing: Mask) -> Callable[[], Scores]:
        papers = self._papers(passing)
        return self._threads.submit(lambda: self._filled(self.indexes.matching(self.name, query, papers), 0.0)).result

    def reranked(self, query: str, scores: Scores, passing: Mask) -> Scores:
        """The scores, raised so that the chunks of the semantic ranker precede the others, in its order."""
        if not self.semantic:
            return scores
        found = self.indexes.reranked(self.name, query, self._papers(passing))
        above = self._filled(found, 0.0)
        chosen = (above > 0) & passing & (scores > -np.inf)
        if not chosen.any():
            return scores
        return np.where(chosen, scores[passing].max() + above, scores).astype(np.float32)

    def _papers(self, passing: Mask) -> Sequence[str] | None:
        """The papers of the passing chunks; None if all pass."""
        if passing.all():
            return None
        return [self.corpus.paper_ids[code] for code in np.unique(self.corpus.paper[passing])]

    def _filled(self, found: Sequence[FoundChunk], rest: float) -> Scores:
        scores = np.full(len(self.corpus), rest, dtype=np.float32)
        places = self.corpus.chunk_ids.rows_of(one.chunk_id for one in found)
        for one in found:
            if (row := places.get(one.chunk_id)) is not None:
                scores[row] = one.score
        return scores


# The candidate rows of a large corpus for a question: those that the approximate index returns, and all rows that are
# not in it.
SAMPLE = 4096
"""The number of sampled rows for estimating mean and deviation of all, with errors of 1.6 and 1.1 % of the
deviation."""
MOST_CANDIDATES = 20_000

Rows = NDArray[np.intp]


class Nearest:
    """The approximate index over the n rows of a corpus; `files` are the corpus's search files."""

    def __init__(self, table: NearestTable, corpus: Corpus, files: Sequence[SearchFile]) -> None:
        self._table, self._corpus = table, corpus
        keys = np.concatenate([file.keys for file in files])[corpus.vectors.stored]
        self._order = np.argsort(keys).astype(np.int32)
        self._keys = keys[self._order]
        held = np.zeros(len(keys), np.bool_)
        held[self._rows(table.keys())] = True
        self._lacking = np.flatnonzero(~held)

    def rows(self, query: NDArray[np.float32], passing: Mask, count: int) -> Rows:
        """The passing rows that may be near a query vector (d,) of length 1: those that the index returns, and those
        that it lacks. `count` is the number of passing rows."""
        wanted = min(CANDIDATES * len(passing) // max(count, 1), MOST_CANDIDATES)
        found = np.union1d(self._rows(self._table.nearest(query, wanted)), self._lacking)
        return found[passing[found]]

    def sample(self, passing: Mask, count: int) -> tuple[Rows, NDArray[np.float32]]:
        """Evenly spaced rows among the passing ones (`count` of them), with their vectors."""
        if count == len(passing):
            return self._every
        rows = np.flatnonzero(passing)
        some = rows[_even(len(rows))]
        return some, self._corpus.vectors[some]

    @cached_property
    def _every(self) -> tuple[Rows, NDArray[np.float32]]:
        rows = _even(len(self._corpus))
        return rows, self._corpus.vectors[rows]

    def _rows(self, keys: NDArray[np.uint64]) -> Rows:
        """The rows of `keys`; keys of removed chunks are omitted."""
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        found: Rows = self._order[at[self._keys[at] == keys]].astype(np.intp)
        return found


def best_matches(sparse: Scores, passing: Mask) -> Rows:
    """The passing rows with the best keyword scores above 0."""
    rows = np.flatnonzero((sparse > 0) & passing)
    if len(rows) > SAMPLE:  # an even sample gives a score that few exceed; partitioning all takes ten times as long
        usual = np.sort(sparse[rows[_even(len(rows))]])
        fewer = rows[sparse[rows] >= usual[-min(4 * CANDIDATES * SAMPLE // len(rows) + 16, SAMPLE)]]
        rows = fewer if len(fewer) >= CANDIDATES else rows
    if len(rows) > CANDIDATES:
        rows = rows[np.argpartition(-sparse[rows], CANDIDATES)[:CANDIDATES]]
    return rows


def _even(count: int) -> Rows:
    return np.unique(np.linspace(0, count - 1, min(SAMPLE, count)).astype(np.intp))
