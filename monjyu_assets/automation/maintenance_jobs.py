"""Maintenance jobs: roll back, release and delete collections, which are partitions, and tidy Dagster's state."""

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
from pydantic import Field

from monjyu_assets.indexing.index_operations import delete_index, known_folder, release_rollback, roll_back
from monjyu_assets.orchestration.partitions import collections, partitions_without_index, remove_collection
from monjyu_assets.orchestration.reporting.snapshot_metadata import report_served
from monjyu_assets.orchestration.reporting.table_metadata import causes_first
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import folder_bytes

BATCH = 200
"""The number of runs that are read at a time."""
KEPT_EVENTS = (DagsterEventType.ASSET_MATERIALIZATION, DagsterEventType.ASSET_OBSERVATION)


@dataclass
class Tidied:
    """The result of a clean-up: the numbers of deleted and kept old runs, and the bytes of Dagster's state."""

    runs: int = 0
    kept_for_assets: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


def tidy_instance(instance: dg.DagsterInstance, keep_days: int, now: datetime | None = None) -> Tidied:
    """Delete finished runs older than `keep_days` days with their events, captured logs and check results, purge
    evaluations of automation conditions, and return the space to the disk.

    A run with the last event of a partition is kept, because the asset's page shows it.
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
    """The ids of the runs that wrote the last event of some partition of an asset."""
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
    if isinstance(storage, SqliteEventLogStorage):  # the storage empties the run's file but keeps it
        storage.dispose()
        for path in Path(storage.path_for_shard(run_id)).parent.glob(f"{run_id}.db*"):
            path.unlink(missing_ok=True)
    manager = instance.compute_log_manager
    with suppress(NotImplementedError):  # the manager's store has its own retention
        manager.delete_logs(prefix=[run_id])


def _delete_check_results(instance: dg.DagsterInstance) -> None:
    """Delete check results of deleted runs, which `DagsterInstance.delete_run` does not delete. The newest of each
    check and partition is kept, because the check's page shows it."""
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
    """Rewrite SQLite files to free the space of deleted rows."""
    for path in [*home.glob("history/*.db"), *home.glob("history/runs/index.db"), *home.glob("schedules/*.db")]:
        with closing(sqlite3.connect(path, timeout=60.0)) as connection, suppress(sqlite3.OperationalError):
            connection.execute("VACUUM")  # if another process is writing, the next run does it
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


MB = 1e6


class RollbackConfig(dg.Config):
    snapshot: str = Field("", description="Id of the snapshot to serve; empty: the one before the current one.")


class DeleteConfig(dg.Config):
    confirm: str = Field("", description="The collection's name again, to confirm that its index is deleted.")


class TidyConfig(dg.Config):
    keep_days: int = Field(0, ge=0, description="Number of days for which runs are kept; 0: runs.keep_days.")


@dg.op(tags={"kind": "publish"})
def serve_older_snapshot(context: dg.OpExecutionContext, config: RollbackConfig, data: DataFolderResource) -> None:
    with causes_first():
        folder = known_folder(context.partition_key, data.folder())
        served = roll_back(folder, config.snapshot or None)
    report_served(data.folder(), folder.name)
    context.log.info(f"{folder.name} serves {served} until the job release ends it.")
    context.add_output_metadata({"served": served})


@dg.job(
    partitions_def=collections,
    description="Serve an older snapshot of a collection, until the job release ends it.",
)
def rollback() -> None:
    serve_older_snapshot()


@dg.op(tags={"kind": "publish"})
def serve_newest_snapshot(context: dg.OpExecutionContext, data: DataFolderResource) -> None:
    with causes_first():
        folder = known_folder(context.partition_key, data.folder())
        served = release_rollback(folder)
    report_served(data.folder(), folder.name)
    context.log.info(f"{folder.name} serves {served}, the newest snapshot.")
    context.add_output_metadata({"served": served})


@dg.job(partitions_def=collections, description="End a rollback: serve the newest snapshot of a collection again.")
def release() -> None:
    serve_newest_snapshot()


@dg.op(tags={"kind": "delete"})
def delete_collection_index(context: dg.OpExecutionContext, config: DeleteConfig, data: DataFolderResource) -> None:
    name = context.partition_key
    with causes_first():
        if config.confirm != name:
            raise ConfigurationError(f"Nothing was deleted: {config.confirm!r} is not {name!r}.", "Set `confirm`.")
        if name in partitions_without_index(context.instance, data.folder()):
            remove_collection(context.instance, name)
            context.log.info(f"{name} had no index; its partition is removed.")
            return
        freed = delete_index(data.folder(), name, context.log.warning)
    context.log.info(f"The index of {name} is deleted ({freed / MB:.1f} MB). Its sources are kept.")
    context.add_output_metadata({"mb": round(freed / MB, 1)})


@dg.job(
    partitions_def=collections,
    description="Delete all outputs of a collection, or a partition that has none (a typing error in *Add a "
    "partition*). Sources are not changed.",
)
def delete_collection() -> None:
    delete_collection_index()


@dg.op(tags={"kind": "tidy"})
def tidy_dagster(context: dg.OpExecutionContext, config: TidyConfig, data: DataFolderResource) -> None:
    days = config.keep_days or load_settings().runs.keep_days
    done = tidy_instance(context.instance, days)
    unused = partitions_without_index(context.instance, data.folder())
    context.log.info(
        f"Deleted {done.runs} runs older than {days} days. Dagster's state shrank from {done.bytes_before / MB:.1f} MB "
        f"to {done.bytes_after / MB:.1f} MB."
    )
    if unused:
        context.log.warning(f"Partitions without an index: {', '.join(unused)}. The job delete_collection removes one.")
    context.add_output_metadata(
        {
            "runs_deleted": done.runs,
            "runs_kept_for_assets": done.kept_for_assets,
            "mb": round(done.bytes_after / MB, 1),
            "mb_before": round(done.bytes_before / MB, 1),
            "partitions_without_index": ", ".join(unused) or "none",
        }
    )


@dg.job(
    description="Delete runs older than runs.keep_days (90 days by default) with their events and logs, but never the "
    "last event of a partition, and free their space. The schedule nightly_tidy starts it.",
)
def tidy() -> None:
    tidy_dagster()


def tidy_schedule() -> dg.ScheduleDefinition:
    settings = load_settings().automation
    return dg.ScheduleDefinition(
        name="nightly_tidy",
        job=tidy,
        cron_schedule=settings.nightly,
        execution_timezone=settings.time_zone,
        default_status=dg.DefaultScheduleStatus.STOPPED,
        description="Deletes old runs each night (automation.nightly, runs.keep_days). Off until 'monjyu automation "
        "on' or the switch here.",
    )
