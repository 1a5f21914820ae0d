"""Modes vector, keyword and hybrid: rank the chunks, rerank the best, answer from them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from pydantic import BaseModel, Field

from monjyu_core.errors import QueryError
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.event_loop import run
from monjyu_core.models.prompts import load_prompt
from monjyu_core.models.types import Message
from monjyu_core.text.language import has_no_content, message_language
from monjyu_query.answers.answer import Answer, abstained, result_of
from monjyu_query.answers.composition import asked_of, compose, model_answer, or_extractive
from monjyu_query.answers.selection import Question
from monjyu_query.asking.passages import Passage, load_sentences
from monjyu_query.asking.request import clean_text
from monjyu_query.asking.result import Hit, SearchResult
from monjyu_query.knowledge.concept_graph import ConceptGraph
from monjyu_query.modes.best_passages import (
    EVIDENCE_PASSAGES,
    evidence_passages,
    leading_cap,
    paper_cap,
    ranked_passages,
    reranked_by_reader,
)
from monjyu_query.modes.lazy.expansion import READ_CHUNKS, related_terms
from monjyu_query.ranking.fusion import Scores
from monjyu_query.ranking.ranker import Ranking, best_rows, rank
from monjyu_query.ranking.retrieval import QueryTerm
from monjyu_query.ranking.tools import Ask, Tools

# Rewordings of a question by the model that `roles.expand` names, searched in addition to it.
_LONGEST = 500


class Rewordings(BaseModel):
    rewordings: list[str] = Field(min_length=1)


def reworded(tools: Tools, ask: Ask, count: int) -> list[str]:
    """At most `count` rewordings, without the question itself. Raises ModelCallError."""
    query = ask.request.query
    prompt = load_prompt("reword", message_language(query), tools.settings.prompts.folder)
    messages = [Message("user", prompt.render(question=query, count=str(count)))]
    session = tools.session(ask.account)
    found = run(session.structured("expand", messages, prompt.hash, Rewordings))
    texts = dict.fromkeys(clean_text(text)[:_LONGEST] for text in found.rewordings)
    return [text for text in texts if text and text.casefold() != query.casefold()][:count]


CANDIDATES = 50
"""The number of passages that are reranked; lower ones keep their position."""
ANSWER_PASSAGES = 8
"""The number of best passages for a model's answer, however few hits are shown."""
_EXPANDED_WEIGHT = 1 / 3
"""The weight of the expanded question; the rest is the question's own: related terms help, but were not asked for."""
_REWORDED_WEIGHT = 1 / 2
"""The weight of all rewordings together, because they repeat the question."""


def search_for_nothing(tools: Tools, ask: Ask) -> SearchResult | None:
    """Hits with an abstention, in any mode, for a question that has only function words. None for other questions, if
    no answer is requested, and for questions about given papers, which may ask what they are about."""
    request = ask.request
    if not request.answer or request.filters.paper_ids or not has_no_content(request.query):
        return None
    found = search_passages(tools, replace(ask, request=request.model_copy(update={"answer": False})))
    answer = abstained("the question has no content words", message_language(request.query))
    told = {
        "status": answer.status,
        "answer": answer.text,
        "segments": answer.segments,
        "confidence": answer.confidence,
    }
    return found.model_copy(update={**told, "answer_engine": "extractive"})


def search_passages(tools: Tools, ask: Ask) -> SearchResult:
    """Hits and, unless `answer` is off, an answer from the best of them."""
    index, request, settings = ask.index, ask.request, ask.settings
    started = time.perf_counter()
    asked = index.keywords.query_terms(request.query) if request.answer else None
    ranking = rank(index, tools.embedder, request.query, ask.mode, request.filters, settings)
    more = Expanded(ranking)
    wished = settings.expand if request.expand is None else request.expand
    if wished and len(index.corpus):
        more = expanded_ranking(tools, ask, ranking, wished)
        ranking = more.ranking
    wanted = max(settings.top_k, ANSWER_PASSAGES) if request.answer else settings.top_k
    reranks = tools.rerank_engine(request, enabled=settings.rerank)
    count = max(wanted, CANDIDATES) if reranks else wanted
    corpus, cap = index.corpus, paper_cap(request, settings, count)
    rows = best_rows(ranking.scores, corpus.work, count, cap, settings.min_score, corpus.passage, leading_cap(ask))
    passages, note = ranked_passages(index, ranking, rows), ""
    if reranks == "llm":
        passages, note = tools.reranker().rerank(request.query, passages, ask.account)
    elif reranks == "reader":
        passages = reranked_by_reader(tools.readings, index, request.query, passages)
    answer, engine = Answer([], "complete"), "none"
    phases = {"search": time.perf_counter() - started}
    if asked is not None:
        closest = _closest(tools, ask, ranking, rows)
        evidence = passages[:EVIDENCE_PASSAGES] if reranks else evidence_passages(ask, ranking)
        answer, engine = _answer(tools, ask, passages[:ANSWER_PASSAGES], evidence, asked, closest)
        phases["answer"] = time.perf_counter() - started - phases["search"]
    passages_in_all, papers_in_all = _in_all(ask, ranking.scores)
    result = result_of(ask, answer, engine, passages, warnings=[*ranking.warnings, *filter(None, [note])])
    return result.model_copy(
        update={
            "hits": [found_by(hit, more) for hit in result.hits],
            "total_count": passages_in_all,
            "total_papers": papers_in_all,
            "subqueries": more.texts,
            "phases": phases,
        }
    )


def _in_all(ask: Ask, scores: Scores) -> tuple[int | None, int | None]:
    """The numbers of passages and papers from which the hits were taken; None for an approximate index."""
    index, floor = ask.index, ask.settings.min_score
    if index.nearest is not None and ask.mode != "keyword":
        return None, None
    rows = np.flatnonzero(scores > -np.inf if floor is None else scores >= floor)
    return len(rows), len(np.unique(index.corpus.paper[rows]))


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

    def extract() -> Answer:
        sentences = load_sentences(ask.index.snapshot.cursor_of(one.paper_id for one in evidence), evidence)
        return compose(asked_of(tools, ask, Question.of(asked, len(ask.index.corpus))), evidence, sentences, closest)

    return or_extractive(*model_answer(tools, ask, passages, asked), extract)


def _closest(tools: Tools, ask: Ask, ranking: Ranking, rows: list[int]) -> float | None:
    """The similarity of the closest of `rows`, None without rows. In keyword mode, also None if the model is not the
    snapshot's or does not answer."""
    if not rows:
        return None
    similarity = ranking.similarity
    if similarity is None:
        try:
            vector = tools.embedder.embed(ask.request.query, ask.index.snapshot.manifest)
            similarity = ask.index.corpus.vectors.similarities(vector)
        except (QueryError, ModelCallError):
            return None
    return float(similarity[rows].max())


@dataclass(frozen=True)
class Expanded:
    """A ranking by the question and further `texts`. With a model's rewordings, `best` has the best chunks of each
    wording, those of the question first."""

    ranking: Ranking
    texts: list[str] = field(default_factory=list)
    best: dict[str, set[str]] = field(default_factory=dict)


def expanded_ranking(tools: Tools, ask: Ask, ranking: Ranking, count: int) -> Expanded:
    """The ranking on the mode's scale: with a model in the role `expand` half from the question and half from `count`
    rewordings, otherwise two thirds from the question and one third from it with `count` related terms of the noun
    graph. The ranking is unchanged if there is nothing to add."""
    warnings = list(ranking.warnings)
    if tools.uses_model("expand"):
        try:
            return _with_rewordings(tools, ask, ranking, reworded(tools, ask, count))
        except ModelCallError as error:
            warnings.append(f"The question was expanded without a model: {error}")
    index, request = ask.index, ask.request
    best = best_rows(ranking.scores, index.corpus.work, READ_CHUNKS, 0, None, index.corpus.passage)
    chunks = [index.corpus.chunk_ids[row] for row in best]
    terms = related_terms(index, ConceptGraph.of(index.snapshot.cursor()), request.query, chunks, count)
    if not terms:
        return Expanded(replace(ranking, warnings=warnings))
    text = f"{request.query} ({', '.join(terms)})"
    more = rank(index, tools.embedder, text, ask.mode, request.filters, ask.settings)
    scores = mixed(ranking.scores, [more.scores], _EXPANDED_WEIGHT)
    return Expanded(replace(ranking, scores=scores, warnings=warnings), [text])


def _with_rewordings(tools: Tools, ask: Ask, ranking: Ranking, texts: list[str]) -> Expanded:
    index, filters = ask.index, ask.request.filters
    if not texts:
        return Expanded(ranking)
    made = [rank(index, tools.embedder, text, ask.mode, filters, ask.settings).scores for text in texts]
    ids = index.corpus.chunk_ids
    best = {
        text: {ids[row] for row in best_rows(scores, index.corpus.work, CANDIDATES)}
        for text, scores in zip([ask.request.query, *texts], [ranking.scores, *made], strict=True)
    }
    return Expanded(replace(ranking, scores=mixed(ranking.scores, made, _REWORDED_WEIGHT)), texts, best)


def found_by(hit: Hit, expanded: Expanded) -> Hit:
    """The hit with the wordings that have it among their best chunks."""
    hit.found_by = [text for text, chunks in expanded.best.items() if hit.chunk_id in chunks]
    return hit


def mixed(own: Scores, others: Sequence[Scores], weight: float) -> Scores:
    """`(1 - weight) own + weight mean(others)`; a chunk that is not a candidate in one scores 0 there."""
    every = [own, *others]
    neither = np.all([np.isneginf(scores) for scores in every], axis=0)
    first, *rest = [np.where(np.isneginf(scores), 0, scores) for scores in every]
    some = (1 - weight) * first + weight * np.mean(rest, axis=0)
    return np.where(neither, -np.inf, some).astype(np.float32)
