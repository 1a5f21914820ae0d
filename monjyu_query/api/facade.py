"""`Monjyu`: the Python API. Heavy libraries are imported with the first question, not with this module."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

from monjyu_core.values import Values
from monjyu_query.api.facade_base import AS_ARGUMENT, Collections
from monjyu_query.asking.events import heard_by, last_events, unheard

if TYPE_CHECKING:
    from monjyu_core.records.questions import BudgetPreset
    from monjyu_query.asking.events import Emit, Listeners
    from monjyu_query.asking.request import Filters, SearchOptions, SearchRequest
    from monjyu_query.asking.result import SearchResult
    from monjyu_query.digests.result import Digest
    from monjyu_query.drafts.checked import CheckedDraft
    from monjyu_query.papers.quotes import Located
    from monjyu_query.questions.tension_list import Tensions

Event = Values
"""An event of a search; `monjyu_query.asking.events` describes the values of its key `event`."""


class Monjyu(Collections):
    """The collections of one data folder. Thread-safe; a request uses one snapshot until it ends.

    `data` is the data folder, by default `MONJYU_DATA` or `./data`; settings are read from it. If it has only one
    collection, methods may be called without naming it.

    >>> from monjyu_query import Monjyu
    >>> with Monjyu(data) as monjyu:
    ...     result = monjyu.search("What does the Leiden algorithm guarantee that Louvain does not?", "samples")
    >>> result.status, result.verified
    ('complete', True)
    >>> "connected" in result.citations[0].quote
    True

    Methods raise subclasses of `monjyu_core.errors.MonjyuError`, each with a `message` and a `hint`: ConfigurationError
    (an unknown collection, a wrong setting), QueryError (a question that cannot be asked, an unknown paper),
    StorageError (an index that cannot be read). A failing model server causes a warning in the result, not an error.

    >>> Monjyu(data).search("What is a lease?", "sample")
    Traceback (most recent call last):
    monjyu_core.errors.ConfigurationError: Collection 'sample' is not known in ... Known: samples.
    """

    def search(
        self,
        query: str,
        collection: str | None = None,
        *,
        on_event: Listeners | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchResult:
        """Return passages and a cited answer; `options` are those of `monjyu search`. `on_event`, one function or
        several, is called with each event (phases, tests, claims, checked sentences of a model's answer) in the calling
        thread.

        >>> result = Monjyu(data).search("reader leases", mode="keyword", top_k=2, answer=False)
        >>> [hit.paper_id.rpartition("-")[0] for hit in result.hits]
        ['reader-leases', 'reader-leases']
        >>> recent = {"year_from": 2031}
        >>> Monjyu(data).search("reader leases", filters=recent).status
        'abstained'
        """
        return self.ask(self.request(query, collection, **options), on_event)

    def stream(self, query: str, collection: str | None = None, **options: Unpack[SearchOptions]) -> Iterator[Event]:
        """Yield the events of a search as it runs; the last, `done`, contains the whole result. Closing the iterator
        cancels the search.

        >>> events = Monjyu(data).stream("How is a budget spent?", mode="lazy", budget=20)
        >>> {"subquery", "test", "budget", "answer", "done"} <= {event["event"] for event in events}
        True
        """
        return self.events(self.request(query, collection, **options))

    def embed(self, text: str, collection: str | None = None) -> list[float]:
        """Return the vector (d,) of a text, embedded as a question by the collection's model, for `search_by_vector`.

        >>> len(Monjyu(data).embed("reader leases"))
        384
        """
        from monjyu_query.api.vector_search import embedded

        request = self.request(text, collection)
        return embedded(self.searcher(request.collection), request.query)

    def search_by_vector(
        self,
        vector: Sequence[float],
        collection: str | None = None,
        *,
        top_k: int | None = None,
        min_score: float | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
    ) -> SearchResult:
        """Return the passages nearest to a vector (d,) from the collection's own embedding model, without an answer.

        >>> result = Monjyu(data).search_by_vector([0.1] * 384, top_k=3)
        >>> len(result.hits), result.mode, result.answer
        (3, 'vector', '')
        """
        from monjyu_query.api.vector_search import search_by_vector

        request = self.request("vector", collection, filters=filters or {}, top_k=top_k, min_score=min_score)
        searcher = self.searcher(request.collection)
        return search_by_vector(searcher, vector, request.top_k, request.min_score, request.filters)

    def summarize(
        self,
        paper_id: str,
        collection: str | None = None,
        *,
        focus: str = "",
        length: Literal["short", "medium", "long"] = "medium",
        section: str = "",
    ) -> Digest:
        """Summarize a paper's purpose, methods and findings, and answer a question (`focus`); every sentence is cited.

        With a `section` (number, type, or words of its heading), only that section is summarized.

        >>> digest = Monjyu(data).summarize("answer-provenance-ac1d5330", length="short")
        >>> digest.parts[0].heading, all(one.citations for part in digest.parts for one in part.statements)
        ('Purpose', True)
        """
        from monjyu_query.digests.summary import summarize

        return summarize(self.chosen_searcher(collection), paper_id, focus, length, section)

    def compare(
        self, paper_ids: Sequence[str], collection: str | None = None, *, aspects: Sequence[str] = ()
    ) -> Digest:
        """Compare two to six papers in a table: what each says on the usual aspects or on `aspects`, and who cites
        whom.

        >>> digest = Monjyu(data).compare(["answer-provenance-ac1d5330", "relevance-budget-438725c6"])
        >>> digest.tables[0].columns[0], [cell.text for cell in digest.tables[0].rows[0]][0]
        ('Aspect', 'Purpose')
        """
        from monjyu_query.digests.comparison import compare

        return compare(self.chosen_searcher(collection), paper_ids, aspects)

    def locate(self, quote: str, collection: str | None = None, *, most: int = 5) -> Located:
        """Find a quote in the papers. Return up to `most` matches with paper, page, rectangles and similarity, the best
        first.

        >>> found = Monjyu(data).locate("readers hold a shared lease on the snapshot they opened")
        >>> all(0 < place.score <= 1 for place in found.places)
        True
        """
        from monjyu_query.papers.quotes import locate

        return locate(self.chosen_searcher(collection).current(), quote, most)

    def check_citations(
        self,
        draft: str | bytes,
        collection: str | None = None,
        *,
        format: Literal["markdown", "latex", "docx", "text"] = "markdown",
        bibliography: str = "",
    ) -> CheckedDraft:
        """Check whether the papers that a draft cites support its statements; for a Word file, pass its bytes.
        `bibliography` is the text of the .bib file (or CSL JSON) with the draft's citation keys.

        >>> draft = "Readers hold a shared lease on their snapshot [@r]. Whales eat krill [@x]."
        >>> entry = "@article{r, title={Readers That Never Wait: Leases on Published Snapshots}}"
        >>> checked = Monjyu(data).check_citations(draft, bibliography=entry)
        >>> [(one.verdict, bool(one.checks[0].citations)) for one in checked.sentences]
        [('not_judged', True), ('not_resolved', False)]
        """
        from monjyu_query.drafts.check import check_citations

        return check_citations(self.chosen_searcher(collection), draft, format, bibliography)

    def tensions(self, collection: str | None = None, *, concept: str | None = None, most: int = 50) -> Tensions:
        """Return pairs of statements that contradict each other, with both quotes; with a `concept`, only statements
        about it. The model of `roles.verify` reads the most similar pairs; without a model there are no pairs, `built`
        is false, and `warnings` has the reason.

        >>> found = Monjyu(data).tensions("samples")
        >>> {side.citation for pair in found.tensions for side in (pair.first, pair.second)} == {
        ...     one.n for one in found.citations
        ... }
        True
        """
        return self.chosen_searcher(collection).tensions(concept, most)

    def table(
        self,
        columns: Sequence[str] = (),
        collection: str | None = None,
        *,
        paper_ids: Sequence[str] = (),
        about: str = "",
        filters: Filters | Mapping[str, Any] | None = None,
        papers: int | None = None,
        engine: Literal["extractive", "llm"] | None = None,
        emit: Emit | None = None,
        cancel: threading.Event | None = None,
    ) -> Digest:
        """Make a table with a row per paper and a cell with quotes per column (by default question, method, sample,
        measure, result, limitation). The papers are those in `paper_ids`, those that say most `about` a topic, or all
        that pass the `filters`.

        >>> digest = Monjyu(data).table(["limitation"], papers=3)
        >>> digest.tables[0].columns, len(digest.tables[0].rows)
        (['Paper', 'limitation'], 3)
        """
        from monjyu_query.digests.study_table import study_table

        request = self.request("table", collection, filters=filters or {})
        searcher, emit = self.searcher(request.collection), emit or unheard
        how: Values = {"filters": request.filters, "most": papers, "engine": engine, "cancel": cancel}
        return study_table(searcher, columns, paper_ids, about=about, emit=emit, **how)

    def survey(
        self,
        topic: str,
        collection: str | None = None,
        *,
        papers: int = 10,
        budget: BudgetPreset | int | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        emit: Emit | None = None,
        cancel: threading.Event | None = None,
    ) -> Digest:
        """Survey what papers say on a topic, grouped by theme (from level 1 on), with a table of the papers. With a
        `budget`, lazy search finds the papers.

        >>> digest = Monjyu(data).survey("incremental indexing of document collections", papers=3)
        >>> [part.paper_id for part in digest.parts] == [paper.paper_id for paper in digest.papers]
        True
        """
        from monjyu_query.digests.survey import survey

        request = self.request(topic, collection, filters=filters or {})
        searcher = self.searcher(request.collection)
        return survey(searcher, topic, papers, budget, request.filters, emit or unheard, cancel)[0]

    def request(self, query: str, collection: str | None = None, **options: Unpack[SearchOptions]) -> SearchRequest:
        """Return a checked request for `ask` and `events`. Raises QueryError if a value is wrong."""
        from monjyu_query.asking.request import make_request
        from monjyu_query.asking.which_collection import chosen_collection

        return make_request(query=query, collection=chosen_collection(self.data, collection, AS_ARGUMENT), **options)

    def ask(
        self, request: SearchRequest, on_event: Listeners | None = None, cancel: threading.Event | None = None
    ) -> SearchResult:
        """Return the result of a request. `on_event` is called with its events in the calling thread; setting `cancel`
        ends the search early."""
        return self.searcher(request.collection).search(request, heard_by(on_event), cancel)

    def events(self, request: SearchRequest) -> Iterator[Event]:
        """Yield a request's events; the search runs in its own thread, cancelled when the iterator is closed."""
        found: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
        cancel = threading.Event()

        def hear(event: Event) -> None:
            if not threading.main_thread().is_alive():  # the program is ending, and nobody will close the iterator
                cancel.set()
            found.put(event)

        def run() -> None:
            try:
                for event in last_events(self.ask(request, hear, cancel).model_dump(mode="json")):
                    found.put(event)
                found.put(None)
            except BaseException as error:
                found.put(error)

        threading.Thread(target=run, name="search").start()
        try:
            while (event := found.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            cancel.set()
