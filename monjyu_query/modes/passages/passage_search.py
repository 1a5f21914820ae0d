"""Modes vector, keyword and hybrid: rank the chunks, rerank the best, answer from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from monjyu_core.errors import QueryError
from monjyu_query.answers.answering import Answer
from monjyu_query.answers.composition import asked_of, compose
from monjyu_query.answers.selection import Question
from monjyu_query.modes.lazy.concept_graph import ConceptGraph
from monjyu_query.modes.lazy.expansion import READ_CHUNKS, related_terms
from monjyu_query.modes.passages.best_passages import EVIDENCE_PASSAGES, evidence_passages, paper_cap, ranked_passages
from monjyu_query.ranking.best_rows import best_rows
from monjyu_query.ranking.fusion import Scores
from monjyu_query.ranking.ranker import Ranking, rank
from monjyu_query.ranking.retrieval import QueryTerm, vector_scores
from monjyu_query.search.passages import Passage, hit_of, load_sentences
from monjyu_query.search.result import SearchResult, Status, Usage
from monjyu_query.search.tools import Ask, Tools

CANDIDATES = 50
"""Passages that a rerank model reads anew; what ranks lower is not among them."""
ANSWER_PASSAGES = 8
"""A model's answer rests on this many of the best passages, however few hits are shown."""
_EXPANDED_WEIGHT = 1 / 3
"""Weight of the expanded question, the rest being the question's own: related terms help, but were not asked for."""


def search_passages(tools: Tools, ask: Ask) -> SearchResult:
    """Hits and, unless `answer` is off, an answer from the best of them."""
    index, request, settings = ask.index, ask.request, ask.settings
    asked = index.keywords.query_terms(request.query) if request.answer else None
    ranking = rank(index, tools.embedder, request.query, ask.mode, request.filters, settings)
    expanded = ""
    if request.expand and len(index.corpus):
        ranking, expanded = expanded_ranking(tools, ask, ranking)
    wanted = max(settings.top_k, ANSWER_PASSAGES) if request.answer else settings.top_k
    reranks = tools.uses_model("rerank")
    count = max(wanted, CANDIDATES) if reranks else wanted
    corpus, cap = index.corpus, paper_cap(request, settings, count)
    rows = best_rows(ranking.scores, corpus.work, count, cap, settings.min_score, corpus.passage)
    passages, note = ranked_passages(index, ranking, rows), ""
    if reranks:
        passages, note = tools.reranker().rerank(request.query, passages, ask.account)
    answer, engine = Answer([], "complete"), "none"
    if asked:
        closest = _closest(tools, ask, ranking, rows)
        evidence = passages[:EVIDENCE_PASSAGES] if reranks else evidence_passages(ask, ranking)
        answer, engine = _answer(tools, ask, passages[:ANSWER_PASSAGES], evidence, asked.result(), closest)
    warnings = ask.warnings()
    return SearchResult(
        query=request.query,
        collection=request.collection,
        snapshot_id=index.snapshot.id,
        level=index.snapshot.manifest.level,
        mode=ask.mode,
        routing=ask.routing,
        status=answer.status,
        warnings=[*warnings, *ranking.warnings, *filter(None, [note]), *answer.warnings],
        trace_id=ask.account.scope.name,
        answer=answer.text,
        segments=answer.segments,
        tables=answer.tables,
        confidence=answer.confidence,
        answer_engine=engine,
        verified=answer.verified,
        citations=answer.citations,
        hits=[hit_of(passage) for passage in passages[: settings.top_k]],
        subqueries=[expanded] if expanded else [],
        usage=Usage(**vars(ask.account.used)),
    )


def _answer(
    tools: Tools,
    ask: Ask,
    passages: list[Passage],
    evidence: list[Passage],
    asked: Sequence[QueryTerm],
    closest: float | None,
) -> tuple[Answer, str]:
    """Answer with the engine of the role `answer` from the passages; if its model fails, extract the answer from the
    evidence and mark it as partial."""
    failure = ""
    if tools.uses_model("answer") and passages:
        written, failure = tools.llm_answers().answer(ask.index, ask.request, passages, asked, ask.account, ask.emit)
        if written is not None:
            return written, "llm"
    sentences = load_sentences(ask.index.snapshot.cursor(), evidence)
    answer = compose(asked_of(tools, ask, Question.of(asked, len(ask.index.corpus))), evidence, sentences, closest)
    if failure:
        status: Status = "partial" if answer.status == "complete" else answer.status
        answer = replace(answer, status=status, warnings=[failure, *answer.warnings])
    return answer, "extractive"


def _closest(tools: Tools, ask: Ask, ranking: Ranking, rows: list[int]) -> float | None:
    """The similarity of the closest row; in keyword mode None where the model is another than the snapshot's."""
    if not rows:
        return None
    similarity = ranking.similarity
    if similarity is None:
        try:
            vector = tools.embedder.embed(ask.request.query, ask.index.snapshot.manifest)
            similarity = vector_scores(ask.index.corpus, vector)
        except QueryError:
            return None
    return float(similarity[rows].max())


def expanded_ranking(tools: Tools, ask: Ask, ranking: Ranking) -> tuple[Ranking, str]:
    """The ranking mixed with that of the question with `expand` related terms, on the scale of the mode, and the
    expanded question; the ranking as it is, and no text, where nothing is related."""
    index, request = ask.index, ask.request
    best = best_rows(ranking.scores, index.corpus.work, READ_CHUNKS, 0, None, index.corpus.passage)
    chunks = [index.corpus.chunk_ids[row] for row in best]
    graph = ConceptGraph.of(index.snapshot.cursor())
    terms = related_terms(index, graph, request.query, chunks, request.expand or 0)
    if not terms:
        return ranking, ""
    text = f"{request.query} ({', '.join(terms)})"
    more = rank(index, tools.embedder, text, ask.mode, request.filters, ask.settings)
    return Ranking(mixed(ranking.scores, more.scores), ranking.similarity, ranking.warnings), text


def mixed(own: Scores, expanded: Scores) -> Scores:
    """`2/3 own + 1/3 expanded`; a chunk that is a candidate of one only has 0 in the other (no word matches)."""
    neither = np.isneginf(own) & np.isneginf(expanded)
    first, second = np.where(np.isneginf(own), 0, own), np.where(np.isneginf(expanded), 0, expanded)
    some = (1 - _EXPANDED_WEIGHT) * first + _EXPANDED_WEIGHT * second
    return np.where(neither, -np.inf, some).astype(np.float32)
