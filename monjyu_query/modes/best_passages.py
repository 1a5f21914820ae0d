"""Chooses the best passages of a ranking as hits and evidence, limits them per paper, reorders them by the reader."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from monjyu_core.settings.settings import SearchSettings
from monjyu_query.answers.segments import OF_MANY, form_of
from monjyu_query.answers.sentence_ranking import log_odds
from monjyu_query.asking.passages import Passage
from monjyu_query.asking.request import SearchRequest
from monjyu_query.ranking.open_index import OpenIndex, read_chunks
from monjyu_query.ranking.passage_readings import PassageReadings
from monjyu_query.ranking.ranker import Ranking, best_rows
from monjyu_query.ranking.tools import Ask

EVIDENCE_PASSAGES, EVIDENCE_PER_PAPER = 12, 6
"""The maximum numbers of passages from which an extractive answer takes its sentences, in all and per paper. If one
paper may answer, it has no maximum, because other passages of that paper may rank above the one that answers."""
MANY_PASSAGES, MANY_PER_PAPER = 24, 2
"""The passages for questions about many papers, and the maximum per paper."""
_OF_ABSTRACT = 2
"""The number of passages of the best paper's abstract, which often states the result in plain words."""
READER_WEIGHT = 0.6
"""The weight of the reader's log odds that a passage answers, next to the score of the mode, both standardised. The
reader alone is as good for questions, and worse for topics (docs/benchmarks.md)."""


def paper_cap(request: SearchRequest, settings: SearchSettings, count: int) -> int:
    """The maximum number of passages per paper, 0 for no limit. If the request names papers, it is at least each
    paper's even share of `count`."""
    named = len(set(request.filters.paper_ids))
    return max(settings.per_paper, -(-count // named)) if named and settings.per_paper else settings.per_paper


def leading_cap(ask: Ask) -> int:
    """The maximum number of passages from the paper with the best one: three times that of other papers if one paper
    may answer, otherwise 0, which means the same as for other papers."""
    return 3 * ask.settings.per_paper if asks_one(ask) and not ask.request.filters.paper_ids else 0


def asks_one(ask: Ask) -> bool:
    """Whether one paper may answer the question."""
    form = form_of(ask.request.query, ask.routing.query_type)
    return form not in OF_MANY | {"comparison"} and len(set(ask.request.filters.paper_ids)) < 2


def ranked_passages(index: OpenIndex, ranking: Ranking, rows: Sequence[int]) -> list[Passage]:
    """The chunks of `rows` as passages with their scores, in that order."""
    return passages_at(index, rows, [round(float(ranking.scores[row]), 6) for row in rows])


def passages_at(index: OpenIndex, rows: Sequence[int], scores: Sequence[float]) -> list[Passage]:
    """The chunks of `rows` of the corpus as passages, in that order."""
    corpus, found = index.corpus, []
    for row, chunk, score in zip(rows, index.chunks.at(rows), scores, strict=True):
        paper_id = corpus.paper_ids[corpus.paper[row]]
        title = index.about_papers[paper_id].title
        section = corpus.section_name(row)
        passage = Passage(corpus.chunk_ids[row], paper_id, title, section, chunk.header, chunk.text, chunk.page, score)
        found.append(passage)
    return found


def evidence_passages(ask: Ask, ranking: Ranking) -> list[Passage]:
    """The best passages for an extractive answer. For a question that one paper may answer, they include passages of
    the abstract of the best one's paper; for a question about many papers, they are more, but few of each paper."""
    corpus, settings = ask.index.corpus, ask.settings
    many = form_of(ask.request.query, ask.routing.query_type) in OF_MANY
    count, of_paper = (MANY_PASSAGES, MANY_PER_PAPER) if many else (EVIDENCE_PASSAGES, EVIDENCE_PER_PAPER)
    cap = paper_cap(ask.request, settings, count)
    if cap:
        cap = of_paper if many and not ask.request.filters.paper_ids else max(cap, of_paper)
    one, floor = asks_one(ask), settings.min_score
    rows = best_rows(ranking.scores, corpus.work, count, 0 if one else cap, floor, corpus.passage)
    if one and rows:
        in_abstract = np.isin(corpus.section_type, corpus.section_codes(["abstract"]))
        own = np.where(in_abstract & (corpus.work == corpus.work[rows[0]]), ranking.scores, np.float32(-np.inf))
        abstract = best_rows(own, corpus.work, _OF_ABSTRACT, 0, floor, corpus.passage)
        others = [row for row in rows if row not in abstract][: count - len(abstract)]
        rows = sorted([*others, *abstract], key=lambda row: -ranking.scores[row])
    return ranked_passages(ask.index, ranking, rows)


def reranked_by_reader(
    readings: PassageReadings, index: OpenIndex, query: str, passages: Sequence[Passage]
) -> list[Passage]:
    """The passages, best first, with their new scores; unchanged without a reader for the question."""
    chunks = read_chunks(index, (passage.chunk_id for passage in passages))
    texts = [(one.paper_title, [s.text for s in chunks[one.chunk_id][1]] or [one.text]) for one in passages]
    read = readings.of(query, texts)
    if not read:
        return list(passages)
    answered = log_odds(np.array([one.answered for one in read]))
    scores = _standard(np.array([one.score for one in passages])) + READER_WEIGHT * _standard(answered)
    order = np.argsort(-scores, kind="stable").tolist()
    return [replace(passages[row], score=round(float(scores[row]), 6)) for row in order]


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    standard: NDArray[np.float64] = (values - values.mean()) / max(float(values.std()), 1e-9)
    return standard
