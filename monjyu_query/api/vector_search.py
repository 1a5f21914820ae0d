"""Finds the passages nearest to a vector, and embeds texts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from monjyu_core.errors import QueryError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_query.asking.passages import hit_of
from monjyu_query.asking.request import Filters
from monjyu_query.asking.result import Routing, SearchResult
from monjyu_query.modes.best_passages import passages_at
from monjyu_query.ranking.filters import passing_chunks
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.ranker import best_rows, similarities
from monjyu_query.search.searcher import Searcher
from monjyu_query.search.traces import new_trace_id


def search_by_vector(
    searcher: Searcher, vector: Sequence[float], top_k: int | None, min_score: float | None, filters: Filters
) -> SearchResult:
    """Return the passages with the greatest cosine similarity, without an answer, because there is no question.

    `vector` (d,) must come from the collection's own model; its norm does not matter. Raises QueryError if it has
    another number of dimensions, is zero or is not finite, or if `top_k` is not between 1 and 1000.
    """
    index, settings = searcher.current(), searcher.settings.search
    if top_k is not None and not 1 <= top_k <= 1000:
        raise QueryError(f"top_k: {top_k} is not between 1 and 1000.")
    passing = passing_chunks(index.corpus, index.snapshot.cursor(), filters)
    unit = _unit(vector, index)
    scores = similarities(index, unit, passing, settings).scores
    floor = settings.min_score if min_score is None else min_score
    rows = best_rows(
        scores, index.corpus.work, top_k or settings.top_k, settings.per_paper, floor, index.corpus.passage
    )
    passages = passages_at(index, rows, [round(float(scores[row]), 6) for row in rows])
    return SearchResult(
        query="",
        collection=searcher.collection,
        snapshot_id=index.snapshot.id,
        level=index.snapshot.manifest.level,
        mode="vector",
        routing=Routing(query_type="vector", reason="a vector was given"),
        warnings=[] if passing.any() else ["No passage passes the filters."],
        trace_id=new_trace_id(),
        answer_engine="none",
        hits=[hit_of(passage) for passage in passages],
    )


def embedded(searcher: Searcher, text: str) -> list[float]:
    """Return the vector (d,) of a text, embedded as a question. Calls of a remote model are recorded in the ledger.
    Raises QueryError if the snapshot was embedded with another model."""
    index = searcher.current()
    with charged_to(searcher.account(index)):
        vector = searcher.tools.embedder.embed(text, index.snapshot.manifest)
    return [float(value) for value in vector]


def _unit(vector: Sequence[float], index: OpenIndex) -> NDArray[np.float32]:
    embedding = index.snapshot.manifest.embedding
    try:
        values = np.asarray(vector, np.float64)
    except (TypeError, ValueError) as error:
        raise QueryError("The vector is not a list of numbers.") from error
    if values.shape != (embedding.dimensions,):
        raise QueryError(
            f"The vector has the shape {values.shape}, not ({embedding.dimensions},).",
            f"Embed the question with {embedding.model}.",
        )
    length = float(np.linalg.norm(values))
    if not np.isfinite(length) or length == 0:
        raise QueryError("The vector is zero or not finite.", f"Embed the question with {embedding.model}.")
    return (values / length).astype(np.float32)
