"""Jobs for what people do to an index that is built, with a collection as their partition and a field or two."""

import dagster as dg
from pydantic import Field

from monjyu_assets.automation.run_retention import tidy_instance
from monjyu_assets.maintenance.index_operations import delete_index, known_folder, release_rollback, roll_back
from monjyu_assets.orchestration.partitions import collections, partitions_without_index, remove_collection
from monjyu_assets.orchestration.reporting.failures import causes_first
from monjyu_assets.orchestration.reporting.snapshot_metadata import report_served
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_core.errors import ConfigurationError
from monjyu_core.settings.settings import load_settings

MB = 1e6


class RollbackConfig(dg.Config):
    snapshot: str = Field("", description="The snapshot to serve, as its id; empty: the one before the current.")


class DeleteConfig(dg.Config):
    confirm: str = Field("", description="The collection's name once more: its index is deleted. Sources stay.")


class TidyConfig(dg.Config):
    keep_days: int = Field(0, ge=0, description="Days that runs are kept; 0: as runs.keep_days says.")


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
    context.log.info(f"The index of {name} is deleted ({freed / MB:.1f} MB). Its sources stay.")
    context.add_output_metadata({"mb": round(freed / MB, 1)})


@dg.job(
    partitions_def=collections,
    description="Delete all outputs of a collection, or a partition that has none (a typing error in *Add a "
    "partition*). Sources are not touched.",
)
def delete_collection() -> None:
    delete_collection_index()


@dg.op(tags={"kind": "tidy"})
def tidy_dagster(context: dg.OpExecutionContext, config: TidyConfig, data: DataFolderResource) -> None:
    days = config.keep_days or load_settings().runs.keep_days
    done = tidy_instance(context.instance, days)
    unused = partitions_without_index(context.instance, data.folder())
    context.log.info(
        f"{done.runs} runs older than {days} days are deleted; Dagster's state has {done.bytes_after / MB:.1f} MB, "
        f"before {done.bytes_before / MB:.1f} MB."
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
    description="Delete old runs with their events and logs (runs.keep_days, 90 days unless set), never the last event "
    "of a partition, and give the room back. The schedule nightly_tidy starts it.",
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
