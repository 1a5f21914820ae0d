"""The methods of the Python API that ask no question. Heavy libraries are imported when a method needs them."""

from __future__ import annotations

import copy
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from monjyu_core.paper import ParsedPaper
    from monjyu_core.storage.folders import DataFolder
    from monjyu_core.storage.snapshot import Snapshot
    from monjyu_query.api.listings import CollectionRecord, CoOccurrence, PaperRecord, PhraseRecord
    from monjyu_query.citations.missing_works import MissingWork
    from monjyu_query.citations.view import CitationView
    from monjyu_query.search.searcher import Searcher


AS_ARGUMENT = "as `collection`"
"""How to name a collection in a call, for error messages."""


class Collections:
    """The methods of `Monjyu` that ask no question. Thread-safe."""

    def __init__(self, data: str | Path | None = None) -> None:
        from monjyu_core.storage.folders import DataFolder
        from monjyu_core.storage.state_store import StateStore
        from monjyu_query.search.traces import TraceLog

        self.data: DataFolder = DataFolder(Path(data).expanduser().absolute()) if data else DataFolder.default()
        self._whole = self.data
        self._traces = TraceLog(StateStore(self.data.state))
        self._lock = threading.Lock()
        self._searchers: dict[str, tuple[int, Searcher]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release snapshots and wait until traces are written. A closed object opens them again when needed."""
        with self._lock:
            self._searchers.clear()
        self._traces.flush()

    def flush_traces(self) -> None:
        """Wait until the traces of the searches so far are written."""
        self._traces.flush()

    def seen_by(self, collections: frozenset[str] | None) -> Self:
        """Return a copy for a user who may see only `collections` (None = all). It shares the searchers."""
        seen = copy.copy(self)
        seen.data = self._whole.seen_by(collections)
        return seen

    def collections(self) -> list[CollectionRecord]:
        """The collections that have been indexed.

        >>> from monjyu_query import Monjyu
        >>> [(one.name, one.papers) for one in Monjyu(data).collections()]
        [('samples', 9)]
        """
        from monjyu_query.api.listings import collection_record

        return [collection_record(self.data, name) for name in self.data.collections()]

    def papers(self, collection: str | None = None) -> list[PaperRecord]:
        """The papers with their metadata, ordered by title.

        >>> from monjyu_query import Monjyu
        >>> Monjyu(data).papers()[0].title
        'Edges That Earn Their Place: Weighting and Pruning Noun-Phrase Graphs for Retrieval'
        """
        from monjyu_query.api.listings import paper_records

        with self.reading(collection) as snapshot:
            return paper_records(snapshot)

    def paper(self, paper_id: str, collection: str | None = None) -> ParsedPaper:
        """Return a paper with its sections, references, tables and figures. `paper_id` may be an id, a name or a
        description.

        >>> from monjyu_query import Monjyu
        >>> paper = Monjyu(data).paper("answer-provenance-ac1d5330")
        >>> paper.sections[0].heading, len(paper.references) > 0
        ('Abstract', True)
        """
        from monjyu_query.papers.records import show_paper

        with self.reading(collection) as snapshot:
            return show_paper(snapshot, self._meant(snapshot, paper_id, collection))

    def citations(
        self, paper_id: str, collection: str | None = None, depth: int = 1, min_count: int = 1
    ) -> CitationView:
        """Return the papers of the collection that a paper cites, those that cite it, and those that share at least
        `min_count` citing papers (co-citation) or cited works (coupling) with it.

        >>> from monjyu_query import Monjyu
        >>> view = Monjyu(data).citations("answer-provenance-ac1d5330")
        >>> len(view.cites), len(view.cited_by)
        (2, 3)
        """
        from monjyu_query.citations.view import citations_of

        with self.reading(collection) as snapshot:
            return citations_of(snapshot, self._meant(snapshot, paper_id, collection), depth, min_count)

    def missing_works(self, collection: str | None = None, *, min_count: int = 2, most: int = 100) -> list[MissingWork]:
        """Return the works that at least `min_count` papers cite but the collection lacks, the most cited first.

        >>> from monjyu_query import Monjyu
        >>> [len(work.cited_by) >= 1 for work in Monjyu(data).missing_works(min_count=1, most=2)]
        [True, True]
        """
        from monjyu_query.citations.missing_works import missing_works

        with self.reading(collection) as snapshot:
            return missing_works(snapshot, min_count, most)

    def top_phrases(self, collection: str | None = None, *, most: int = 20) -> list[PhraseRecord]:
        """Return the noun phrases with the largest tf-idf weights. Raises QueryError below level 1."""
        from monjyu_query.api.listings import top_phrases

        with self.reading(collection) as snapshot:
            return top_phrases(snapshot, most)

    def co_occurrences(self, phrase: str, collection: str | None = None, *, most: int = 20) -> list[CoOccurrence]:
        """Return the neighbours of a phrase in the noun graph, by decreasing weight. Raises QueryError below level 1,
        and for a phrase that is not in the graph."""
        from monjyu_query.api.listings import co_occurrences

        with self.reading(collection) as snapshot:
            return co_occurrences(snapshot, phrase, most)

    def _meant(self, snapshot: Snapshot, name: str, collection: str | None) -> str:
        """Return `name` if it is the id of a paper, or else the id of the paper that it names or describes."""
        from monjyu_query.papers.names import one_paper
        from monjyu_query.papers.records import identify_paper

        if identify_paper(snapshot.cursor(), name):
            return name
        return one_paper(self.chosen_searcher(collection).current(), name)

    def chosen_searcher(self, collection: str | None) -> Searcher:
        """Return the searcher of the named collection, or of the only one."""
        from monjyu_query.asking.which_collection import chosen_collection

        return self.searcher(chosen_collection(self.data, collection, AS_ARGUMENT))

    def searcher(self, collection: str) -> Searcher:
        """Return the searcher of a collection, cached until the collection's record (sources, level, model) changes."""
        from monjyu_core.settings.settings import settings_of_folder
        from monjyu_query.search.searcher import Searcher

        record = self.data.collection(collection).record
        written = record.stat().st_mtime_ns if record.is_file() else 0
        with self._lock:
            known = self._searchers.get(collection)
            if known is None or known[0] != written:
                with settings_of_folder(self.data.root):
                    known = written, Searcher(self._whole, collection, self._traces)
                self._searchers[collection] = known
            return known[1]

    def reading(self, collection: str | None = None) -> AbstractContextManager[Snapshot]:
        """Open the published snapshot for the block. Raises StorageError if its files cannot be read."""
        from monjyu_core.storage.snapshot import reading
        from monjyu_query.asking.which_collection import chosen_collection

        return reading(self.data.collection(chosen_collection(self.data, collection, AS_ARGUMENT)))
