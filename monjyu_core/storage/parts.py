"""Parts: immutable Parquet files, one a table and shard, named by the hash of their bytes; HEAD names the current one.

An asset may write several tables. Their parts are written first, then the HEADs, the primary table's last. The primary
part lists the versions of its siblings and decides, so a crash in between leaves the old set whole.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NotRequired, TypedDict, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from monjyu_core.errors import StorageError
from monjyu_core.storage.folders import write_atomically
from monjyu_core.storage.ids import digest
from monjyu_core.storage.schemas import ASSET_TABLES, TABLES, columns_of

_METADATA = b"monjyu"
R = TypeVar("R")


class PartMetadata(TypedDict):
    """What a Parquet file keeps in its footer, as JSON. Only the primary part of an asset has more than the hash."""

    data_version: str
    asset_version: NotRequired[str]
    code_version: NotRequired[str]
    inputs: NotRequired[dict[str, str]]
    keys: NotRequired[dict[str, str]]
    siblings: NotRequired[dict[str, str]]


@dataclass(frozen=True)
class Part:
    """One immutable file. `data_version` is the hash of its rows without times and paths; `version` of its bytes."""

    table: str
    shard: str
    version: str
    path: Path
    rows: int
    data_version: str
    asset_version: str = ""
    code_version: str = ""
    inputs: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    siblings: dict[str, str] = field(default_factory=dict)

    def read(self, columns: list[str] | None = None) -> pa.Table:
        try:
            return pq.read_table(self.path, columns=columns, partitioning=None).replace_schema_metadata(None)
        except (OSError, pa.ArrowInvalid) as error:
            raise StorageError(f"Part {self.path} cannot be read: {error}.", "Index the collection again.") from error

    def records(self, row: type[R]) -> list[R]:
        """The rows as records of this TypedDict: its columns and no others."""
        records: list[R] = self.read(columns_of(self.table, row)).to_pylist()
        return records


class PartStore:
    """The parts of one collection."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def head(self, table: str, shard: str) -> Part | None:
        """The current part of a table's shard, as its asset's primary part names it."""
        primary = ASSET_TABLES[TABLES[table].asset][0]
        version = _read_head(self._shard(primary, shard) / "HEAD")
        if version is None:
            return None
        part = self.open(primary, shard, version)
        return part if table == primary else self.open(table, shard, part.siblings[table])

    def heads(self, table: str) -> list[Part]:
        """The current parts of a table, those of shards that have none left out."""
        spec = TABLES[table]
        if spec.view:
            return []
        return [part for shard in spec.shards if (part := self.head(table, shard)) is not None]

    def open(self, table: str, shard: str, version: str) -> Part:
        return _open(self.path(table, shard, version), table, shard, version)

    def path(self, table: str, shard: str, version: str) -> Path:
        return self._shard(table, shard) / f"{version}.parquet"

    def write(
        self,
        asset: str,
        shard: str,
        tables: dict[str, pa.Table],
        *,
        inputs: dict[str, str],
        keys: dict[str, str] | None = None,
        code_version: str,
    ) -> Part:
        """Write all tables of an asset's shard and make them current; gives the primary part.

        `inputs` are the asset versions this rests on; `keys` the reuse key of each paper.
        """
        primary, *others = ASSET_TABLES[asset]
        ready = {name: _normalise(name, tables[name]) for name in (primary, *others)}
        versions = {name: data_version(name, ready[name]) for name in ready}
        asset_version = digest(*(f"{name}={versions[name]}" for name in sorted(versions)), length=20)
        metadata: PartMetadata = {
            "data_version": versions[primary],
            "asset_version": asset_version,
            "code_version": code_version,
            "inputs": inputs,
            "keys": keys or {},
        }
        with self.locked(fcntl.LOCK_SH):
            siblings = {name: self._put(name, shard, ready[name], {"data_version": versions[name]}) for name in others}
            put = siblings | {primary: self._put(primary, shard, ready[primary], {**metadata, "siblings": siblings})}
            for name in (*others, primary):
                self._set_head(name, shard, put[name])
            return self.open(primary, shard, put[primary])

    def drop(self, asset: str) -> None:
        """No part of the asset is current any more. The primary table's HEADs go first: they decide."""
        with self.locked(fcntl.LOCK_SH):
            for table in ASSET_TABLES[asset]:
                for shard in TABLES[table].shards:
                    (self._shard(table, shard) / "HEAD").unlink(missing_ok=True)

    @contextmanager
    def locked(self, kind: int) -> Iterator[None]:
        """A kernel lock, shared by those who write parts; whoever removes parts that no HEAD names has it alone."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ".lock").open("ab") as file:
            fcntl.flock(file, kind)
            yield

    def _put(self, table: str, shard: str, rows: pa.Table, metadata: PartMetadata) -> str:
        tagged = rows.replace_schema_metadata({_METADATA: json.dumps(metadata, sort_keys=True).encode()})
        sink = pa.BufferOutputStream()
        pq.write_table(tagged, sink, compression="zstd")
        content = sink.getvalue().to_pybytes()
        version = hashlib.sha256(content).hexdigest()[:32]
        path = self.path(table, shard, version)
        if not path.exists():
            write_atomically(path, content)
        return version

    def _set_head(self, table: str, shard: str, version: str) -> None:
        path = self._shard(table, shard) / "HEAD"
        if _read_head(path) != version:
            write_atomically(path, f"{version}\n".encode())

    def _shard(self, table: str, shard: str) -> Path:
        return self.folder / table / f"shard={shard}"


def file_version(path: Path) -> str:
    """What a part's name must be: the first 32 hex digits of the SHA-256 of its bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def data_version(table: str, rows: pa.Table) -> str:
    """Hash of sorted rows without the unhashed columns. Parquet bytes are canonical where Arrow buffers are not."""
    sink = pa.BufferOutputStream()
    hashed = rows.select(TABLES[table].hashed).replace_schema_metadata(None)
    pq.write_table(hashed, sink, compression="none", use_dictionary=False, store_schema=False, write_statistics=False)
    return hashlib.sha256(sink.getvalue()).hexdigest()[:20]


def _normalise(table: str, rows: pa.Table) -> pa.Table:
    spec = TABLES[table]
    rows = rows.select(spec.schema.names).cast(spec.schema)
    return rows.sort_by([(key, "ascending") for key in spec.keys]).combine_chunks()


def version_in(head: str) -> str:
    """The version that the text of a HEAD names."""
    return head.strip()


def _read_head(path: Path) -> str | None:
    try:
        return version_in(path.read_text(encoding="ascii")) or None
    except FileNotFoundError:
        return None


@lru_cache(maxsize=4096)
def _open(path: Path, table: str, shard: str, version: str) -> Part:
    """Cached for good: a part never changes."""
    try:
        footer = pq.read_metadata(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise StorageError(
            f"Part {path} is missing or damaged: {error}.", "Delete its HEAD file and index the collection again."
        ) from error
    stored: PartMetadata = json.loads((footer.metadata or {}).get(_METADATA, b"{}"))
    return Part(table, shard, version, path, footer.num_rows, **stored)
