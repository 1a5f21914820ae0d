"""Adds to each hit its paper's data and why it was found, in the same way for every mode."""

from collections.abc import Callable, Iterable

import numpy as np

from monjyu_core.observability import Value, log_event, span, telemetry
from monjyu_query.answers.selection import Question
from monjyu_query.asking.request import SearchRequest
from monjyu_query.asking.result import Citation, Hit, HitScores, SearchResult
from monjyu_query.ranking.fusion import Scores
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.ranker import Ranking

_AUTHORS = """SELECT paper_id, list(name ORDER BY ord) FROM authors WHERE paper_id IN ({papers}) GROUP BY paper_id"""


def describe_hits(index: OpenIndex, query: str, hits: list[Hit], ranking: Ranking | None) -> None:
    """Fill in year, authors and DOI in place, and the scores of the question's `ranking` (None if the question itself
    was not ranked), with one look-up for all."""
    if not hits:
        return
    papers = sorted({hit.paper_id for hit in hits})
    asked = _AUTHORS.format(papers=", ".join("?" * len(papers)))
    authors: dict[str, list[str]] = dict(index.snapshot.cursor_of(papers).execute(asked, papers).fetchall())
    rows = [index.corpus.row_of(hit.paper_id, hit.chunk_id) for hit in hits]
    scores = {} if ranking is None else _scores(index, query, hits, rows, ranking)
    for hit, chunk in zip(hits, index.chunks.at(rows), strict=True):
        paper = index.about_papers[hit.paper_id]
        hit.ord, hit.year, hit.doi = chunk.ord, paper.year, paper.doi
        hit.authors = authors.get(hit.paper_id, [])
        hit.scores = scores.get(hit.chunk_id)
        hit.retracted = hit.paper_id in index.retracted


def retracted_sources(index: OpenIndex, citations: Iterable[Citation]) -> list[str]:
    """A warning for each retracted paper that an answer cites."""
    titles = {one.paper_id: one.paper_title or one.paper_id for one in citations if one.retracted}
    return [f"“{title}” is retracted ({index.retracted[paper_id]})." for paper_id, title in titles.items()]


def _scores(index: OpenIndex, query: str, hits: list[Hit], rows: list[int], ranking: Ranking) -> dict[str, HitScores]:
    """The scores, by chunk."""
    candidates = np.flatnonzero(ranking.scores > -np.inf)
    similar = None if ranking.similarity is None else ranking.similarity[candidates]
    matching = None if ranking.keyword is None else ranking.keyword[candidates]
    asked = Question.of(index.keywords.query_terms(query), len(index.corpus))
    terms = asked.read(index.keywords.terms([hit.text for hit in hits]))
    found = {}
    for hit, row, own in zip(hits, rows, terms, strict=True):
        held = set(own)
        found[hit.chunk_id] = HitScores(
            vector=_score(ranking.similarity, row),
            keyword=_score(ranking.keyword, row),
            fused=_score(ranking.scores if ranking.keyword is not None else None, row),
            vector_rank=_rank(ranking.similarity, row, similar),
            keyword_rank=_rank(ranking.keyword, row, matching),
            matched=list(dict.fromkeys(word for term, word in asked.words.items() if term in held)),
        )
    return found


def _score(scores: Scores | None, row: int) -> float | None:
    return None if scores is None or not np.isfinite(scores[row]) else round(float(scores[row]), 4)


def _rank(scores: Scores | None, row: int, candidates: Scores | None) -> int | None:
    """The rank, from 1, among the scores of the candidates; None without scores, or if no candidate scores above 0."""
    if scores is None or candidates is None or (scores[row] == 0 and not candidates.any()):
        return None
    return 1 + int((candidates > scores[row]).sum())


# The log line, the span and the metrics of a search contain names, counts and ids, never its words.
def with_telemetry(request: SearchRequest, search: Callable[[], SearchResult]) -> SearchResult:
    """Run a search inside a span `search`, then log and measure it."""
    with span("search", collection=request.collection, mode=request.mode, controller=request.controller) as found:
        result = search()
        found |= _facts(result)
    log_event("search done", {"collection": result.collection, **_facts(result)})
    _measure(result)
    return result


def _facts(result: SearchResult) -> dict[str, Value]:
    """The values that are logged of a search. `mode` is the mode that answered, even if `auto` chose it; `trace` is the
    argument of `monjyu eval replay`."""
    return {
        "mode": result.mode,
        "status": result.status,
        "index_level": result.level,
        "snapshot": result.snapshot_id,
        "trace": result.trace_id,
        "hits": len(result.hits),
        **result.usage.model_dump(),
    }


def _measure(result: SearchResult) -> None:
    sink = telemetry()
    if sink is None:
        return
    used, name = result.usage, {"collection": result.collection, "mode": result.mode}
    sink.measure("monjyu.search.seconds", used.seconds, "s", {**name, "status": result.status})
    if used.relevance_tests:
        sink.count("monjyu.relevance_tests", used.relevance_tests, name)
    if used.llm_calls:
        sink.count("monjyu.tokens", used.prompt_tokens + used.completion_tokens, name)
        sink.count("monjyu.cost_usd", used.cost_usd, name)
