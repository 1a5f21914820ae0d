"""Search in one collection: follows its published snapshots, ranks, answers, cites and leaves a trace."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import duckdb

from monjyu_core.collection import collection_settings, known_record
from monjyu_core.errors import QueryError, StorageError
from monjyu_core.folders import DataFolder
from monjyu_core.models.embedding_calls import charged_to
from monjyu_core.models.ledger import Scope
from monjyu_core.settings import SearchSettings, Settings
from monjyu_core.snapshot import SnapshotReader, read_current
from monjyu_query.answering import Answer, answer_from
from monjyu_query.embedding import QueryEmbedder
from monjyu_query.open_index import OpenIndex, open_index
from monjyu_query.passages import Passage, hit_of, load_passages
from monjyu_query.ranker import Ranking, rank
from monjyu_query.ranking import best_rows
from monjyu_query.request import Filters, SearchRequest
from monjyu_query.result import Routing, SearchResult, Status, Usage
from monjyu_query.retrieval import QueryTerm, vector_scores
from monjyu_query.routing import route
from monjyu_query.traces import TraceLog, new_trace_id, trace_of
from monjyu_query.which_collection import require_collection

if TYPE_CHECKING:
    from monjyu_query.lazy.engine import LazySearch
    from monjyu_query.llm_answer.engine import LlmAnswers
    from monjyu_query.llm_answer.writer import Emit
    from monjyu_query.reranking import Reranker

CANDIDATES = 50
"""Passages that a rerank model reads anew; what ranks lower is not among them."""
ANSWER_PASSAGES = 8
"""An answer rests on this many of the best passages, however few hits are shown."""


class Searcher:
    """Searches of one collection. Safe to share between threads; a request keeps the snapshot it began with."""

    def __init__(self, data: DataFolder, collection: str, traces: TraceLog | None = None) -> None:
        self.collection = collection
        self._reader = SnapshotReader(require_collection(data, collection))
        self.settings: Settings = collection_settings(known_record(data, collection))
        self._embedder = QueryEmbedder(self.settings)
        self._traces = traces
        self._lock = threading.Lock()
        self._index: OpenIndex | None = None
        self._data = data
        self._llm: LlmAnswers | None = None
        self._rerank: Reranker | None = None
        self._lazy: LazySearch | None = None

    def prepare(self, mode: str = "hybrid") -> None:
        """Load the model and the current snapshot, side by side; later searches find them in memory."""
        loading = self._embedder.prepare() if mode != "keyword" else None
        self.current()
        if loading is not None:
            loading.result()

    def current(self) -> OpenIndex:
        """The published snapshot, read into memory once; the one before is let go when its last request ends."""
        with self._lock:
            snapshot = self._reader.current()
            if self._index is None or self._index.snapshot is not snapshot:
                self._index = None  # never two in memory for the sake of one
                self._index = open_index(snapshot)
            return self._index

    def search(
        self, request: SearchRequest, emit: Emit | None = None, cancel: threading.Event | None = None
    ) -> SearchResult:
        """Hits and, unless `answer` is off, a cited answer. QueryError for what cannot be asked.

        `emit` hears of the sentences of a model's answer as they are written and checked, and of each step of mode
        lazy, which `cancel` ends: the result is what there is, as partial.
        """
        started = time.perf_counter()
        mode, routing = route(request, self.settings.search)
        if mode != "keyword" or request.answer:
            self._embedder.prepare()
        index = self.current()
        try:
            result = self._search(index, request, mode, routing, emit, cancel)
        except (duckdb.Error, OSError, RuntimeError) as error:
            if read_current(self._reader.collection) == index.snapshot.id:
                raise StorageError(f"Snapshot {index.snapshot.id} cannot be read: {error}.") from error
            index = self.current()  # later publishes took its files
            result = self._search(index, request, mode, routing, emit, cancel)
        result.usage.seconds = round(time.perf_counter() - started, 6)
        if self._traces is not None:
            settings = self.settings.model_dump(mode="json", include={"search", "answer"})
            self._traces.write(result.trace_id, trace_of(request, result, settings))
        return result

    def rank_papers(self, query: str, mode: str, depth: int) -> list[tuple[str, float]]:
        """The best `depth` papers with the score of their best chunk, best first: what retrieval is measured by."""
        index = self.current()
        ranking = rank(index, self._embedder, query, mode, Filters(), self.settings.search)
        rows = best_rows(ranking.scores, index.corpus.paper, depth, per_paper=1)
        papers = index.corpus.paper_ids
        return [(papers[index.corpus.paper[row]], float(ranking.scores[row])) for row in rows]

    def _search(
        self,
        index: OpenIndex,
        request: SearchRequest,
        mode: str,
        routing: Routing,
        emit: Emit | None,
        cancel: threading.Event | None,
    ) -> SearchResult:
        settings = _settings_for(request, self.settings.search)
        trace_id = new_trace_id()
        scope = Scope("query", trace_id, index.snapshot.manifest.level, self.collection, run_id=trace_id)
        if mode == "lazy":
            warnings = _warnings(index, request, "llm")
            return self._lazy_search().search(index, request, settings, routing, scope, warnings, emit, cancel)
        asked = index.keywords.query_terms(request.query) if request.answer else None
        with charged_to(self.settings, self._data, scope):
            ranking = rank(index, self._embedder, request.query, mode, request.filters, settings)
        wanted = max(settings.top_k, ANSWER_PASSAGES) if request.answer else settings.top_k
        reranks = self.settings.roles.rerank.engine == "llm"
        count = max(wanted, CANDIDATES) if reranks else wanted
        corpus, cap = index.corpus, _cap(request, settings, count)
        rows = best_rows(ranking.scores, corpus.work, count, cap, settings.min_score, corpus.passage)
        passages, note = _passages(index, ranking, rows), ""
        if reranks:
            passages, note = self._reranker().rerank(request.query, passages, scope)
        answer, engine, usage = Answer("", "complete"), "none", Usage()
        if asked:
            closest = self._closest(index, request.query, ranking, rows)
            best = passages[:ANSWER_PASSAGES]
            answer, engine, usage = self._answer(index, request, best, asked.result(), closest, scope, emit)
        return SearchResult(
            query=request.query,
            collection=self.collection,
            snapshot_id=index.snapshot.id,
            level=index.snapshot.manifest.level,
            mode=mode,
            routing=routing,
            status=answer.status,
            warnings=[*_warnings(index, request, engine), *ranking.warnings, *filter(None, [note]), *answer.warnings],
            trace_id=trace_id,
            answer=answer.text,
            answer_engine=engine,
            verified=answer.verified,
            citations=answer.citations,
            hits=[hit_of(passage) for passage in passages[: settings.top_k]],
            usage=usage,
        )

    def _answer(
        self,
        index: OpenIndex,
        request: SearchRequest,
        passages: list[Passage],
        asked: Sequence[QueryTerm],
        closest: float | None,
        scope: Scope,
        emit: Emit | None,
    ) -> tuple[Answer, str, Usage]:
        """By the engine of the role `answer`; where its model fails the extractive answer, marked as partial."""
        usage, failure = Usage(), ""
        if self.settings.roles.answer.engine == "llm" and passages:
            written, used, failure = self._llm_answers().answer(index, request, passages, asked, scope, emit)
            usage = Usage(**vars(used))
            if written is not None:
                return written, "llm", usage
        answer = answer_from(index, asked, passages, closest, self.settings.answer)
        if failure:
            status: Status = "partial" if answer.status == "complete" else answer.status
            answer = replace(answer, status=status, warnings=[failure, *answer.warnings])
        return answer, "extractive", usage

    def _reranker(self) -> Reranker:
        with self._lock:
            if self._rerank is None:
                from monjyu_query.reranking import Reranker

                self._rerank = Reranker(self.settings, self._data)
            return self._rerank

    def _lazy_search(self) -> LazySearch:
        with self._lock:
            if self._lazy is None:
                from monjyu_query.lazy.engine import LazySearch

                self._lazy = LazySearch(self.settings, self._data, self._embedder, self._llm_answers)
            return self._lazy

    def _llm_answers(self) -> LlmAnswers:
        """Made at the first answer by a model: its libraries take half a second."""
        with self._lock:
            if self._llm is None:
                from monjyu_query.llm_answer.engine import LlmAnswers

                self._llm = LlmAnswers(self.settings, self._data)
            return self._llm

    def _closest(self, index: OpenIndex, query: str, ranking: Ranking, rows: list[int]) -> float | None:
        """The similarity of the closest row; in keyword mode None where the model is another than the snapshot's."""
        if not rows:
            return None
        similarity = ranking.similarity
        if similarity is None:
            try:
                similarity = vector_scores(index.corpus, self._embedder.embed(query, index.snapshot.manifest))
            except QueryError:
                return None
        return float(similarity[rows].max())


def _settings_for(request: SearchRequest, settings: SearchSettings) -> SearchSettings:
    """The collection's settings with what the request itself says."""
    given = {name: getattr(request, name) for name in ("top_k", "alpha", "min_score")}
    return settings.model_copy(update={name: value for name, value in given.items() if value is not None})


def _cap(request: SearchRequest, settings: SearchSettings, count: int) -> int:
    """Most passages of one paper. Who names the papers wants all the passages asked for, evenly spread at least."""
    named = len(set(request.filters.paper_ids))
    return max(settings.per_paper, -(-count // named)) if named and settings.per_paper else settings.per_paper


def _passages(index: OpenIndex, ranking: Ranking, rows: Sequence[int]) -> list[Passage]:
    chunks = [index.corpus.chunk_ids[row] for row in rows]
    scores = [round(float(ranking.scores[row]), 6) for row in rows]
    return load_passages(index.snapshot.cursor(), chunks, scores)


def _warnings(index: OpenIndex, request: SearchRequest, engine: str) -> list[str]:
    warnings = []
    if index.snapshot.manifest.behind:
        warnings.append(f"Behind the papers: {', '.join(index.snapshot.manifest.behind)}.")
    if request.history and engine != "llm":
        warnings.append("The conversation before the question is not used by this mode.")
    return warnings
