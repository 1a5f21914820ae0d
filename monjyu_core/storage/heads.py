"""The HEAD of an asset's shard: which parts are current, bucket by bucket, and what each depends on."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from monjyu_core.errors import StorageError
from monjyu_core.storage.schemas import TABLES

# The bytes of a part: one Parquet file whose footer has the origin of its rows, named by the hash of the bytes.
_METADATA = b"monjyu"
_SUFFIX = ".parquet"
ROWS_OF_A_GROUP = 16_384
"""Rows per Parquet row group: readers of one paper skip groups by their smallest and largest ids."""
ROWS_OF_A_SLICE = 2**20
"""Rows that are hashed and encoded at a time: whole groups."""


def part_name(version: str) -> str:
    """The name of a part's file."""
    return f"{version}{_SUFFIX}"


def versions_in(folder: Path) -> set[str]:
    """The parts with files in the folder of a table's shard, current or not."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(_SUFFIX) and entry.is_file()]
    except FileNotFoundError:
        return set()
    return {name.removesuffix(_SUFFIX) for name in names}


def file_version(path: Path) -> str:
    """The required name of a part: the first 32 hex digits of the SHA-256 of its bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def data_version(table: str, rows: pa.Table) -> str:
    """Hash of sorted rows without the unhashed columns."""
    spec = TABLES[table]
    return rows_hash(rows.select(spec.hashed), pa.schema([spec.schema.field(name) for name in spec.hashed]))


def rows_hash(rows: pa.Table, schema: pa.Schema | None = None) -> str:
    """Hash of rows in their order. Parquet bytes are canonical; Arrow buffers are not."""
    schema = (schema or rows.schema).remove_metadata()
    options = {"compression": "none", "use_dictionary": False, "store_schema": False, "write_statistics": False}
    hashed = _Hash()
    with pq.ParquetWriter(hashed, schema, **options) as writer:
        for some in _slices(rows, schema):
            writer.write_table(some)
    return hashed.sha256.hexdigest()[:20]


class _Hash(io.RawIOBase):
    """A file of which only the hash is kept."""

    def __init__(self) -> None:
        self.sha256, self._size = hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, content: Any) -> int:
        self.sha256.update(content)
        size = memoryview(content).nbytes
        self._size += size
        return size


def _slices(rows: pa.Table, schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows, a row group of the hash at a time. Texts may be coded, so that a large table's take less memory."""
    for start in range(0, max(rows.num_rows, 1), ROWS_OF_A_SLICE):
        yield rows.slice(start, ROWS_OF_A_SLICE).cast(schema).combine_chunks()


@dataclass(frozen=True)
class Footer:
    """The metadata in a part's file: its number of rows, data version and reuse keys."""

    rows: int
    data_version: str
    keys: Mapping[str, str]


@lru_cache(maxsize=4096)
def read_footer(path: Path) -> Footer:
    """The footer, cached because a part never changes. Raises StorageError if the file is missing or damaged."""
    try:
        read = pq.read_metadata(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise StorageError(
            f"Part {path} is missing or damaged: {error}.", "Delete its HEAD file and index the collection again."
        ) from error
    stored = json.loads((read.metadata or {}).get(_METADATA, b"{}"))
    return Footer(read.num_rows, stored.get("data_version", ""), stored.get("keys", {}))


def _fingerprint(path: Path) -> tuple[int, int]:
    """Values that reveal whether a file was changed since it was read."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_size


def manifest_rows(path: Path) -> pa.Table:
    """The rows of a part of the manifest: the same table each time while the file is unchanged."""
    return _manifest_rows(path, *_fingerprint(path))


@lru_cache(maxsize=4096)
def _manifest_rows(path: Path, *seen: int) -> pa.Table:
    """Cached, because a part never changes and one `index` reads the papers half a dozen times."""
    return read_rows(path, None, use_threads=False)


def read_rows(path: Path, columns: list[str] | None, *, use_threads: bool) -> pa.Table:
    """The rows of a file. Threads do not pay for a single row group. Raises StorageError if unreadable."""
    try:
        return pq.ParquetFile(path).read(columns=columns, use_threads=use_threads).replace_schema_metadata(None)
    except (OSError, pa.ArrowInvalid) as error:
        raise StorageError(f"Part {path} cannot be read: {error}.", "Index the collection again.") from error


def encoded(table: str, rows: pa.Table, keys: Mapping[str, str]) -> tuple[str, pa.Buffer, str]:
    """A part's data version, bytes and version, for rows that are `normalised`. `keys` are the reuse keys of papers."""
    made = data_version(table, rows)
    metadata = {"data_version": made, "keys": dict(keys)}
    schema = TABLES[table].schema.with_metadata({_METADATA: json.dumps(metadata, sort_keys=True).encode()})
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for some in _slices(rows, schema):
            writer.write_table(some, row_group_size=ROWS_OF_A_GROUP)
    content = sink.getvalue()
    return made, content, hashlib.sha256(content).hexdigest()[:32]


@cache
def encoded_empty(table: str) -> tuple[str, pa.Buffer, str]:
    """Cached, because with few papers most shards are empty, and each has a part in every table."""
    return encoded(table, TABLES[table].schema.empty_table(), {})


def normalised(table: str, rows: pa.Table) -> pa.Table:
    """The rows with the table's columns and order, so that equal content has equal bytes."""
    spec = TABLES[table]
    rows = rows.select(spec.schema.names)
    starts = range(0, rows.num_rows, ROWS_OF_A_SLICE)
    if all(_in_order(rows.slice(start, ROWS_OF_A_SLICE + 1).cast(spec.schema), spec.keys) for start in starts):
        return rows
    return rows.cast(spec.schema).sort_by([(key, "ascending") for key in spec.keys]).combine_chunks()


def _in_order(rows: pa.Table, keys: tuple[str, ...]) -> bool:
    """Whether the rows are sorted by `keys`: checking costs a tenth of sorting."""
    rows = rows.combine_chunks()
    undecided: pa.ChunkedArray | None = None
    for key in keys:
        before, after = rows[key].slice(0, max(len(rows) - 1, 0)), rows[key].slice(1)
        falls, equal = pc.greater(before, after), pc.equal(before, after)
        if undecided is not None:
            falls, equal = pc.and_(falls, undecided), pc.and_(equal, undecided)
        if falls.null_count or pc.any(falls).as_py():
            return False
        undecided = equal
    return True


class TableEntry(TypedDict):
    """The part of one table."""

    version: str
    rows: int
    data_version: str


class PartEntry(TableEntry):
    """The primary table's part with the asset's version, its recipe, the versions of its inputs and the parts of the
    asset's other tables."""

    asset_version: str
    code_version: str
    inputs: dict[str, str]
    siblings: dict[str, TableEntry]


@dataclass
class Head:
    """The HEAD of a shard: `parts` by bucket. `buckets` is the number of buckets of the shard; the HEAD of the manifest
    has the valid one, while other HEADs may name other buckets for a moment. `seen` caches what its only reader derived
    from the entries, by table and bucket."""

    buckets: int = 1
    parts: dict[str, PartEntry] = field(default_factory=dict)
    seen: dict[tuple[str, str], Any] = field(default_factory=dict, compare=False, repr=False)

    def packed(self) -> bytes:
        return json.dumps({"buckets": self.buckets, "parts": self.parts}, sort_keys=True, indent=1).encode() + b"\n"

    def copy(self) -> Head:
        return Head(self.buckets, copy.deepcopy(self.parts))


def read_head(path: Path) -> Head:
    """The HEAD; empty if the file does not exist. The object is shared: do not change it."""
    try:
        seen = path.stat()
    except FileNotFoundError:
        return Head()
    return _read(path, seen.st_mtime_ns, seen.st_ino, seen.st_size)


@lru_cache(maxsize=1024)
def _read(path: Path, *seen: int) -> Head:
    """Read a HEAD. The cached content stays valid, because a HEAD is replaced and never written in place."""
    content = path.read_text("utf-8").strip()
    if not content.startswith("{"):
        return Head()  # empty, or of version 0.2: the shard is computed again
    try:
        found = json.loads(content)
        return Head(found["buckets"], found["parts"])
    except (ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{path} is damaged.", "Delete it and index the collection again.") from error


def named_parts(head: str) -> set[tuple[str | None, str]]:
    """The parts that a HEAD's text names, by table (None: the primary one) and version; none in version 0.2."""
    entries: list[PartEntry] = list(json.loads(head)["parts"].values()) if head.startswith("{") else []
    siblings = {(table, one["version"]) for entry in entries for table, one in entry["siblings"].items()}
    return siblings | {(None, entry["version"]) for entry in entries}
