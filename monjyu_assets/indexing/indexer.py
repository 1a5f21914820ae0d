"""`Indexer`: builds indexes from Python, as `monjyu index` and related commands do. Importing it loads nothing
heavy."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from monjyu_core.values import Values

if TYPE_CHECKING:
    from monjyu_assets.chunking import Chunk
    from monjyu_assets.indexing.requests import ListedSource
    from monjyu_assets.planning.pending import IndexResult
    from monjyu_core.storage.folders import DataFolder

Progress = Callable[[str, int, int], None]
"""Called with (stage, done, total): scan, parse, chunk, embed, phrases, …, publish. A total of 0 means not known
yet."""
Say = Callable[[str], None]
"""Called with a message for the user; the run continues."""

_one_at_a_time = threading.RLock()
"""A run's goal, listeners and Dagster home are global to the process, so only one run is active at a time."""


def _nothing(*_: object) -> None: ...


class _Listeners(TypedDict):
    progress: Progress
    say: Say


class Indexer:
    """Builds the collections of one data folder with Dagster runs in this process. It builds one index at a time, even
    if threads share it; commands and other processes may run at the same time.

    `data` is the data folder, by default `MONJYU_DATA` or `./data`; settings are read from it. `progress` is called
    with (stage, done, total), `say` with warnings.

    >>> from monjyu_assets import Indexer
    >>> indexer = Indexer(data)
    >>> done = indexer.index(papers, collection="notes", level=1, exclude=["drafts"])
    >>> done.level, done.papers.total, done.failures
    (1, 2, [])
    >>> indexer.index(collection="notes").papers.unchanged
    2
    >>> [(source.papers, source.exclude) for source in indexer.sources("notes")]
    [(2, ['drafts'])]
    >>> indexer.status("notes")[0]["level"]
    1

    Methods raise subclasses of `monjyu_core.errors.MonjyuError`, and a method that raises has changed neither the
    published snapshot nor the record: ConfigurationError (wrong arguments, settings, unknown collections),
    IndexBuildError (a source that cannot be read, too many missing papers, a failed check), StorageError (a full disk).
    A paper that cannot be read raises no error: it is in `failures` of the result.
    """

    def __init__(self, data: str | Path | None = None, *, progress: Progress = _nothing, say: Say = _nothing) -> None:
        from monjyu_core.storage.folders import DataFolder

        self.data: DataFolder = DataFolder(Path(data).expanduser().absolute()) if data else DataFolder.default()
        self._listeners: _Listeners = {"progress": progress, "say": say}

    def index(
        self,
        sources: str | Path | Sequence[str | Path] = (),
        collection: str | None = None,
        *,
        level: int | None = None,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        allow_deletes: bool = False,
    ) -> IndexResult:
        """Index folders or files into a collection (by default named after the only source) and publish it.

        Without `sources`, the collection is updated from its own sources. The result has the fields that `monjyu index
        --json` prints.
        """
        from monjyu_assets.indexing.requests import index_collection

        given = [sources] if isinstance(sources, str | Path) else sources
        with self._running():
            return index_collection(
                self.data,
                [Path(source) for source in given],
                collection,
                level=level,
                include=include,
                exclude=exclude,
                allow_deletes=allow_deletes,
                **self._listeners,
            )

    def chunk(self, texts: Sequence[str], *, language: str = "en") -> list[list[Chunk]]:
        """The chunks that each text would have as a section of a paper, with the current settings; nothing is stored.

        >>> [[chunk.text for chunk in chunks] for chunks in Indexer(data).chunk(["Leases expire. Readers renew them."])]
        [['Leases expire. Readers renew them.']]
        """
        from monjyu_assets.chunking.papers import Chunker
        from monjyu_core.settings.settings import load_settings, settings_of_folder

        with settings_of_folder(self.data.root):
            chunker = Chunker(load_settings())
        return [chunker.chunk_text(text, language=language) for text in texts]

    def upgrade(
        self, collection: str, level: int, *, max_cost_usd: float | None = None, allow_deletes: bool = False
    ) -> IndexResult:
        """Build a collection up to a level; later runs update it. The total cost of model calls stays within
        `max_cost_usd`."""
        from monjyu_assets.indexing.requests import upgrade_collection

        with self._running():
            return upgrade_collection(
                self.data,
                collection,
                level,
                max_cost_usd=max_cost_usd,
                allow_deletes=allow_deletes,
                **self._listeners,
            )

    def downgrade(self, collection: str, level: int) -> IndexResult:
        """Drop the levels of a collection above `level`."""
        from monjyu_assets.indexing.requests import downgrade_collection

        with self._running():
            return downgrade_collection(self.data, collection, level, **self._listeners)

    def sources(self, collection: str) -> list[ListedSource]:
        """The sources of a collection, with their numbers of papers and the patterns that select files."""
        from monjyu_assets.indexing.requests import list_sources

        return list_sources(self.data, collection)

    def move_source(
        self, collection: str, old: str | Path, new: str | Path, *, allow_deletes: bool = False
    ) -> IndexResult:
        """Record the new location of a source. Its papers keep their ids, and nothing is computed again."""
        from monjyu_assets.indexing.requests import move_source

        with self._running():
            return move_source(self.data, collection, old, Path(new), allow_deletes=allow_deletes, **self._listeners)

    def remove_source(self, collection: str, source: str | Path) -> IndexResult:
        """Remove a source and its papers from the collection."""
        from monjyu_assets.indexing.requests import remove_source

        with self._running():
            return remove_source(self.data, collection, source, **self._listeners)

    def status(self, collection: str | None = None) -> list[Values]:
        """The state of the named collection, or of each: level, snapshot, rows by table, failed papers, model usage."""
        from monjyu_core.settings.settings import settings_of_folder
        from monjyu_core.status import collection_status

        names = self.data.collections() if collection is None else [collection]
        with settings_of_folder(self.data.root):
            return [collection_status(self.data, name) for name in names]

    @contextmanager
    def _running(self) -> Iterator[None]:
        """A context with the settings and the Dagster instance of this data folder."""
        from monjyu_core.settings.settings import settings_of_folder

        with _one_at_a_time, settings_of_folder(self.data.root), _own_home():
            yield


@contextmanager
def _own_home() -> Iterator[None]:
    """A context that restores DAGSTER_HOME, which opening an instance sets: each data folder has its own."""
    before = os.environ.get("DAGSTER_HOME")
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("DAGSTER_HOME", None)
        else:
            os.environ["DAGSTER_HOME"] = before
