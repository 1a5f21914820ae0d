"""A study table: what each of many papers says on the same attributes, every cell with its quote and page."""

import asyncio
import threading
from collections.abc import Sequence
from functools import cached_property

from monjyu_core.errors import QueryError
from monjyu_core.models.call_errors import ModelCallError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.models.calls.event_loop import run
from monjyu_core.models.prompts import load_prompt
from monjyu_query.asking.events import Emit, unheard
from monjyu_query.asking.request import Filters, clean_text
from monjyu_query.asking.result import Cell, Usage
from monjyu_query.digests.draft import Asker, Draft, Said
from monjyu_query.digests.paper_text import cached_paper
from monjyu_query.digests.result import Digest, Engine, language_for, word
from monjyu_query.digests.table_cells import CellReader, asked_row, checked_cells, sentences_shown
from monjyu_query.digests.table_columns import Column, columns_named, language_of
from monjyu_query.papers.names import one_paper
from monjyu_query.ranking.filters import passing_papers
from monjyu_query.ranking.open_index import OpenIndex
from monjyu_query.ranking.ranker import best_rows, rank

# The papers of a study table: those named, those that pass the filters, or the most relevant ones for a subject.
MOST_PAPERS = 200
DEFAULT_PAPERS = 50
ON_A_SUBJECT = 12
"""The number of papers on a subject if no number is given."""
_IN_ORDER = "SELECT paper_id FROM papers WHERE list_contains(?, paper_id) ORDER BY year NULLS LAST, title, paper_id"


def chosen_papers(
    searcher: Asker, index: OpenIndex, names: Sequence[str], about: str, filters: Filters, most: int | None
) -> tuple[list[str], list[str]]:
    """The ids of the papers, and warnings about omitted ones: those named, in this order; otherwise by relevance for a
    subject, or by year and title. Raises QueryError for a number out of range, an unknown paper, and filters that no
    paper passes.
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


AT_ONCE = 8
"""The maximum number of concurrent papers in model calls; the role's own limits may be lower."""


def study_table(
    searcher: Asker,
    columns: Sequence[str] = (),
    papers: Sequence[str] = (),
    *,
    about: str = "",
    filters: Filters | None = None,
    most: int | None = None,
    engine: Engine | None = None,
    language: str = "",
    index: OpenIndex | None = None,
    emit: Emit = unheard,
    cancel: threading.Event | None = None,
) -> Digest:
    """One row per paper, one cell for each of the `columns` (by default question, method, sample, measure, result,
    limitation), empty if the paper says nothing about it.

    The papers are those named, otherwise the best on the subject `about`, otherwise all that pass the `filters`,
    limited to `most`. `engine`: by quotes, or by the model of `roles.answer` (the default if one is set); a paper for
    which the model fails has a row of quotes. `emit` is called for each row: `{"event": "row", "done", "total",
    "paper_id"}`. Once `cancel` is set, the table ends with the rows so far.

    Raises QueryError for too many columns or papers, for unknown papers, and if no paper passes.
    """
    index = index or searcher.current()
    about = clean_text(about)
    chosen, warnings = chosen_papers(searcher, index, papers, about, filters or Filters(), most)
    language = language or language_of(columns, about) or language_for(index, chosen)
    draft = Draft(index, language)
    draft.warnings += warnings
    table = _Rows(searcher, index, draft, columns_named(columns, language), emit, cancel or threading.Event())
    by_model = searcher.tools.uses_model("answer") and engine != "extractive"
    rows = table.by_model(chosen) if by_model else table.quoted(chosen)
    kept = [paper_id for paper_id in chosen if paper_id in rows]
    for place, column in enumerate(table.columns):
        if rows and not any(cells[place] for cells in rows.values()):
            draft.warnings.append(word("no_paper", draft.language, column=column.name))
    labels = draft.labels(kept)
    names = [Cell(text=label, paper_id=paper_id) for label, paper_id in zip(labels, kept, strict=True)]
    heads = [word("paper", draft.language), *(column.name for column in table.columns)]
    filled: list[list[Cell | list[Said]]] = [
        [name, *rows[paper_id]] for name, paper_id in zip(names, kept, strict=True)
    ]
    draft.table(heads, filled, engine="llm" if by_model and len(table.failed) < len(kept) else "extractive")
    if table.failed:
        draft.warnings.append(f"{len(table.failed)} rows are quotes because the model failed: {table.failed[0]}")
    subject = about or ", ".join(column.name for column in table.columns)
    return draft.finish("table", subject, kept, partial=len(kept) < len(chosen) or bool(table.failed))


Cells = list[list[Said]]


class _Rows:
    """Computes the rows of one table, by paper."""

    def __init__(
        self,
        searcher: Asker,
        index: OpenIndex,
        draft: Draft,
        columns: list[Column],
        emit: Emit,
        cancel: threading.Event,
    ) -> None:
        self._searcher, self._index, self._draft = searcher, index, draft
        self._emit, self._cancel = emit, cancel
        self._done = 0
        self.columns = columns
        self.failed: list[str] = []

    def quoted(self, papers: Sequence[str]) -> dict[str, Cells]:
        rows: dict[str, Cells] = {}
        for paper_id in papers:
            if self._cancel.is_set():
                break
            rows[paper_id] = self._reader.cells(cached_paper(self._index, paper_id))
            self._report_row(paper_id, len(papers))
        return rows

    def by_model(self, papers: Sequence[str]) -> dict[str, Cells]:
        """One call per paper, whose usage is added to the draft's."""
        account = self._searcher.account(self._index)
        session = self._searcher.tools.session(account)
        prompt = load_prompt("table", self._draft.language, self._searcher.settings.prompts.folder)
        rows: dict[str, Cells] = {}
        gate = asyncio.Semaphore(AT_ONCE)

        async def row(paper_id: str) -> None:
            async with gate:
                if self._cancel.is_set():
                    return
                paper = await asyncio.to_thread(cached_paper, self._index, paper_id)
                shown = sentences_shown(self._index, paper, self.columns)
                try:
                    answer = await asked_row(session, prompt, paper, self.columns, shown)
                    rows[paper_id] = checked_cells(self._draft, paper, self.columns, shown, answer)
                except ModelCallError as error:
                    self.failed.append(str(error))
                    rows[paper_id] = await asyncio.to_thread(lambda: self._reader.cells(paper))
                self._report_row(paper_id, len(papers))

        async def all_rows() -> None:
            await asyncio.gather(*map(row, papers))

        run(all_rows())
        self._draft.add_usage(Usage(**vars(account.used)))
        return rows

    @cached_property
    def _reader(self) -> CellReader:
        return CellReader(self._searcher, self._index, self._draft, self.columns)

    def _report_row(self, paper_id: str, total: int) -> None:
        self._done += 1
        self._emit({"event": "row", "done": self._done, "total": total, "paper_id": paper_id})
