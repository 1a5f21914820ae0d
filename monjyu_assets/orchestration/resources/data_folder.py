"""Resources for the data folder, model calls, and the databases and search files of published snapshots."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from logging import Logger
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg
import duckdb
from dagster_duckdb import DuckDBResource
from pydantic import Field

from monjyu_assets.orchestration.progress import reporter, warner
from monjyu_assets.work.run_limits import current_cap, spending_of
from monjyu_assets.work.work import Work
from monjyu_core.models.caps import SpendingCap
from monjyu_core.observability import set_up_observability
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.keyword_file import SearchFile, open_search_file
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.nearest_table import NearestTable
from monjyu_core.storage.snapshot import Snapshot, open_current
from monjyu_core.values import Values

if TYPE_CHECKING:
    from monjyu_core.models.calls.gateway import Session


class DataFolderResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The data folder, which contains sources and outputs."""

    root: str = Field(
        default="", description="Path of the data folder; empty = the one that MONJYU_DATA names, else ./data."
    )

    def folder(self) -> DataFolder:
        return DataFolder(Path(self.root).expanduser().absolute()) if self.root else DataFolder.default()

    def work(self, collection: str, log: Logger, run_id: str = "") -> Work:
        work = Work(self.folder(), collection, reporter(log), warner(log), run_id)
        set_up_observability(work.settings)
        return work


# Resource `models`: model calls, with caps for one run.
class ModelGateway(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Calls models as configured (`models`, `roles`): identical calls are answered from the cache, limits and caps
    apply, and calls are recorded in the ledger. Servers and keys are settings (`MONJYU_MODELS`), never part of a run's
    configuration."""

    data: dg.ResourceDependency[DataFolderResource]
    max_cost_usd: float = Field(
        default=0.0, ge=0, description="Limit on this run's cost in USD; 0 = the setting spending.max_cost_usd_per_run."
    )
    max_calls: int = Field(
        default=0, ge=0, description="Limit on the calls of this run; 0 = the setting spending.max_calls_per_run."
    )

    @contextmanager
    def within_caps(self, settings: Settings) -> Iterator[None]:
        """A context in which all calls together stay within this run's caps. If a command has set its own cap
        (`--max-cost-usd`), that one applies instead."""
        if current_cap() is not None or not (self.max_cost_usd or self.max_calls):
            yield
            return
        spending = settings.spending
        cost = self.max_cost_usd or spending.max_cost_usd_per_run
        with spending_of(SpendingCap("run", cost, self.max_calls or spending.max_calls_per_run)):
            yield

    @contextmanager
    def session(self, collection: str, asset: str) -> Iterator["Session"]:
        """A context with a session for chat calls of your own asset, with the collection's settings."""
        work = Work(self.data.folder(), collection)
        with self.within_caps(work.settings):
            try:
                yield work.session(asset)
            finally:
                work.close()


# Resources `snapshots` and `search_files`: the databases of published snapshots (by dagster-duckdb), and their vectors
# and full text.
FILE_FORMAT = {"storage_compatibility_version": "v1.4.0"}
"""The file format of `index.duckdb`. By default, DuckDB 2 writes files that DuckDB 1 cannot open; the older format
costs neither size nor time."""


class SnapshotDuckDB(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Opens the published snapshot of a collection read-only; `index_snapshot` writes new ones through it."""

    data: dg.ResourceDependency[DataFolderResource]
    threads: int = Field(default=0, ge=0, description="Threads of DuckDB; 0 = all cores.")
    temp_directory: str = Field(
        default="",
        description="Where DuckDB writes temporary data that does not fit in memory; empty = next to the snapshot.",
    )

    @contextmanager
    def get_connection(self, collection: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """A context with a connection to the published snapshot, which neither changes nor is removed until the context
        ends. Raises QueryError if the collection has never been published."""
        with self.reading(collection) as snapshot:
            yield snapshot.cursor()

    @contextmanager
    def reading(self, collection: str) -> Iterator[Snapshot]:
        """A context with the published snapshot, which has an id, a manifest, a folder and connections (`cursor()`)."""
        snapshot = open_current(self.data.folder().collection(collection))
        try:
            if self.threads:
                snapshot.cursor().execute(f"SET GLOBAL threads = {self.threads}").fetchall()
            yield snapshot
        finally:
            snapshot.close()

    @contextmanager
    def writing(self, path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
        """A context with a connection to a new database of a snapshot at `path`, for writing."""
        config: Values = dict(FILE_FORMAT)
        if self.threads:
            config["threads"] = self.threads
        if self.temp_directory:
            config["temp_directory"] = self.temp_directory
        with DuckDBResource(database=str(path), connection_config=config).get_connection() as connection:
            yield connection


@dataclass(frozen=True)
class SearchFiles:
    """The search files of one snapshot, mapped into memory. `files` contain the vectors (n, d) and postings of its
    chunks, each chunk in one file. `nearest` is Lance's approximate index, which only large collections have; `recall`
    is its measured recall (0 to 1)."""

    snapshot_id: str
    files: Sequence[SearchFile]
    nearest: NearestTable | None
    recall: float | None

    @property
    def chunks(self) -> int:
        return sum(map(len, self.files))


class SearchFilesResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Opens the files that searches of a collection read. Only the parts that are used are loaded into memory."""

    data: dg.ResourceDependency[DataFolderResource]

    @contextmanager
    def reading(self, collection: str, snapshot_id: str | None = None) -> Iterator[SearchFiles]:
        """A context with the files of the published or the named snapshot, which are not removed until the context
        ends. Raises QueryError if there is no snapshot, StorageError if a file is missing or damaged."""
        place = self.data.folder().collection(collection)
        snapshot = Snapshot(place, read_manifest(place, snapshot_id)) if snapshot_id else open_current(place)
        try:
            manifest, folder = snapshot.manifest, snapshot.collection
            tables = folder.tables(manifest.snapshot_id)
            files = [open_search_file(folder.search, tables, entry) for entry in manifest.search]
            entry = manifest.nearest
            nearest = NearestTable(folder.lance, entry) if entry else None
            yield SearchFiles(snapshot.id, files, nearest, entry.recall if entry else None)
        finally:
            snapshot.close()
