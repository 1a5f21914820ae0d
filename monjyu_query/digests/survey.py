"""A survey of a topic: an overview, then theme by theme what the papers say on it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from monjyu_core.errors import QueryError
from monjyu_query.answers.segments import plain
from monjyu_query.digests.digest_result import Digest
from monjyu_query.digests.draft import Draft
from monjyu_query.digests.paper_text import best_sentences, question_of
from monjyu_query.search.events import Emit, unheard
from monjyu_query.search.open_index import OpenIndex
from monjyu_query.search.passages import Passage, load_passages
from monjyu_query.search.request import Filters, make_request
from monjyu_query.search.result import SearchResult
from monjyu_query.search.searcher import Searcher

MOST_PAPERS = 30
PASSAGES = 4
"""Hits that are looked at for each paper wanted."""
SENTENCES = 2
"""Of one paper."""

_THEMES = """SELECT l.chunk_id, l.community_id, l.share, c.top_phrases FROM chunk_communities l
JOIN communities c USING (community_id) WHERE c.level = 0 AND list_contains($chunks, l.chunk_id) ORDER BY ALL"""


def survey(
    searcher: Searcher,
    topic: str,
    papers: int = 10,
    budget: int | None = None,
    filters: Filters | None = None,
    emit: Emit = unheard,
    cancel: threading.Event | None = None,
) -> Digest:
    """Up to `papers` papers, grouped by the communities of level 1 where it is built, each with its best sentences.

    With a `budget` found by lazy search with so many relevance tests, else in one pass. Abstained where the search
    abstains. QueryError for a topic that cannot be asked.
    """
    if not 1 <= papers <= MOST_PAPERS:
        raise QueryError(f"A survey of {papers} papers cannot be made.", f"Ask for 1 to {MOST_PAPERS}.")
    index, events = searcher.current(), list[dict[str, Any]]()

    def heard(event: dict[str, Any]) -> None:
        events.append(event)
        emit(event)

    asked: dict[str, Any] = {} if budget is None else {"mode": "lazy", "budget": budget}
    request = make_request(
        query=topic, collection=searcher.collection, top_k=papers * PASSAGES, filters=filters or Filters(), **asked
    )
    result = searcher.search(request, heard, cancel)
    draft = Draft(index)
    draft.warnings += result.warnings
    draft.add_usage(result.usage)
    if result.status == "abstained":
        draft.warnings.append(plain(result.segments))
        return draft.finish("survey", request.query, [])
    draft.overview("Overview", result, events)
    listed = _papers(index, draft, request.query, result, papers)
    return draft.finish("survey", request.query, listed, partial=result.status == "partial")


def _papers(index: OpenIndex, draft: Draft, topic: str, result: SearchResult, most: int) -> list[str]:
    """A part for each of the best papers, those of one theme together; gives their ids in that order."""
    grouped: dict[str, list[str]] = {}
    for hit in result.hits:
        grouped.setdefault(hit.paper_id, []).append(hit.chunk_id)
    best = dict(list(grouped.items())[:most])
    themes = _themes(index, best)
    order = _grouped_by_theme(themes)
    question = question_of(index, topic)
    for paper_id in order:
        passages = _load(index, best[paper_id])
        draft.quote(themes[paper_id], paper_id, best_sentences(index, question, passages, SENTENCES))
    return order


def _load(index: OpenIndex, chunks: Sequence[str]) -> list[Passage]:
    return load_passages(index.snapshot.cursor(), chunks, [0.0] * len(chunks))


def _grouped_by_theme(themes: dict[str, str]) -> list[str]:
    """The papers with those of one theme next to each other, themes in the order of their best paper."""
    order = list(dict.fromkeys(themes.values()))
    return sorted(themes, key=lambda paper: order.index(themes[paper]))


def _themes(index: OpenIndex, papers: dict[str, list[str]]) -> dict[str, str]:
    """For each paper the community that most of its chunks lie in, by name; empty below level 1."""
    if index.snapshot.manifest.level < 1:
        return dict.fromkeys(papers, "")
    chunks = [chunk for some in papers.values() for chunk in some]
    rows = index.snapshot.cursor().execute(_THEMES, {"chunks": chunks}).fetchall()
    names = {community: ", ".join(phrases[:3]) for _, community, _, phrases in rows}
    themes = {}
    for paper_id, own in papers.items():
        shares: dict[str, float] = {}
        for chunk, community, share, _ in rows:
            if chunk in own:
                shares[community] = shares.get(community, 0.0) + share
        themes[paper_id] = names[max(shares, key=lambda one: (shares[one], one))] if shares else ""
    return themes
