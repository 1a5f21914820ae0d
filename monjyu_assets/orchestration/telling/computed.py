"""When an asset was really computed: a run that finds all as it was repeats it from the event before its own."""

from __future__ import annotations

import time
from collections.abc import Iterable

import dagster as dg
from dagster._core.events import DagsterEventType

from monjyu_assets.orchestration.results import Metadata

PREFIX = "computed_"


def computed_now(context: dg.AssetExecutionContext, seconds: float, **more: float) -> Metadata:
    """The seconds, the time and the run of a computation, and `more` numbers of it."""
    return {
        f"{PREFIX}seconds": round(seconds, 3),
        f"{PREFIX}at": dg.MetadataValue.timestamp(time.time()),
        f"{PREFIX}by": dg.MetadataValue.dagster_run(context.run.run_id),
        **{f"{PREFIX}{name}": value for name, value in more.items()},
    }


def computed_before(context: dg.AssetExecutionContext, partitions: Iterable[str]) -> dict[str, Metadata]:
    """What the newest event of each partition says of the last computation; nothing where an instance has none."""
    asked = {str(key) for key in partitions}
    if not asked:
        return {}
    kind = DagsterEventType.ASSET_MATERIALIZATION
    newest = context.instance.get_latest_storage_id_by_partition(context.asset_key, kind, asked)
    if not newest:
        return {}
    wanted = dg.AssetRecordsFilter(asset_key=context.asset_key, storage_ids=list(newest.values()))
    found = context.instance.fetch_materializations(wanted, limit=len(newest)).records
    events = [record.asset_materialization for record in found]
    return {
        event.partition: {name: value for name, value in event.metadata.items() if name.startswith(PREFIX)}
        for event in events
        if event and event.partition
    }
