"""Publishing: a closed set of parts to a snapshot that readers switch to in one step.

Order: lock, closed set, checks, index.duckdb, Lance, manifest, the collection's record, CURRENT. A crash before the
last leaves readers where they were, and the next publish starts from the parts again.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version as installed_version
from pathlib import Path

from filelock import FileLock

from monjyu_assets.indexing.record_keeping import keep_record
from monjyu_assets.publishing.checks import CheckResult, checks_key, run_checks
from monjyu_assets.publishing.closed_set import RESTS_ON, behind, closed_set, is_closed
from monjyu_assets.publishing.database import Connect, build_database
from monjyu_assets.publishing.forgetting import forget_changed
from monjyu_assets.publishing.lance import publish_chunks
from monjyu_assets.publishing.lineage import write_lineage
from monjyu_assets.publishing.retention import collect
from monjyu_assets.publishing.verify import is_sound, is_torn
from monjyu_assets.stages.shared.work import Work
from monjyu_core.embedding import load_embedder
from monjyu_core.errors import IndexBuildError, StorageError
from monjyu_core.models.calls.embedding_calls import charged_to
from monjyu_core.settings.settings import setting as setting_value
from monjyu_core.settings.settings import settings_of
from monjyu_core.storage.folders import CollectionFolder, remove_folder, sync_folder, write_atomically
from monjyu_core.storage.ids import digest
from monjyu_core.storage.parts import Part, file_version
from monjyu_core.storage.schemas import SCHEMA_VERSION, TABLES
from monjyu_core.storage.snapshot import (
    MANIFEST_HASH,
    EmbeddingEntry,
    LanceEntry,
    Manifest,
    PartEntry,
    held,
    published,
    read_current,
    read_manifest,
)

CODE_VERSION = "3"
LOCK_SECONDS = 600
_ID_TIME = "%Y%m%dT%H%M%S%fZ"
"""The beginning of a snapshot's id."""


class PublishBlocked(IndexBuildError):
    """A check failed, so nothing was published. `checks` holds all results."""

    def __init__(self, checks: list[CheckResult]) -> None:
        failed = [check for check in checks if not check.passed]
        super().__init__("Not published: " + "; ".join(_describe(check) for check in failed) + ".")
        self.checks = checks


@dataclass(frozen=True)
class Published:
    """What a publish did: the manifest now current, whether it is new, and the checks it passed."""

    manifest: Manifest
    new: bool
    checks: list[CheckResult]


Gate = Callable[[str], CheckResult | None]
"""Looks at a snapshot that is whole and not yet current; a result that did not pass keeps it from readers."""


def publish(work: Work, connect: Connect, gate: Gate = lambda snapshot_id: None) -> Published:
    """Publish the current parts of a collection. IndexBuildError where the set is not closed,
    PublishBlocked where a check fails or `gate` does not let it pass."""
    with publish_lock(work.folder):
        parts = closed_set(work.parts, work.name, _most_failed(work))
        embedding, window = _embedding(work)
        content = _content(parts, embedding)
        before, damaged = _previous(work.folder), _damaged(work)
        key = checks_key(embedding, window)
        checks = run_checks(parts, embedding, window, before.parts if before and before.checks == key else ())
        if not all(check.passed for check in checks):
            raise PublishBlocked(checks)
        new = before is None or before.content != content or before.behind != behind(work.parts, _most_failed(work))
        manifest = _build(work, parts, embedding, content, before, connect, key) if new or before is None else before
        newest, serve = manifest.snapshot_id, _to_serve(work.folder, manifest.snapshot_id, damaged)
        if new or read_current(work.folder) != newest == serve:
            _pass(gate, work.folder, newest, new=new)
        keep_record(work, manifest.level)
        set_current(work.folder, serve)
        if damaged:
            remove_folder(work.folder.snapshots / damaged)
        collect(work.folder, work.settings.publish.keep_snapshots)
        return Published(manifest, new, checks)


def _pass(gate: Gate, folder: CollectionFolder, snapshot_id: str, *, new: bool) -> None:
    """Ask the gate. A new snapshot that it stops is removed, so that the next publish builds it and asks again; one
    that a crash left without having been asked about stays, unread."""
    try:
        outcome = gate(snapshot_id)
        if outcome is not None and not outcome.passed:
            raise PublishBlocked([outcome])
    except BaseException:
        if new:
            remove_folder(folder.snapshots / snapshot_id)
        raise


def set_current(folder: CollectionFolder, snapshot_id: str) -> None:
    """The swap that readers see."""
    if read_current(folder) != snapshot_id:
        write_atomically(folder.current, f"{snapshot_id}\n".encode())


@contextmanager
def publish_lock(folder: CollectionFolder) -> Iterator[None]:
    """One publisher a collection, by a kernel lock that goes with its process."""
    folder.root.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.root / "publish.lock", timeout=LOCK_SECONDS):
        yield


def is_published(work: Work, level: int) -> bool:
    """Whether the newest snapshot is made of just the parts that are current, whole up to a level, and readers see it
    (or a rollback)."""
    before = _previous(work.folder)
    if before is None or not is_closed(work.parts, level, _most_failed(work)):
        return False
    if before.behind != behind(work.parts, _most_failed(work)):
        return False
    if before.content != _content(closed_set(work.parts, work.name, _most_failed(work)), _embedding(work)[0]):
        return False
    return read_current(work.folder) == _to_serve(work.folder, before.snapshot_id)


def newest_level(folder: CollectionFolder) -> int:
    """The level of the newest snapshot, whatever a rollback serves; 0 where there is none."""
    newest = _previous(folder)
    return newest.level if newest else 0


def _to_serve(folder: CollectionFolder, newest: str, damaged: str | None = None) -> str:
    """The snapshot that a rollback holds (also one that was killed before it had set CURRENT), else the newest."""
    hold = held(folder)
    return hold if hold in published(folder) and hold != damaged else newest


def _most_failed(work: Work) -> float:
    return work.settings.levels.max_failed_share


def _describe(check: CheckResult) -> str:
    return f"{check.name} fails for {check.count} ({', '.join(check.examples)})"


def _embedding(work: Work) -> tuple[EmbeddingEntry, int]:
    model = load_embedder(work.settings)
    before = _previous(work.folder)
    # A server is asked for its dimensions once, not at every look at what is published.
    known = before.embedding.dimensions if before and before.embedding.fingerprint == model.fingerprint else None
    with charged_to(work.account("index_snapshot")):
        dimensions = known or model.dimensions
    entry = EmbeddingEntry(model=model.model_id, dimensions=dimensions, fingerprint=model.fingerprint)
    return entry, model.max_tokens


def _content(parts: list[Part], embedding: EmbeddingEntry) -> str:
    """Hash of all that the snapshot is made from: two publishes of equal parts are one."""
    names = sorted(f"{part.table}/{part.shard}/{part.version}" for part in parts)
    return digest(CODE_VERSION, SCHEMA_VERSION, embedding.model_dump_json(), *names, length=32)


def _previous(folder: CollectionFolder) -> Manifest | None:
    """The newest snapshot's manifest; None where there is none that this version can build on."""
    ids = published(folder)
    try:
        newest = read_manifest(folder, ids[-1]) if ids else None
    except StorageError:
        return None  # of another schema, or damaged: everything is built from the parts
    return newest if newest and is_sound(folder, newest) else None


def _damaged(work: Work) -> str | None:
    """The newest snapshot if its own files are damaged: nothing can be read from it, or built on it."""
    for snapshot_id in published(work.folder)[-1:]:
        try:
            if is_sound(work.folder, read_manifest(work.folder, snapshot_id)):
                continue
        except StorageError:
            if not is_torn(work.folder, snapshot_id):
                continue  # of another schema
        work.warn(f"Snapshot {snapshot_id} of {work.name} is damaged; it is built again from the parts.")
        return snapshot_id
    return None


def _build(
    work: Work,
    parts: list[Part],
    embedding: EmbeddingEntry,
    content: str,
    before: Manifest | None,
    connect: Connect,
    checks: str,
) -> Manifest:
    now = datetime.now(UTC)
    snapshot_id = f"{_after_all(work.folder, now):{_ID_TIME}}-{content[:8]}"
    building = work.folder.snapshots / f".building-{snapshot_id}"
    building.mkdir(parents=True)
    try:
        database = building / "index.duckdb"
        base = None if before and forget_changed(work, before, parts) else before
        with ThreadPoolExecutor(1) as beside:  # Lance and DuckDB have nothing in common but the parts
            lance = beside.submit(
                publish_chunks, work.folder.lance, parts, embedding, snapshot_id, before, anew=base is None
            )
            build_database(database, parts, connect, *_base(work.folder, base))
            write_lineage(database, connect, _database_of(work.folder, before) if before else None)
            hashed = file_version(database)
        manifest = _manifest(work, parts, embedding, content, before, snapshot_id, now, lance.result(), hashed, checks)
        content_bytes = manifest.model_dump_json(indent=1).encode()
        write_atomically(building / MANIFEST_HASH, hashlib.sha256(content_bytes).hexdigest().encode())
        write_atomically(building / "manifest.json", content_bytes)
        sync_folder(building)
        building.rename(work.folder.snapshots / snapshot_id)
        sync_folder(work.folder.snapshots)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return manifest


def _after_all(folder: CollectionFolder, now: datetime) -> datetime:
    """Now, or a moment after the newest snapshot where a clock was set back: the order of ids is that of publishes."""
    for newest in published(folder)[-1:]:
        with suppress(ValueError):  # a name that was given by hand
            last = datetime.strptime(newest.partition("-")[0], _ID_TIME).replace(tzinfo=UTC)
            return max(now, last + timedelta(microseconds=1))
    return now


def _manifest(
    work: Work,
    parts: list[Part],
    embedding: EmbeddingEntry,
    content: str,
    before: Manifest | None,
    snapshot_id: str,
    now: datetime,
    lance: LanceEntry,
    database_sha256: str,
    checks: str,
) -> Manifest:
    rows: dict[str, int] = {}
    for part in parts:
        rows[part.table] = rows.get(part.table, 0) + part.rows
    made_with = {name for asset in RESTS_ON for name in settings_of(asset)}
    entries = [PartEntry.model_validate(part, from_attributes=True) for part in parts]
    return Manifest(
        snapshot_id=snapshot_id,
        schema_version=SCHEMA_VERSION,
        collection=work.name,
        level=max(TABLES[part.table].level for part in parts),
        behind=behind(work.parts, _most_failed(work)),
        created_at=now.isoformat(timespec="seconds"),
        previous=before.snapshot_id if before else None,
        content=content,
        parts=entries,
        rows=rows,
        lance={"chunks": lance},
        embedding=embedding,
        database_sha256=database_sha256,
        settings={name: setting_value(work.settings, name) for name in sorted(made_with)},
        code_version=installed_version("monjyu"),
        checks=checks,
    )


def _base(folder: CollectionFolder, base: Manifest | None) -> tuple[Path, list[PartEntry]] | tuple[()]:
    """The previous database and its parts, where there is one to build on."""
    if base is None:
        return ()
    database = _database_of(folder, base)
    return (database, base.parts) if database.is_file() else ()


def _database_of(folder: CollectionFolder, manifest: Manifest) -> Path:
    return folder.snapshots / manifest.snapshot_id / "index.duckdb"
