"""A survey of a topic: what each paper says about it, theme by theme, and a table of the papers."""

import threading
from collections.abc import Sequence
from typing import Any

from monjyu_core.errors import QueryError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.records.questions import BudgetPreset
from monjyu_core.values import Values
from monjyu_query.answers.citing import Window, connective
from monjyu_query.answers.composition import Asked, weighed
from monjyu_query.answers.segments import plain
from monjyu_query.answers.selection import Question
from monjyu_query.asking.events import Emit, unheard
from monjyu_query.asking.passages import load_passages, load_sentences
from monjyu_query.asking.request import Filters, make_request
from monjyu_query.asking.result import Cell, Hit
from monjyu_query.digests.draft import Asker, Draft, Said
from monjyu_query.digests.paper_text import Choice, cached_paper, is_quotable, question_of
from monjyu_query.digests.result import Digest, language_for, word
from monjyu_query.knowledge.aspects import aspect
from monjyu_query.knowledge.themes import papers_by_theme
from monjyu_query.ranking.open_index import OpenIndex

MOST_PAPERS = 30
PASSAGES = 4
"""The number of hits examined for each requested paper."""
_NEAR = 0.5
"""The minimum probability of a paper's best sentence, as a share of `Weights.least`."""


def survey(
    searcher: Asker,
    topic: str,
    papers: int = 10,
    budget: BudgetPreset | int | None = None,
    filters: Filters | None = None,
    emit: Emit = unheard,
    cancel: threading.Event | None = None,
    *,
    language: str = "",
) -> tuple[Digest, list[Hit]]:
    """A survey of up to `papers` papers, with the passages of its search. The papers are grouped by community reports
    at level 3 and by communities at level 1, each with its best sentences on the topic; if the role `answer` is a
    model, its overview precedes them. With a `budget`, papers are found by lazy search with that number of relevance
    tests, otherwise by mode hybrid. It abstains if the search does. Raises QueryError for a topic that cannot be asked.
    """
    if not 1 <= papers <= MOST_PAPERS:
        raise QueryError(f"A survey of {papers} papers cannot be made.", f"Ask for 1 to {MOST_PAPERS}.")
    index, events = searcher.current(), list[dict[str, Any]]()

    def heard(event: Values) -> None:
        events.append(event)
        emit(event)

    how: Values = {"mode": "hybrid"} if budget is None else {"mode": "lazy", "budget": budget}
    request = make_request(
        query=topic, collection=searcher.collection, top_k=papers * PASSAGES, filters=filters or Filters(), **how
    )
    result = searcher.search(request, heard, cancel)
    draft = Draft(index, language or language_for(index, [], request.query))
    draft.warnings += result.warnings
    draft.add_usage(result.usage)
    if result.status == "abstained":
        draft.warnings.append(plain(result.segments))
        return draft.finish("survey", request.query, []), result.hits
    if result.answer_engine == "llm":
        draft.written(word("overview", draft.language), events)
    with charged_to(searcher.account(index)):
        listed = _papers(searcher, index, draft, request.query, result.hits, papers)
    cut_off = cancel is not None and cancel.is_set()
    failed = searcher.tools.uses_model("answer") and result.answer_engine != "llm"
    failed |= result.status == "partial" and not result.citations  # a call failed, and nothing was found without it
    return draft.finish("survey", request.query, listed, partial=cut_off or failed), result.hits


def _papers(searcher: Asker, index: OpenIndex, draft: Draft, topic: str, hits: Sequence[Hit], most: int) -> list[str]:
    """Add a part for each of the best papers, grouped by theme, and the table; return their ids in that order."""
    chunks: dict[str, list[str]] = {}
    for hit in hits:
        chunks.setdefault(hit.paper_id, []).append(hit.chunk_id)
    question = question_of(index, topic)
    told: dict[str, list[Said]] = {}
    for paper_id, own in chunks.items():
        if len(told) == most:
            break
        found = draft.quoted(_windows(searcher, index, topic, question, own, sure=not told))
        if found:
            told[paper_id] = found
    themes = papers_by_theme(index, {paper_id: chunks[paper_id] for paper_id in told})
    alone = len(themes) == 1
    for theme, some in themes.items():
        heading = theme or ("" if alone else word("further", draft.language))
        for paper_id in some:
            draft.add(heading, paper_id, told[paper_id])
    order = [paper_id for some in themes.values() for paper_id in some]
    _table(index, draft, order)
    return order


def _windows(
    searcher: Asker, index: OpenIndex, topic: str, question: Question, chunks: Sequence[str], *, sure: bool
) -> list[Window]:
    """At most two self-contained sentences of one paper on the topic; none if they are too far from it, unless the
    paper is `sure` to be about it."""
    cursor = index.snapshot.cursor()
    passages = load_passages(cursor, chunks)
    similarities = searcher.tools.embedder.similarities_to(topic, index.snapshot.manifest)
    asked = Asked(index, topic, question, similarities, None, searcher.settings.answer, "short")
    pool, windows, _ = weighed(asked, passages, load_sentences(cursor, passages), None)
    near = sure or max(pool.judged.probability, default=0.0) >= _NEAR * pool.judged.weights.least
    return [window for window in windows if near and _is_self_contained(window)]


def _is_self_contained(window: Window) -> bool:
    hangs = window.hangs and not connective(window.sentences[0].text)
    return not hangs and all(is_quotable(sentence.text) for sentence in window.sentences)


def _table(index: OpenIndex, draft: Draft, papers: Sequence[str]) -> None:
    """The table with columns paper, year, contribution and page."""
    rows: list[list[Cell | list[Said]]] = []
    years = dict(index.snapshot.cursor().execute("SELECT paper_id, year FROM papers").fetchall())
    each = draft.quoted_each([Choice(cached_paper(index, name)).tell(aspect("purpose"), 1) for name in papers])
    for paper_id, label, told in zip(papers, draft.labels(papers), each, strict=True):
        page = told[0][1][0].page if told else None
        name = Cell(text=label, paper_id=paper_id)
        rows.append([name, Cell(text=str(years.get(paper_id) or "")), told, Cell(text=str(page or ""))])
    columns = [word(name, draft.language) for name in ("paper", "year", "contributes", "page")]
    kept = [place for place in range(len(columns)) if place in (0, 2) or any(_text(row[place]) for row in rows)]
    draft.table([columns[place] for place in kept], [[row[place] for place in kept] for row in rows])


def _text(cell: Cell | list[Said]) -> str:
    return cell.text if isinstance(cell, Cell) else ""
