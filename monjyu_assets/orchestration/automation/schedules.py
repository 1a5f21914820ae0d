"""Schedule `nightly`: every collection is brought to its sources, also where a run failed during the day."""

from collections.abc import Iterator

import dagster as dg

from monjyu_assets.orchestration.automation.reindex import reindex, reindex_request
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_core.settings.settings import load_settings

_SETTINGS = load_settings().automation


@dg.schedule(
    name="nightly",
    job=reindex,
    cron_schedule=_SETTINGS.nightly,
    execution_timezone=_SETTINGS.time_zone,
    default_status=dg.DefaultScheduleStatus.STOPPED,
    description="Brings every indexed collection to its sources, code and settings (automation.nightly, as cron): "
    "what watch_sources could not finish is tried again. A run that finds nothing to do takes seconds and publishes "
    "nothing. Off until 'monjyu automation on' or the switch here.",
)
def nightly(context: dg.ScheduleEvaluationContext, data: DataFolderResource) -> Iterator[dg.RunRequest]:
    names = data.folder().collections()
    known = set(context.instance.get_dynamic_partitions(str(collections.name)))
    new = [name for name in names if name not in known]
    if new:
        context.instance.add_dynamic_partitions(str(collections.name), new)
    for name in names:
        yield reindex_request(name, f"{name}-{context.scheduled_execution_time:%Y-%m-%dT%H:%M}")
