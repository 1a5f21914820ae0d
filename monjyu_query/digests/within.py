"""The extractive answer to a question within some papers, whatever engine answers searches."""

from __future__ import annotations

from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_query.answers.answering import Answer, answer_from
from monjyu_query.modes.passages.passage_search import ANSWER_PASSAGES
from monjyu_query.ranking.best_rows import best_rows
from monjyu_query.ranking.ranker import rank
from monjyu_query.search.passages import Passage, load_passages
from monjyu_query.search.request import SearchRequest
from monjyu_query.search.searcher import Searcher


def extractive_answer(searcher: Searcher, request: SearchRequest) -> tuple[Answer, list[Passage]]:
    """The answer and the passages it was made from, best first, in the mode that the settings name."""
    index, settings = searcher.current(), searcher.settings.search
    asked = index.keywords.query_terms(request.query)
    with charged_to(searcher.account(index)):
        ranking = rank(index, searcher.tools.embedder, request.query, settings.mode, request.filters, settings)
    rows = best_rows(ranking.scores, index.corpus.work, ANSWER_PASSAGES, passage=index.corpus.passage)
    chunks = [index.corpus.chunk_ids[row] for row in rows]
    passages = load_passages(index.snapshot.cursor(), chunks, [float(ranking.scores[row]) for row in rows])
    closest = None if ranking.similarity is None or not rows else float(ranking.similarity[rows].max())
    return answer_from(index, asked.result(), passages, closest, searcher.settings.answer), passages
