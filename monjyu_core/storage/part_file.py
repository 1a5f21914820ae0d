"""The bytes of a part: one Parquet file whose footer says what its rows are made of, named by the hash of the bytes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from monjyu_core.errors import StorageError
from monjyu_core.storage.schemas import TABLES

_METADATA = b"monjyu"
_SUFFIX = ".parquet"
ROWS_OF_A_GROUP = 16_384
"""Rows of a Parquet row group: readers of one paper skip the others by their smallest and largest ids."""


def part_name(version: str) -> str:
    """The name of a part's file."""
    return f"{version}{_SUFFIX}"


def versions_in(folder: Path) -> set[str]:
    """The parts whose files are in the folder of a table's shard, current or not."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(_SUFFIX) and entry.is_file()]
    except FileNotFoundError:
        return set()
    return {name.removesuffix(_SUFFIX) for name in names}


def file_version(path: Path) -> str:
    """What a part's name must be: the first 32 hex digits of the SHA-256 of its bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def data_version(table: str, rows: pa.Table) -> str:
    """Hash of sorted rows without the unhashed columns."""
    return rows_hash(rows.select(TABLES[table].hashed))


def rows_hash(rows: pa.Table) -> str:
    """Hash of rows in their order. Parquet bytes are canonical where Arrow buffers are not."""
    sink = pa.BufferOutputStream()
    rows = rows.replace_schema_metadata(None)
    pq.write_table(rows, sink, compression="none", use_dictionary=False, store_schema=False, write_statistics=False)
    return hashlib.sha256(sink.getvalue()).hexdigest()[:20]


@dataclass(frozen=True)
class Footer:
    """What a file says of itself; `more` is what files of earlier versions said besides."""

    rows: int
    data_version: str
    keys: Mapping[str, str]
    more: Mapping[str, dict[str, str]]


@lru_cache(maxsize=4096)
def read_footer(path: Path) -> Footer:
    """Cached: a part never changes. StorageError where it is gone or damaged."""
    try:
        read = pq.read_metadata(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise StorageError(
            f"Part {path} is missing or damaged: {error}.", "Delete its HEAD file and index the collection again."
        ) from error
    stored = json.loads((read.metadata or {}).get(_METADATA, b"{}"))
    return Footer(read.num_rows, stored.pop("data_version", ""), stored.pop("keys", {}), stored)


def _seen(path: Path) -> tuple[int, int]:
    """What tells that a file was tampered with since it was read."""
    try:
        stat = path.stat()
    except FileNotFoundError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_size


def manifest_rows(path: Path) -> pa.Table:
    """The rows of a part of the manifest, each time the same table while the file is as it was."""
    return _manifest_rows(path, *_seen(path))


@lru_cache(maxsize=4096)
def _manifest_rows(path: Path, *seen: int) -> pa.Table:
    """Cached: a part never changes, and one `index` asks for the papers half a dozen times."""
    return read_rows(path, None, use_threads=False)


def read_rows(path: Path, columns: list[str] | None, *, use_threads: bool) -> pa.Table:
    """Threads cost more than they give where a file has a single row group. StorageError where it cannot be read."""
    try:
        return pq.ParquetFile(path).read(columns=columns, use_threads=use_threads).replace_schema_metadata(None)
    except (OSError, pa.ArrowInvalid) as error:
        raise StorageError(f"Part {path} cannot be read: {error}.", "Index the collection again.") from error


def encoded(table: str, rows: pa.Table, keys: Mapping[str, str]) -> tuple[str, bytes, str]:
    """A part's data version, its bytes and its version, of rows that are `normalised`. `keys` are the reuse keys of
    papers."""
    made = data_version(table, rows)
    metadata = {"data_version": made, "keys": dict(keys)}
    tagged = rows.replace_schema_metadata({_METADATA: json.dumps(metadata, sort_keys=True).encode()})
    sink = pa.BufferOutputStream()
    pq.write_table(tagged, sink, compression="zstd", row_group_size=ROWS_OF_A_GROUP)
    content = sink.getvalue().to_pybytes()
    return made, content, hashlib.sha256(content).hexdigest()[:32]


@cache
def encoded_empty(table: str) -> tuple[str, bytes, str]:
    """Cached: of a few papers most shards are empty, and each has a part in every table."""
    return encoded(table, TABLES[table].schema.empty_table(), {})


def normalised(table: str, rows: pa.Table) -> pa.Table:
    """The rows with the table's columns, types and order, in one chunk: equal content then gives equal bytes."""
    spec = TABLES[table]
    rows = rows.select(spec.schema.names).cast(spec.schema).combine_chunks()
    if _in_order(rows, spec.keys):
        return rows
    return rows.sort_by([(key, "ascending") for key in spec.keys]).combine_chunks()


def _in_order(rows: pa.Table, keys: tuple[str, ...]) -> bool:
    """Whether the rows rise by these keys: to see that of millions of rows costs a tenth of sorting them."""
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
