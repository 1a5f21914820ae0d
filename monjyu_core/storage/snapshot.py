"""Published snapshots: the manifest, and how readers open, pin and follow them.

A reader opens what CURRENT names and keeps that for a whole request. What a snapshot lists is immutable, so nothing it
reads changes under it; a later `SnapshotReader.current()` gives the next snapshot once CURRENT has moved.
"""

from __future__ import annotations

import fcntl
import logging
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from pydantic import BaseModel, ValidationError

from monjyu_core.errors import QueryError, StorageError, UnknownVersion
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.ids import bucket_of, shard_of_bucket
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import SCHEMA_VERSION
from monjyu_core.storage.snapshot_database import open_database, rows_of_files

if TYPE_CHECKING:
    import duckdb


T = TypeVar("T")
_log = logging.getLogger(__name__)
OPEN_TRIES = 3
MANIFEST_HASH = "manifest.sha256"
"""The file beside a manifest that holds its SHA-256."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
"""What may be the name of a snapshot's folder: nothing that leads elsewhere."""
_LONGEST_ID = 200


class PartEntry(BaseModel):
    """A part the snapshot rests on. `version` is the hash of the file's bytes."""

    table: str
    shard: str
    version: str
    data_version: str
    asset_version: str
    rows: int


class SearchFileEntry(BaseModel):
    """A file of `search/`: vectors and full text of `rows` chunks. `made_from` is the hash of all that it is made from,
    its name that of its bytes, `size` their number."""

    name: str
    made_from: str
    rows: int
    size: int


class NearestEntry(BaseModel):
    """A Lance table of `rows` keys and vectors with an approximate index, asked with so many `probes`. `recall` is the
    share of the ten nearest chunks that were among the candidates when it was built; `excluded` the hash of the purged
    papers that it was built without."""

    table: str
    rows: int
    probes: int
    recall: float
    excluded: str = ""

    @property
    def folder(self) -> str:
        return f"{self.table}.lance"


class EmbeddingEntry(BaseModel):
    """The model the vectors come from; a query must be embedded with the same `fingerprint`."""

    model: str
    dimensions: int
    fingerprint: str


class Manifest(BaseModel):
    """What a snapshot is made of: `snapshots/<id>/manifest.json`."""

    snapshot_id: str
    schema_version: int
    collection: str
    level: int
    behind: list[str] = []
    created_at: str
    built_at: dict[int, str] = {}
    """By level: since when its tables are as they are."""
    previous: str | None = None
    content: str
    parts: list[PartEntry]
    rows: dict[str, int]
    search: list[SearchFileEntry]
    nearest: NearestEntry | None = None
    embedding: EmbeddingEntry
    database_sha256: str
    settings: dict[str, Any]
    code_version: str
    checks: str = ""
    copied: bool = True
    """Whether the database holds the rows; else views over the parts."""


TEXTS = ("papers", "authors", "sections", "sentences", "chunks", "chunk_sentences")
"""Tables that answers read a few papers of."""


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
        """A cursor for what is asked of these papers. Where the tables of texts are views over many parts, it sees
        those of the papers' buckets only."""
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
        """The buckets that these papers lie in."""
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
        """Whoever opened it for many requests lets it go with the last of them."""
        if hasattr(self, "_lease"):
            self.close()


def take_lease(folder: Path) -> BinaryIO:
    """A shared kernel lock on a snapshot's manifest: no collection meanwhile; it ends with the process."""
    try:
        file = (folder / "manifest.json").open("rb")
        fcntl.flock(file, fcntl.LOCK_SH)
    except OSError as error:
        raise StorageError(f"Snapshot {folder.name} is gone.", "Ask again: a newer one is published.") from error
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
    """Ids of the snapshots that are whole, oldest first (an id begins with its time)."""
    return sorted(path.parent.name for path in collection.snapshots.glob("[!.]*/manifest.json"))


def held(collection: CollectionFolder) -> str | None:
    """The snapshot that a rollback holds CURRENT at, or None."""
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


def mend(collection: str) -> str:
    """What to do about a snapshot that cannot be read."""
    return (
        f"`monjyu snapshots verify -c {collection}` says what is wrong; indexing the collection again builds it anew, "
        f"`monjyu snapshots rollback -c {collection}` serves the one before."
    )


def unreadable(collection: str, snapshot_id: str, error: Exception) -> StorageError:
    """A published snapshot whose files fail. The library's words name paths and blocks: they are for the log."""
    _log.error("Snapshot %s of %s cannot be read: %s", snapshot_id, collection, error)
    return StorageError(
        f"Snapshot {snapshot_id} of {collection} cannot be read: its files are damaged or gone.", mend(collection)
    )


def read_manifest(collection: CollectionFolder, snapshot_id: str) -> Manifest:
    if not _ID.fullmatch(snapshot_id):
        raise StorageError(f"{snapshot_id[:80]!r} is no snapshot of {collection.name}.", mend(collection.name))
    path = collection.snapshot(snapshot_id) / "manifest.json"
    try:
        seen = path.stat()
        manifest = _manifest_at(path, seen.st_mtime_ns, seen.st_ino, seen.st_size)
    except FileNotFoundError as error:
        raise StorageError(f"Snapshot {snapshot_id} of {collection.name} is gone.", mend(collection.name)) from error
    except OSError as error:
        raise unreadable(collection.name, snapshot_id, error) from error
    except ValidationError as error:
        raise UnknownVersion(
            f"The manifest of snapshot {snapshot_id} of {collection.name} is damaged or of another version of Monjyu.",
            mend(collection.name),
        ) from error
    if manifest.snapshot_id != snapshot_id:
        raise UnknownVersion(
            f"The manifest of snapshot {snapshot_id} of {collection.name} is another's.", mend(collection.name)
        )
    if manifest.schema_version != SCHEMA_VERSION:
        age = "newer" if manifest.schema_version > SCHEMA_VERSION else "older"
        advice = "Upgrade Monjyu." if age == "newer" else f"Run `monjyu index` for {collection.name} again."
        raise UnknownVersion(f"Snapshot {snapshot_id} has an {age} schema ({manifest.schema_version}).", advice)
    return manifest


@lru_cache(maxsize=2)
def _manifest_at(path: Path, *seen: int) -> Manifest:
    """Cached, since one command asks for the newest half a dozen times; few, since each names every part."""
    return Manifest.model_validate_json(path.read_bytes())


def open_current(collection: CollectionFolder) -> Snapshot:
    """Open what CURRENT names; QueryError where the collection has never been published."""
    return _current(collection, lambda snapshot_id: Snapshot(collection, read_manifest(collection, snapshot_id)))


@contextmanager
def reading(collection: CollectionFolder) -> Iterator[Snapshot]:
    """What CURRENT names, closed at the end. StorageError where its files fail, QueryError where there is none."""
    import duckdb

    snapshot = open_current(collection)
    try:
        yield snapshot
    except (duckdb.Error, OSError) as error:
        raise unreadable(collection.name, snapshot.id, error) from error
    finally:
        snapshot.close()


def current_manifest(collection: CollectionFolder) -> Manifest:
    """The manifest of what CURRENT names; QueryError where the collection has never been published."""
    return _current(collection, lambda snapshot_id: read_manifest(collection, snapshot_id))


def _current(collection: CollectionFolder, read: Callable[[str], T]) -> T:
    """What CURRENT names may be collected between reading it and opening; then it names another by now."""
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
        """Open the files anew for the next request: those that are open may be damaged, and be mended by then."""
        with self._lock:
            self._snapshot = None

    def current(self) -> Snapshot:
        with self._lock:
            if self._snapshot is None or self._snapshot.id != read_current(self.collection):
                self._snapshot = open_current(self.collection)
            return self._snapshot


class PinnedReader(SnapshotReader):
    """Keeps to one snapshot, whether it is the published one or not."""

    def __init__(self, collection: CollectionFolder, snapshot_id: str) -> None:
        super().__init__(collection)
        self.snapshot_id = snapshot_id

    def current(self) -> Snapshot:
        with self._lock:
            if self._snapshot is None:
                self._snapshot = Snapshot(self.collection, read_manifest(self.collection, self.snapshot_id))
            return self._snapshot
