"""How long Dagster keeps runs: old ones go with their events and logs, but never the last event of a partition."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import sqlalchemy as sa
from dagster._core.events import DagsterEventType
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage
from dagster._core.storage.event_log.sqlite import SqliteEventLogStorage

from monjyu_core.storage.folders import folder_bytes

BATCH = 200
"""Runs that are read at a time."""
KEPT_EVENTS = (DagsterEventType.ASSET_MATERIALIZATION, DagsterEventType.ASSET_OBSERVATION)


@dataclass
class Tidied:
    """What a call removed, and the bytes of Dagster's state before and after."""

    runs: int = 0
    kept_for_assets: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


def tidy_instance(instance: dg.DagsterInstance, keep_days: int, now: datetime | None = None) -> Tidied:
    """Delete finished runs older than `keep_days` days with their event files and captured logs, purge evaluations of
    automation conditions, and give the room back to the disk.

    A run stays while an asset's page needs it: it holds the last event of a partition.
    """
    before = (now or datetime.now(UTC)) - timedelta(days=keep_days)
    home = Path(instance.root_directory)
    tidied = Tidied(bytes_before=folder_bytes(home))
    needed = _runs_of_last_events(instance)
    for run_id in list(_finished_before(instance, before)):
        if run_id in needed:
            tidied.kept_for_assets += 1
            continue
        _delete_run(instance, run_id)
        tidied.runs += 1
    _delete_check_results(instance)
    if instance.schedule_storage is not None:
        instance.schedule_storage.purge_asset_evaluations(before.timestamp())
    _vacuum(home)
    tidied.bytes_after = folder_bytes(home)
    return tidied


def _finished_before(instance: dg.DagsterInstance, before: datetime) -> Iterator[str]:
    finished = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
    old, cursor = dg.RunsFilter(statuses=finished, created_before=before), None
    while records := instance.get_run_records(old, limit=BATCH, cursor=cursor):
        yield from (record.dagster_run.run_id for record in records)
        cursor = records[-1].dagster_run.run_id


def _runs_of_last_events(instance: dg.DagsterInstance) -> set[str]:
    """The runs that hold the last event of an asset's partition."""
    needed: set[str] = set()
    for key in instance.get_asset_keys():
        for event_type in KEPT_EVENTS:
            newest = instance.get_latest_storage_id_by_partition(key, event_type)
            ids = list(newest.values())
            for start in range(0, len(ids), BATCH):
                wanted = dg.AssetRecordsFilter(asset_key=key, storage_ids=ids[start : start + BATCH])
                fetch = (
                    instance.fetch_materializations
                    if event_type == DagsterEventType.ASSET_MATERIALIZATION
                    else instance.fetch_observations
                )
                needed |= {record.run_id for record in fetch(wanted, limit=BATCH).records}
        last = instance.get_latest_materialization_event(key)
        needed |= {last.run_id} if last else set()
    return needed


def _delete_run(instance: dg.DagsterInstance, run_id: str) -> None:
    instance.delete_run(run_id)
    storage = instance.event_log_storage
    if isinstance(storage, SqliteEventLogStorage):  # it empties the run's file and leaves it
        storage.dispose()
        for path in Path(storage.path_for_shard(run_id)).parent.glob(f"{run_id}.db*"):
            path.unlink(missing_ok=True)
    manager = instance.compute_log_manager
    with suppress(NotImplementedError):  # of a manager whose store has a retention of its own
        manager.delete_logs(prefix=[run_id])


def _delete_check_results(instance: dg.DagsterInstance) -> None:
    """Results of checks by runs that are gone, which `DagsterInstance.delete_run` leaves. The newest of each check
    and partition stays: its page shows it."""
    storage, results = instance.event_log_storage, AssetCheckExecutionsTable.c
    if not isinstance(storage, SqlEventLogStorage):
        return
    known = set(instance.get_run_ids())
    newest = sa.select(sa.func.max(results.id)).group_by(results.asset_key, results.check_name, results.partition)
    with storage.index_connection() as connection:
        kept = set(connection.execute(newest).scalars())
        rows = connection.execute(sa.select(results.id, results.run_id)).all()
        gone = [number for number, run_id in rows if run_id not in known and number not in kept]
        for start in range(0, len(gone), BATCH):
            ids = gone[start : start + BATCH]
            connection.execute(sa.delete(AssetCheckExecutionsTable).where(results.id.in_(ids)))


def _vacuum(home: Path) -> None:
    """SQLite files keep the room of deleted rows until they are written again."""
    for path in [*home.glob("history/*.db"), *home.glob("history/runs/index.db"), *home.glob("schedules/*.db")]:
        with closing(sqlite3.connect(path, timeout=60.0)) as connection, suppress(sqlite3.OperationalError):
            connection.execute("VACUUM")  # where another process writes now, the next night does it
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
