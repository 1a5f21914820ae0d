"""Integrity: compares every file that a snapshot lists with its published hash, and reads its tables through."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from monjyu_core.errors import StorageError
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.ids import file_sha256
from monjyu_core.storage.parts import PartStore, file_version
from monjyu_core.storage.snapshot import MANIFEST_HASH, Manifest, read_manifest


def verify_snapshot(folder: CollectionFolder, snapshot_id: str) -> list[str]:
    """What is wrong with a snapshot, one line each; empty when it is intact."""
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
    problems = [*_parts(folder, manifest), *_sources(folder, manifest), *_lance_files(folder, manifest)]
    if not problems:
        problems += _lance_tables(folder, manifest)
    database = folder.database(snapshot_id)
    if not database.is_file():
        problems.append("index.duckdb is missing")
    elif file_version(database) != manifest.database_sha256:
        problems.append("index.duckdb differs from its hash")
    return problems


def is_torn(folder: CollectionFolder, snapshot_id: str) -> bool:
    """Whether a manifest is damaged, and not merely of another version of Monjyu."""
    path = folder.snapshot(snapshot_id)
    try:
        return file_sha256(path / "manifest.json") != (path / MANIFEST_HASH).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return (path / MANIFEST_HASH).exists()  # versions before the hash wrote none
    except (OSError, UnicodeDecodeError):
        return True


def is_sound(folder: CollectionFolder, manifest: Manifest) -> bool:
    """Whether a snapshot's own files (its database and Lance tables, not the parts) are as published. Files are hashed
    once, and again when their size or time has changed."""
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
    """Damaged Lance files. Missing ones may have been cleaned up because no pinned version needs them; the read below
    finds real losses."""
    for entry in manifest.lance.values():
        for name, expected in entry.files.items():
            path = folder.lance / name
            if path.is_file() and file_sha256(path) != expected:
                yield f"lance/{name} differs from its hash"


def _lance_tables(folder: CollectionFolder, manifest: Manifest) -> Iterator[str]:
    from monjyu_core.storage.lance_library import lancedb

    connection = lancedb.connect(str(folder.lance))
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
