"""The manifest of a snapshot: its content, and how it is read."""

import logging
import re
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ValidationError

from monjyu_core.errors import StorageError, UnknownVersion
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.schemas import SCHEMA_VERSION
from monjyu_core.values import Values

_log = logging.getLogger(__name__)
MANIFEST_HASH = "manifest.sha256"
"""The file next to a manifest with its SHA-256."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
"""Matches names of snapshot folders and no path to another folder."""


class PartEntry(BaseModel):
    """A part of the snapshot. `version` is the hash of the file's bytes."""

    table: str
    shard: str
    version: str
    data_version: str
    asset_version: str
    rows: int


class SearchFileEntry(BaseModel):
    """A file of `search/`: texts and postings of `rows` chunks. `made_from` is the hash of all its inputs, its name
    that of its bytes, `size` their number. The vectors of the chunks begin at the byte `offset` of a Lance data file
    (`data`, inside the snapshot's folder `lance`); schemas before 3 have neither."""

    name: str
    made_from: str
    rows: int
    size: int
    data: str = ""
    offset: int = 0


class LanceFile(BaseModel):
    """A file of the snapshot's Lance tables, by its path inside the folder `lance`. A data file has the rows of one
    `group`, which is the hash of all their inputs."""

    path: str
    size: int
    sha256: str
    group: str = ""


class NearestEntry(BaseModel):
    """A Lance table of `rows` keys and vectors with an approximate index, queried with `probes` partitions. `recall` is
    the share of the ten nearest chunks that were among the candidates when it was built; `excluded` the hash of the
    purged papers that it leaves out."""

    table: str
    rows: int
    probes: int
    recall: float
    excluded: str = ""

    @property
    def folder(self) -> str:
        return f"{self.table}.lance"


class EmbeddingEntry(BaseModel):
    """The model of the vectors; a query must be embedded with the same `fingerprint`."""

    model: str
    dimensions: int
    fingerprint: str


class Manifest(BaseModel):
    """The content of a snapshot: `snapshots/<id>/manifest.json`."""

    snapshot_id: str
    schema_version: int
    collection: str
    level: int
    behind: list[str] = []
    created_at: str
    built_at: dict[int, str] = {}
    """By level, the time since which its tables are unchanged."""
    previous: str | None = None
    content: str
    parts: list[PartEntry]
    rows: dict[str, int]
    search: list[SearchFileEntry]
    lance: list[LanceFile] = []
    nearest: NearestEntry | None = None
    embedding: EmbeddingEntry
    database_sha256: str
    settings: Values
    code_version: str
    checks: str = ""
    copied: bool = True
    """Whether the database contains the rows; otherwise it has views over the parts."""


def mend(collection: str) -> str:
    """Return a hint on how to repair a snapshot that cannot be read."""
    return (
        f"`monjyu snapshots verify -c {collection}` reports the damage. Index the collection again to rebuild the "
        f"snapshot, or run `monjyu snapshots rollback -c {collection}` to serve the previous one."
    )


def unreadable(collection: str, snapshot_id: str, error: Exception) -> StorageError:
    """The error for a snapshot whose files fail. The library's message names paths, so only the log has it."""
    _log.error("Snapshot %s of %s cannot be read: %s", snapshot_id, collection, error)
    return StorageError(
        f"Snapshot {snapshot_id} of {collection} cannot be read: its files are damaged or missing.", mend(collection)
    )


def read_manifest(collection: CollectionFolder, snapshot_id: str) -> Manifest:
    """Read the manifest. Raises StorageError if it is missing or cannot be read; raises UnknownVersion if another
    version of Monjyu wrote it, or it is damaged."""
    if not _ID.fullmatch(snapshot_id):
        raise StorageError(f"{snapshot_id[:80]!r} is not a snapshot of {collection.name}.", mend(collection.name))
    path = collection.snapshot(snapshot_id) / "manifest.json"
    try:
        seen = path.stat()
        manifest = _manifest_at(path, seen.st_mtime_ns, seen.st_ino, seen.st_size)
    except FileNotFoundError as error:
        raise StorageError(
            f"Snapshot {snapshot_id} of {collection.name} no longer exists.", mend(collection.name)
        ) from error
    except OSError as error:
        raise unreadable(collection.name, snapshot_id, error) from error
    except ValidationError as error:
        raise UnknownVersion(
            f"The manifest of snapshot {snapshot_id} of {collection.name} is damaged or of another version of Monjyu.",
            mend(collection.name),
        ) from error
    if manifest.snapshot_id != snapshot_id:
        raise UnknownVersion(
            f"The manifest of snapshot {snapshot_id} of {collection.name} names another one.", mend(collection.name)
        )
    if manifest.schema_version != SCHEMA_VERSION:
        age = "newer" if manifest.schema_version > SCHEMA_VERSION else "older"
        advice = "Upgrade Monjyu." if age == "newer" else f"Run `monjyu index` for {collection.name} again."
        raise UnknownVersion(f"Snapshot {snapshot_id} has an {age} schema ({manifest.schema_version}).", advice)
    return manifest


@lru_cache(maxsize=2)
def _manifest_at(path: Path, *seen: int) -> Manifest:
    """Cached, because one command reads the newest six times; few are cached, because each names every part."""
    return Manifest.model_validate_json(path.read_bytes())
