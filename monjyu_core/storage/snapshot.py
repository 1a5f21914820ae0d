"""Published snapshots: which ones exist, and how readers open, pin and follow them.

A reader opens the snapshot that CURRENT names and uses it for a whole request. The files of a snapshot are immutable;
`SnapshotReader.current()` returns the next snapshot once CURRENT has changed.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from monjyu_core.errors import QueryError, StorageError
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.ids import bucket_of, shard_of_bucket
from monjyu_core.storage.manifest import Manifest, PartEntry, mend, read_manifest, unreadable
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import TABLES

if TYPE_CHECKING:
    import duckdb


# The database of a snapshot, opened for reading: it has rows, or views over the snapshot's parts.
def open_database(path: Path) -> duckdb.DuckDBPyConnection:
    """A snapshot's database, read-only. Views find the snapshot's parts relative to its folder."""
    import duckdb

    connection = duckdb.connect(str(path), read_only=True)
    search_near_database(connection, path)
    return connection


def search_near_database(connection: duckdb.DuckDBPyConnection, database: Path) -> None:
    """Resolve relative paths from the database's folder, in every cursor of the connection."""
    folder = str(database.parent.absolute()).replace("'", "''")
    connection.execute(f"SET GLOBAL file_search_path = '{folder}'").fetchall()


def rows_of_files(table: str, files: Iterable[str]) -> str:
    """A query for the rows of a table's part `files` with their shard, in the order of the files."""
    columns = ", ".join(f'"{name}"' for name in TABLES[table].schema.names)
    listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    how = "hive_partitioning = true, hive_types_autocast = false"
    return f"SELECT {columns}, shard FROM read_parquet([{listed}], {how})"


T = TypeVar("T")
OPEN_TRIES = 3
_LONGEST_ID = 200
"""The number of bytes of CURRENT that are read."""
TEXTS = ("papers", "authors", "sections", "sentences", "chunks", "chunk_sentences")
"""Tables from which answers read a few papers."""


class Snapshot:
    """One opened snapshot. Safe to share between threads: every request takes its own cursor."""

    def __init__(self, collection: CollectionFolder, manifest: Manifest) -> None:
        self.collection = collection
        self.manifest = manifest
        self._lock = threading.Lock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._lease = take_lease(self.folder)

    @property
    def id(self) -> str:
        return self.manifest.snapshot_id

    @property
    def folder(self) -> Path:
        return self.collection.snapshot(self.id)

    @property
    def database(self) -> Path:
        return self.collection.database(self.id)

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A new cursor on the snapshot's read-only database."""
        import duckdb

        with self._lock:
            if self._connection is None:
                try:
                    self._connection = open_database(self.database)
                except duckdb.Error as error:
                    raise unreadable(self.collection.name, self.id, error) from error
            return self._connection.cursor()

    def cursor_of(self, paper_ids: Iterable[str]) -> duckdb.DuckDBPyConnection:
        """A cursor for queries about the papers. If the tables of texts are views over many parts, it sees only those
        of the papers' buckets."""
        cursor = self.cursor()
        if self.manifest.copied:
            return cursor
        buckets = self.buckets_of(paper_ids)
        for table in TEXTS:
            entries = [entry for bucket in sorted(buckets) for entry in self._entries.get((table, bucket), ())]
            files = [str(self._store.path(table, entry.shard, entry.version)) for entry in entries if entry.rows]
            if files:
                cursor.execute(f'CREATE TEMP VIEW "{table}" AS {rows_of_files(table, files)}').fetchall()
        return cursor

    def buckets_of(self, paper_ids: Iterable[str]) -> set[str]:
        """The buckets of the papers."""
        return {bucket_of(paper_id, self._bucket_counts[bucket_of(paper_id, 1)]) for paper_id in paper_ids}

    @cached_property
    def _entries(self) -> dict[tuple[str, str], list[PartEntry]]:
        entries: dict[tuple[str, str], list[PartEntry]] = {}
        for entry in self.manifest.parts:
            entries.setdefault((entry.table, entry.shard), []).append(entry)
        return entries

    @cached_property
    def _bucket_counts(self) -> Counter[str]:
        """Buckets by shard: each has a part of the manifest."""
        return Counter(shard_of_bucket(bucket) for table, bucket in self._entries if table == "manifest")

    @cached_property
    def _store(self) -> PartStore:
        return PartStore(self.collection.parts)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            self._lease.close()

    def __del__(self) -> None:
        """Close the snapshot when the last request that uses it ends."""
        if hasattr(self, "_lease"):
            self.close()


def take_lease(folder: Path) -> BinaryIO:
    """A shared kernel lock on a snapshot's manifest, which prevents its removal and ends with the process."""
    try:
        file = (folder / "manifest.json").open("rb")
        fcntl.flock(file, fcntl.LOCK_SH)
    except OSError as error:
        raise StorageError(
            f"Snapshot {folder.name} no longer exists.", "Ask again: a newer one is published."
        ) from error
    return file


def is_leased(folder: Path) -> bool:
    """Whether a reader has the snapshot open."""
    with (folder / "manifest.json").open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def published(collection: CollectionFolder) -> list[str]:
    """Ids of complete snapshots, oldest first (an id begins with its time)."""
    return sorted(path.parent.name for path in collection.snapshots.glob("[!.]*/manifest.json"))


def held(collection: CollectionFolder) -> str | None:
    """The snapshot to which a rollback pins CURRENT, or None."""
    try:
        return collection.hold.read_text("utf-8", "backslashreplace").strip() or None
    except FileNotFoundError:
        return None


def read_current(collection: CollectionFolder) -> str | None:
    """The content of CURRENT, or None if nothing is published. `read_manifest` checks that it is an id."""
    try:
        with collection.current.open("rb") as file:
            return file.read(_LONGEST_ID).decode("utf-8", "backslashreplace").strip() or None
    except FileNotFoundError:
        return None
    except OSError as error:
        why = error.strerror or error
        raise StorageError(f"CURRENT of {collection.name} cannot be read: {why}.", mend(collection.name)) from error


def open_current(collection: CollectionFolder) -> Snapshot:
    """Open the current snapshot. Raises QueryError if the collection has never been published."""
    return _current(collection, lambda snapshot_id: Snapshot(collection, read_manifest(collection, snapshot_id)))


@contextmanager
def reading(collection: CollectionFolder) -> Iterator[Snapshot]:
    """The current snapshot, closed at the end. Raises StorageError if its files cannot be read, QueryError if no
    snapshot is published. An OSError of any other file, or of a pipe, is raised unchanged."""
    import duckdb

    snapshot = open_current(collection)
    try:
        yield snapshot
    except (duckdb.Error, OSError) as error:
        if isinstance(error, OSError) and _of_others(error, collection):
            raise
        raise unreadable(collection.name, snapshot.id, error) from error
    finally:
        snapshot.close()


def _of_others(error: OSError, collection: CollectionFolder) -> bool:
    """Whether the error is about a file outside the collection, such as one written for the user."""
    if isinstance(error, BrokenPipeError):
        return True
    named = error.filename
    return isinstance(named, str | os.PathLike) and not Path(named).absolute().is_relative_to(collection.root)


def current_manifest(collection: CollectionFolder) -> Manifest:
    """The manifest of the current snapshot. Raises QueryError if the collection has never been published."""
    return _current(collection, lambda snapshot_id: read_manifest(collection, snapshot_id))


def _current(collection: CollectionFolder, read: Callable[[str], T]) -> T:
    """Read the current snapshot; retry if it was removed after CURRENT was read, which then names another."""
    for tries_left in reversed(range(OPEN_TRIES)):
        snapshot_id = read_current(collection)
        if snapshot_id is None:
            break
        try:
            return read(snapshot_id)
        except StorageError:
            if not tries_left or read_current(collection) == snapshot_id:
                raise
    raise QueryError(
        f"Collection {collection.name!r} has no published index.",
        f"Run `monjyu index FOLDER -c {collection.name}`.",
    )


class SnapshotReader:
    """Follows CURRENT: the same `Snapshot` as long as it names the same id, a new one after a publish."""

    def __init__(self, collection: CollectionFolder) -> None:
        self.collection = collection
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None

    def forget(self) -> None:
        """Open the files again for the next request: the open ones may be damaged and repaired by then."""
        with self._lock:
            self._snapshot = None

    def current(self) -> Snapshot:
        with self._lock:
            if self._snapshot is None or self._snapshot.id != read_current(self.collection):
                self._snapshot = open_current(self.collection)
            return self._snapshot


class PinnedReader(SnapshotReader):
    """Stays with one snapshot, whether it is the published one or not."""

    def __init__(self, collection: CollectionFolder, snapshot_id: str) -> None:
        super().__init__(collection)
        self.snapshot_id = snapshot_id

    def current(self) -> Snapshot:
        with self._lock:
            if self._snapshot is None:
                self._snapshot = Snapshot(self.collection, read_manifest(self.collection, self.snapshot_id))
            return self._snapshot
