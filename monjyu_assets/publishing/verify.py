"""Integrity: every file that a snapshot lists against the hash it was published with, and its tables read through."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from monjyu_core.errors import StorageError
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.ids import file_sha256
from monjyu_core.storage.parts import PartStore, file_version
from monjyu_core.storage.snapshot import MANIFEST_HASH, Manifest, read_manifest


def verify_snapshot(folder: CollectionFolder, snapshot_id: str) -> list[str]:
    """What is wrong with a snapshot, one line each; empty when it is whole."""
    path = folder.snapshot(snapshot_id)
    try:
        manifest = read_manifest(folder, snapshot_id)
        expected = (path / MANIFEST_HASH).read_text(encoding="ascii").strip()
    except StorageError as error:
        return [error.message.rstrip(".")]
    except (OSError, UnicodeDecodeError) as error:
        return [f"manifest.json: {error}"]
    if file_sha256(path / "manifest.json") != expected:
        return ["manifest.json differs from its hash"]
    found = [*_parts(folder, manifest), *_sources(folder, manifest), *_lance_files(folder, manifest)]
    if not found:
        found += _lance_tables(folder, manifest)
    database = folder.database(snapshot_id)
    if not database.is_file():
        found.append("index.duckdb is missing")
    elif file_version(database) != manifest.database_sha256:
        found.append("index.duckdb differs from its hash")
    return found


def is_torn(folder: CollectionFolder, snapshot_id: str) -> bool:
    """Whether a manifest is not what was written: damaged, and not of another version of Monjyu."""
    path = folder.snapshot(snapshot_id)
    try:
        return file_sha256(path / "manifest.json") != (path / MANIFEST_HASH).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return (path / MANIFEST_HASH).exists()  # versions before the hash wrote none
    except (OSError, UnicodeDecodeError):
        return True


def is_sound(folder: CollectionFolder, manifest: Manifest) -> bool:
    """Whether a snapshot's own files are as they were published: its database and its Lance tables, not the parts.

    Files are hashed once, and again when size or time say that they are others.
    """
    database = folder.database(manifest.snapshot_id)
    if not database.is_file() or _hashed(database)[:32] != manifest.database_sha256:
        return False
    files = {
        folder.lance / name: expected for entry in manifest.lance.values() for name, expected in entry.files.items()
    }
    if any(path.is_file() and _hashed(path) != expected for path, expected in files.items()):
        return False
    return all(path.is_file() for path in files) or not any(_lance_tables(folder, manifest))


def _hashed(path: Path) -> str:
    seen = path.stat()
    return _hashed_once(path, seen.st_size, seen.st_mtime_ns, seen.st_ino)


@lru_cache(maxsize=4096)
def _hashed_once(path: Path, *seen: int) -> str:
    return file_sha256(path)


def _parts(folder: CollectionFolder, manifest: Manifest) -> Iterator[str]:
    store = PartStore(folder.parts)
    for entry in manifest.parts:
        path = store.path(entry.table, entry.shard, entry.version)
        if not path.is_file():
            yield f"part {entry.table}/{entry.shard} is missing"
        elif file_version(path) != entry.version:
            yield f"part {entry.table}/{entry.shard} differs from its hash"


def _sources(folder: CollectionFolder, manifest: Manifest) -> Iterator[str]:
    """Kept source files are named by their hash."""
    store = PartStore(folder.parts)
    paths = [store.path(e.table, e.shard, e.version) for e in manifest.parts if e.table == "manifest"]
    if not all(path.is_file() and file_version(path) == path.stem for path in paths):
        return  # reported with the parts
    names = {name for path in paths for name in _manifest_hashes(store, path)}
    for name in sorted(names):
        source = folder.sources / name
        if source.is_file() and file_sha256(source) != name:
            yield f"source {name} differs from its hash"


def _manifest_hashes(store: PartStore, path: Path) -> list[str]:
    shard = path.parent.name.removeprefix("shard=")
    hashes: list[str] = store.open("manifest", shard, path.stem).read(["sha256"])["sha256"].to_pylist()
    return hashes


def _lance_files(folder: CollectionFolder, manifest: Manifest) -> Iterator[str]:
    """Files that no pinned version needs may have been cleaned up; the read below finds what is missing in earnest."""
    for entry in manifest.lance.values():
        for name, expected in entry.files.items():
            path = folder.lance / name
            if path.is_file() and file_sha256(path) != expected:
                yield f"lance/{name} differs from its hash"


def _lance_tables(folder: CollectionFolder, manifest: Manifest) -> Iterator[str]:
    import lancedb

    connection: Any = lancedb.connect(str(folder.lance))
    for name, entry in manifest.lance.items():
        try:
            table = connection.open_table(entry.table)
            table.checkout(entry.tag)
            rows = table.search().limit(max(1, entry.rows)).to_arrow().num_rows
        except (OSError, ValueError, RuntimeError) as error:
            yield f"lance table {name} cannot be read: {error}"
            continue
        if rows != entry.rows:
            yield f"lance table {name} has {rows} rows, not {entry.rows}"
