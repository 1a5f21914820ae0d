"""Parts: immutable Parquet files, one per table and bucket, named by the hash of their bytes; a HEAD names the current
ones.

A bucket is a shard, or a piece of one in a large collection. An asset may write several tables. Their parts are written
first, then one HEAD of the shard names them all, so a crash in between leaves the old set whole.
"""

import fcntl
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Protocol, TypeVar

import pyarrow as pa

from monjyu_core.storage.folders import write_atomically
from monjyu_core.storage.heads import (
    ROWS_OF_A_GROUP,
    Head,
    PartEntry,
    TableEntry,
    encoded,
    encoded_empty,
    manifest_rows,
    normalised,
    part_name,
    read_footer,
    read_head,
    read_rows,
    versions_in,
)
from monjyu_core.storage.ids import bucket_of, buckets_of, digest, shard_of_bucket
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, SHARDS, TABLES, columns_of

MANY_PARTS, READERS = 32, 4
"""A large collection has a thousand small parts per table: from `MANY_PARTS` on, `READERS` threads read them."""
ROWS_AT_ONCE = 200_000
"""Rows that `together` puts into a group, which limits the memory: those of some 500 papers."""
R = TypeVar("R")


@dataclass(frozen=True)
class Part:
    """One immutable file. `shard` is the name of its bucket, or `all`. `data_version` is the hash of its rows without
    times and paths, `version` that of its bytes. Parts other than current primary ones have only these fields."""

    table: str
    shard: str
    version: str
    path: Path
    rows: int
    data_version: str
    asset_version: str = ""
    code_version: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    siblings: Mapping[str, str] = field(default_factory=dict)

    @property
    def keys(self) -> Mapping[str, str]:
        """The reuse key of each paper (level 2 and 4: chunk; 3: community)."""
        return read_footer(self.path).keys

    def read(self, columns: list[str] | None = None) -> pa.Table:
        if self.table == "manifest":
            rows = manifest_rows(self.path)
            return rows if columns is None else rows.select([name for name in rows.column_names if name in columns])
        return read_rows(self.path, columns, use_threads=self.rows > ROWS_OF_A_GROUP)

    def records(self, row: type[R]) -> list[R]:
        """The rows as records of this TypedDict: its columns and no others."""
        records: list[R] = self.read(columns_of(self.table, row)).to_pylist()
        return records


class ListedPart(Protocol):
    """A part as listed in a snapshot's manifest."""

    table: str
    shard: str
    version: str
    data_version: str
    rows: int


class PartStore:
    """The parts of one collection."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def buckets(self, shard: str) -> tuple[str, ...]:
        """The buckets of a shard, from the HEAD of its manifest; `all` has one."""
        return (shard,) if shard == COLLECTION_SHARD else buckets_of(shard, self.bucket_count(shard))

    def bucket_count(self, shard: str) -> int:
        return read_head(self._head_path("manifest", shard)).buckets

    def bucket_of(self, paper_id: str) -> str:
        """The bucket of a paper."""
        shard = bucket_of(paper_id, 1)
        return bucket_of(paper_id, self.bucket_count(shard))

    def all_buckets(self) -> list[str]:
        return [bucket for shard in SHARDS for bucket in self.buckets(shard)]

    def head(self, table: str, bucket: str) -> Part | None:
        """The current part of a table's bucket, named by the HEAD of its asset."""
        primary = ASSET_TABLES[TABLES[table].asset][0]
        head = read_head(self._head_path(primary, shard_of_bucket(bucket)))
        if (table, bucket) not in head.seen:
            head.seen[table, bucket] = self._named(head, primary, table, bucket)
        part: Part | None = head.seen[table, bucket]
        return part

    def _named(self, head: Head, primary: str, table: str, bucket: str) -> Part | None:
        entry = head.parts.get(bucket)
        if entry is None:
            return None
        if table != primary:
            one = entry["siblings"].get(table)  # a table that the asset has only since this version
            return one and self._part(table, bucket, one)
        return self._part(
            table,
            bucket,
            entry,
            asset_version=entry["asset_version"],
            code_version=entry["code_version"],
            inputs=entry["inputs"],
            siblings={name: one["version"] for name, one in entry["siblings"].items()},
        )

    def heads(self, table: str) -> list[Part]:
        """The current parts of a table, without buckets that have none."""
        spec = TABLES[table]
        if spec.view:
            return []
        buckets = self.all_buckets() if spec.by_shard else [COLLECTION_SHARD]
        return [part for bucket in buckets if (part := self.head(table, bucket)) is not None]

    def open(self, table: str, bucket: str, version: str) -> Part:
        """A part, current or not."""
        path = self.path(table, bucket, version)
        said = read_footer(path)
        return Part(table, bucket, version, path, said.rows, said.data_version)

    def listed(self, entry: ListedPart) -> Part:
        """A part as listed in a snapshot's manifest, without a look at its file."""
        path = self.path(entry.table, entry.shard, entry.version)
        return Part(entry.table, entry.shard, entry.version, path, entry.rows, entry.data_version)

    def path(self, table: str, bucket: str, version: str) -> Path:
        return self._folder(table, shard_of_bucket(bucket)) / part_name(version)

    def have(self, named: Iterable[tuple[str, str, str]]) -> bool:
        """Whether the files of all parts in `named` (table, bucket, version) exist. It lists folders, which costs a
        hundredth of checking each of the thousands of files of a large collection."""
        wanted: dict[tuple[str, str], set[str]] = {}
        for table, bucket, version in named:
            wanted.setdefault((table, shard_of_bucket(bucket)), set()).add(version)
        return all(versions <= versions_in(self._folder(*place)) for place, versions in wanted.items())

    def remove_all_but(self, named: Iterable[tuple[str, str, str]]) -> None:
        """Remove the files of all parts but those in `named` (table, bucket, version) and those that a HEAD names."""
        kept: dict[Path, set[str]] = {}
        with self.locked(fcntl.LOCK_EX):  # runs of a backfill write meanwhile: no HEAD names their new parts yet
            current = ((part.table, part.shard, part.version) for name in TABLES for part in self.heads(name))
            for table, bucket, version in (*named, *current):
                kept.setdefault(self._folder(table, shard_of_bucket(bucket)), set()).add(version)
            for folder in self.folder.glob("*/shard=*"):
                for version in versions_in(folder) - kept.get(folder, set()):
                    (folder / part_name(version)).unlink()

    def write(
        self,
        asset: str,
        bucket: str,
        tables: dict[str, pa.Table],
        *,
        inputs: Mapping[str, str],
        keys: Mapping[str, str] | None = None,
        code_version: str,
    ) -> Part:
        """Write all tables of an asset's bucket and make them current; return the primary part.

        `inputs` are the asset versions on which the part depends; `keys` the reuse key of each paper.
        """
        primary, *others = ASSET_TABLES[asset]
        with self.locked(fcntl.LOCK_SH):
            given = [name for name in others if not TABLES[name].optional or (name in tables and tables[name].num_rows)]
            siblings = {name: self._put(name, bucket, tables[name], {}) for name in given}
            own = self._put(primary, bucket, tables[primary], keys or {})
            versions = {name: one["data_version"] for name, one in (siblings | {primary: own}).items()}
            entry: PartEntry = {
                **own,
                "asset_version": digest(*(f"{name}={versions[name]}" for name in sorted(versions)), length=20),
                "code_version": code_version,
                "inputs": dict(inputs),
                "siblings": siblings,
            }
            with self._changing(asset, shard_of_bucket(bucket)) as head:
                head.parts[bucket] = entry
        part = self.head(primary, bucket)
        assert part is not None
        return part

    def rest_on(self, asset: str, bucket: str, inputs: Mapping[str, str]) -> None:
        """Record `inputs` as the versions on which the part depends, because its rows are the same under them."""
        with self._changing(asset, shard_of_bucket(bucket)) as head:
            if bucket in head.parts:
                head.parts[bucket]["inputs"] = dict(inputs)

    def set_buckets(self, shard: str, count: int) -> None:
        """Set the shard's number of buckets, whose parts must have been written."""
        with self._changing("paper_manifest", shard) as head:
            head.buckets = count

    def forget_others(self, asset: str, shard: str) -> None:
        """Remove parts from the HEAD whose buckets the shard no longer has."""
        current = set(self.buckets(shard))
        if set(read_head(self._head_path(ASSET_TABLES[asset][0], shard)).parts) - current:
            with self._changing(asset, shard) as head:
                head.parts = {bucket: entry for bucket, entry in head.parts.items() if bucket in current}

    def drop(self, asset: str) -> None:
        """Delete the HEADs of the asset, so that none of its parts is current."""
        table = ASSET_TABLES[asset][0]
        with self.locked(fcntl.LOCK_SH):
            for shard in TABLES[table].shards:
                self._head_path(table, shard).unlink(missing_ok=True)

    @contextmanager
    def locked(self, kind: int) -> Iterator[None]:
        """A kernel lock, shared by writers of parts; removal of parts that no HEAD names takes it exclusively."""
        with _locked(self.folder / ".lock", kind):
            yield

    @contextmanager
    def _changing(self, asset: str, shard: str) -> Iterator[Head]:
        """Yield the HEAD of an asset's shard and write it at the end; runs over other buckets of the shard wait."""
        path = self._head_path(ASSET_TABLES[asset][0], shard)
        with _locked(path.parent / ".head.lock", fcntl.LOCK_EX):
            before = read_head(path)
            head = before.copy()
            yield head
            if head != before or not path.exists():
                write_atomically(path, head.packed())

    def _put(self, table: str, bucket: str, rows: pa.Table, keys: Mapping[str, str]) -> TableEntry:
        rows = normalised(table, rows)
        made, content, version = encoded(table, rows, keys) if rows.num_rows or keys else encoded_empty(table)
        path = self.path(table, bucket, version)
        if not path.exists():
            write_atomically(path, content)
        return {"version": version, "rows": rows.num_rows, "data_version": made}

    def _part(self, table: str, bucket: str, entry: TableEntry | PartEntry, **more: object) -> Part:
        path = self.path(table, bucket, entry["version"])
        return Part(table, bucket, entry["version"], path, entry["rows"], entry["data_version"], **more)  # type: ignore[arg-type]

    def _head_path(self, table: str, shard: str) -> Path:
        return _path_below(self.folder, table, shard, "HEAD")

    def _folder(self, table: str, shard: str) -> Path:
        return _path_below(self.folder, table, shard)


@lru_cache(maxsize=4096)
def _path_below(parts: Path, table: str, shard: str, *name: str) -> Path:
    """Cached, because each access to a part needs it, and building a path costs ten times the access."""
    return parts.joinpath(table, f"shard={shard}", *name)


def read_all(
    table: str,
    parts: Iterable[Part],
    columns: list[str] | None = None,
    each: Callable[[pa.Table], pa.Table] = lambda rows: rows,
) -> pa.Table:
    """The rows of `parts` of a table, in their order; without `columns`, all columns. `each` is applied to the rows of
    a part as they are read."""
    schema = TABLES[table].schema
    empty = each(schema.empty_table() if columns is None else schema.empty_table().select(columns))
    there = [part for part in parts if part.rows]
    if len(there) < MANY_PARTS:
        return pa.concat_tables([empty, *(each(part.read(columns)) for part in there)])
    with ThreadPoolExecutor(READERS) as readers:
        return pa.concat_tables([empty, *readers.map(lambda part: each(part.read(columns)), there)])


def together(buckets: Iterable[str], rows: Mapping[str, int]) -> Iterator[list[str]]:
    """Yield the buckets with rows in groups, because a query costs as much for a small bucket as for a group."""
    group: list[str] = []
    for bucket in buckets:
        if group and sum(rows[one] for one in group) + rows[bucket] > ROWS_AT_ONCE:
            yield group
            group = []
        if rows[bucket]:
            group.append(bucket)
    if group:
        yield group


@contextmanager
def _locked(path: Path, kind: int) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        fcntl.flock(file, kind)
        yield
