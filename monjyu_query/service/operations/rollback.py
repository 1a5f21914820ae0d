"""Snapshots for operators: those kept, two compared, rolling back."""

from __future__ import annotations

from pydantic import BaseModel

from monjyu_core.storage.folders import DataFolder
from monjyu_query.service.operations.commands_run import printed
from monjyu_query.service.server.error_responses import NotFound


class RolledBack(BaseModel):
    """`held`: readers stay with this snapshot, whatever is published, until it is released."""

    collection: str
    snapshot_id: str
    held: bool


class KeptSnapshot(BaseModel):
    """Null is what cannot be read, since another version of Monjyu made it."""

    snapshot_id: str
    created_at: str | None
    level: int | None
    papers: int | None
    chunks: int | None
    current: bool
    held: bool


class KeptSnapshots(BaseModel):
    """Oldest first."""

    collection: str
    snapshots: list[KeptSnapshot]


class SnapshotsCompared(BaseModel):
    """Ids of papers by what happened to them, and [older, newer] rows by table."""

    older: str
    newer: str
    added: list[str]
    changed: list[str]
    deleted: list[str]
    rows: dict[str, list[int]]


def kept_snapshots(data: DataFolder, collection: str) -> KeptSnapshots:
    return KeptSnapshots(**printed(data, "snapshots", "list", "-c", collection, "--json"))


def compare_snapshots(data: DataFolder, collection: str, older: str, newer: str) -> SnapshotsCompared:
    """NotFound where one of the two is not kept."""
    for name in (older, newer):
        if not data.collection(collection).snapshot(name).is_dir():
            raise NotFound(f"Snapshot {name} of {collection} is not kept.", "GET /admin/snapshots lists them.")
    return SnapshotsCompared(**printed(data, "snapshots", "diff", "-c", collection, "--json", "--", older, newer))


def roll_back(data: DataFolder, collection: str, snapshot_id: str | None, *, release: bool) -> RolledBack:
    """Conflict where there is no such snapshot, StorageError where it is damaged or cannot be set."""
    command = ["snapshots", "rollback", "-c", collection, "--json"]
    command += ["--release"] if release else []
    command += ["--", snapshot_id] if snapshot_id else []
    return RolledBack(**printed(data, *command))
