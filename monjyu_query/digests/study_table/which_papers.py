"""The papers of a study table: those named, those that the filters let pass, or those that say most on a subject."""

from __future__ import annotations

from collections.abc import Sequence

from monjyu_core.errors import QueryError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_query.asking.request import Filters
from monjyu_query.digests.asker import Asker
from monjyu_query.papers.paper_names import one_paper
from monjyu_query.ranking.filters import passing_papers
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.ranker import best_rows, rank

MOST_PAPERS = 200
DEFAULT_PAPERS = 50
ON_A_SUBJECT = 12
"""Papers where a subject is named and no number is."""
_IN_ORDER = "SELECT paper_id FROM papers WHERE list_contains(?, paper_id) ORDER BY year NULLS LAST, title, paper_id"


def chosen_papers(
    searcher: Asker, index: OpenIndex, names: Sequence[str], about: str, filters: Filters, most: int | None
) -> tuple[list[str], list[str]]:
    """Their ids, and warnings of what was left out: best first where a subject is named, else by year and title.

    QueryError for a number out of range, a paper that the collection does not have, and filters that none passes.
    """
    if most is not None and not 1 <= most <= MOST_PAPERS:
        raise QueryError(f"A table of {most} papers cannot be made.", f"Ask for 1 to {MOST_PAPERS}.")
    if names:
        wanted = list(dict.fromkeys(one_paper(index, name) for name in names))
        return _cut(wanted, most or MOST_PAPERS)
    if about:
        return _on_subject(searcher, index, about, filters, most or ON_A_SUBJECT), []
    passing = passing_papers(index.snapshot.cursor(), filters)
    if not passing:
        raise QueryError("No paper passes the filters.", "`monjyu papers list` shows what the collection has.")
    rows = index.snapshot.cursor().execute(_IN_ORDER, [passing]).fetchall()
    return _cut([paper_id for (paper_id,) in rows], most or DEFAULT_PAPERS)


def _cut(papers: list[str], most: int) -> tuple[list[str], list[str]]:
    if len(papers) <= most:
        return papers, []
    told = f"The first {most} of {len(papers)} papers: ask for more (up to {MOST_PAPERS}), or narrow them by filters."
    return papers[:most], [told]


def _on_subject(searcher: Asker, index: OpenIndex, about: str, filters: Filters, most: int) -> list[str]:
    """The papers of the best passages, best first."""
    settings = searcher.settings.search
    with charged_to(searcher.account(index)):
        ranking = rank(index, searcher.tools.embedder, about, settings.mode, filters, settings)
    corpus = index.corpus
    rows = best_rows(ranking.scores, corpus.paper, most, per_paper=1)
    return [corpus.paper_ids[corpus.paper[row]] for row in rows]
