"""Where passages are looked up: in the open snapshot, or in an index of Azure AI Search that holds the same chunks."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from monjyu_query.ranking.corpus import Corpus
from monjyu_query.ranking.fusion import Mask, Scores
from monjyu_query.ranking.retrieval import KeywordIndex

if TYPE_CHECKING:
    from monjyu_core.azure.search_index import FoundChunk, SearchIndexes


class VectorStore(Protocol):
    """The chunks of one snapshot. Scores (n,) are in the corpus's order; what does not pass may have any."""

    def vector_scores(self, query: NDArray[np.float32], passing: Mask) -> Scores:
        """Cosine similarity of each chunk with a query vector (d,) of length 1. A store that finds only the nearest
        gives the others the least similarity found."""
        ...

    def keyword_scores(self, query: str, passing: Mask) -> Future[Scores]:
        """How well each chunk's words match; 0 where none does."""
        ...

    def reranked(self, query: str, scores: Scores, passing: Mask) -> Scores:
        """The scores after a ranker of the store's own, if it has one in use."""
        ...


@dataclass(frozen=True)
class LocalStore:
    """The snapshot's own matrix and full text."""

    corpus: Corpus
    keywords: KeywordIndex

    def vector_scores(self, query: NDArray[np.float32], passing: Mask) -> Scores:
        return self.corpus.vectors.similarities(query, passing)

    def keyword_scores(self, query: str, passing: Mask) -> Future[Scores]:
        return self.keywords.scores(query)

    def reranked(self, query: str, scores: Scores, passing: Mask) -> Scores:
        return scores


@dataclass(frozen=True)
class AzureSearchStore:
    """An index of the service, `name`, that was published with the snapshot."""

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

    def keyword_scores(self, query: str, passing: Mask) -> Future[Scores]:
        papers = self._papers(passing)
        return self._threads.submit(lambda: self._filled(self.indexes.matching(self.name, query, papers), 0.0))

    def reranked(self, query: str, scores: Scores, passing: Mask) -> Scores:
        """Those that the semantic ranker scored stand above the others, in its order."""
        if not self.semantic:
            return scores
        found = self.indexes.reranked(self.name, query, self._papers(passing))
        above = self._filled(found, 0.0)
        chosen = (above > 0) & passing & (scores > -np.inf)
        if not chosen.any():
            return scores
        return np.where(chosen, scores[passing].max() + above, scores).astype(np.float32)

    def _papers(self, passing: Mask) -> Sequence[str] | None:
        """The papers of the chunks that pass; None where all do."""
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
