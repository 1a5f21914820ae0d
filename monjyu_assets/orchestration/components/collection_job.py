"""Job and schedule of a declared collection."""

import dagster as dg

from monjyu_assets.indexing.declarations import Declaration, declare
from monjyu_assets.orchestration.automation.reindex import bring, reindex, reindex_request
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.run_tags import COLLECTION_TAG
from monjyu_core.settings.settings import load_settings


def index_job(declaration: Declaration) -> dg.JobDefinition:
    """Nothing to fill in: it makes the collection known, and brings it to its sources and its level."""
    own = _identifier(declaration.name)

    @dg.op(
        name=f"bring_{own}",
        tags={"kind": "reindex"},
        description="What `monjyu index` does, for the collection as it is declared: scan, run the jobs of the shards "
        "concerned, then those of the collection, and publish once.",
    )
    def bring_declared(context: dg.OpExecutionContext, data: DataFolderResource) -> None:
        declare(data.folder(), declaration)
        bring(context, data, declaration.name, asked_for=True)

    @dg.job(
        name=f"index_{own}",
        tags={COLLECTION_TAG: declaration.name},
        description=f"Collection {declaration.name} as {declaration.place} declares it, to level {declaration.level}. "
        "Launched by hand it also calls paid models that the level needs, within the caps of `spending`; sensors and "
        "schedules start `reindex`, which does not unless the collection allows it.",
    )
    def index_declared() -> None:
        bring_declared()

    return index_declared


def schedule_of(declaration: Declaration, cron: str) -> dg.ScheduleDefinition:
    """On from the start: whoever writes a schedule down wants it to run."""

    @dg.schedule(
        name=f"{_identifier(declaration.name)}_schedule",
        job_name=reindex.name,  # the job itself may be in the project as a copy
        cron_schedule=cron,
        execution_timezone=load_settings().automation.time_zone,
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description=f"Brings the collection {declaration.name} up to date, as {declaration.place} says.",
    )
    def scheduled(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        name = declaration.name
        if not context.instance.has_dynamic_partition(str(collections.name), name):
            context.instance.add_dynamic_partitions(str(collections.name), [name])
        return reindex_request(name, f"{name}-{context.scheduled_execution_time:%Y-%m-%dT%H:%M}")

    return scheduled


def _identifier(name: str) -> str:
    """Names in Dagster hold no hyphen."""
    return name.replace("-", "_")
