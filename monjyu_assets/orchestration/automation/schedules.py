"""Schedule `nightly`: brings every collection up to date, even where a run failed during the day."""

from collections.abc import Iterator

import dagster as dg

from monjyu_assets.orchestration.automation.reindex import reindex, reindex_request
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_core.settings.operations_settings import AutomationSettings


def nightly_schedule(settings: AutomationSettings) -> dg.ScheduleDefinition:
    """Runs at `automation.nightly`, in `automation.time_zone`."""

    @dg.schedule(
        name="nightly",
        job=reindex,
        cron_schedule=settings.nightly,
        execution_timezone=settings.time_zone,
        default_status=dg.DefaultScheduleStatus.STOPPED,
        description="Brings every indexed collection to its sources, code and settings (automation.nightly, as cron): "
        "what watch_sources could not finish is tried again. A run that finds nothing to do takes seconds and "
        "publishes nothing. Off until 'monjyu automation on' or the switch here.",
    )
    def nightly(context: dg.ScheduleEvaluationContext, data: DataFolderResource) -> Iterator[dg.RunRequest]:
        names = data.folder().collections()
        known = set(context.instance.get_dynamic_partitions(str(collections.name)))
        new = [name for name in names if name not in known]
        if new:
            context.instance.add_dynamic_partitions(str(collections.name), new)
        for name in names:
            yield reindex_request(name, f"{name}-{context.scheduled_execution_time:%Y-%m-%dT%H:%M}")

    return nightly
