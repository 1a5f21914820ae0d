"""A question to an older snapshot, as a link names it: only to one that is kept, and never to what a purge removed."""

from __future__ import annotations

from monjyu_core.errors import StorageError
from monjyu_core.storage.collection import known_record
from monjyu_core.storage.folders import CollectionFolder, DataFolder
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.service.server.error_responses import ServiceError

SNAPSHOT = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$"


class SnapshotGone(ServiceError):
    """It never was, was collected or purged, or another version of Monjyu made it: whoever asks is told one thing."""

    status = 404

    def __init__(self, snapshot_id: str) -> None:
        super().__init__(f"Snapshot {snapshot_id} is not kept any more.", "Ask the present snapshot.")


def at_snapshot(folder: CollectionFolder, snapshot_id: str) -> None:
    """SnapshotGone where that snapshot of the collection cannot be asked."""
    try:
        read_manifest(folder, snapshot_id)
    except StorageError as error:
        raise SnapshotGone(snapshot_id) from error


def refuse_purged(data: DataFolder, snapshot: Snapshot) -> None:
    """SnapshotGone where the snapshot holds a paper that was purged: a purge drops such snapshots, but one may be asked
    before that is done, or come back with a copy of the folder."""
    excluded = known_record(data, snapshot.collection.name).excluded
    query = "SELECT 1 FROM papers WHERE paper_id IN (SELECT unnest($ids::VARCHAR[])) LIMIT 1"
    if excluded and snapshot.cursor().execute(query, {"ids": excluded}).fetchall():
        raise SnapshotGone(snapshot.id)
