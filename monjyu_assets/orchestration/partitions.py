"""The partitions of all assets, which are the collections, and the tags of their runs."""

from collections.abc import Set as AbstractSet

import dagster as dg

from monjyu_core.storage.folders import DataFolder
from monjyu_core.values import Values

COLLECTIONS = "collections"
collections = dg.DynamicPartitionsDefinition(name=COLLECTIONS)


def known_collections(instance: dg.DagsterInstance) -> set[str]:
    """The collections that are partitions of the instance, with or without an index."""
    return set(instance.get_dynamic_partitions(COLLECTIONS))


def add_collections(instance: dg.DagsterInstance, names: list[str]) -> list[str]:
    """Add the names that are not partitions yet, and return them."""
    new = sorted({*names} - known_collections(instance))
    if new:
        instance.add_dynamic_partitions(COLLECTIONS, new)
    return new


def remove_collection(instance: dg.DagsterInstance, name: str) -> bool:
    """Remove a collection's partition; return False if it does not exist."""
    if not instance.has_dynamic_partition(COLLECTIONS, name):
        return False
    instance.delete_dynamic_partition(COLLECTIONS, name)
    return True


def partitions_without_index(instance: dg.DagsterInstance, data: DataFolder) -> list[str]:
    """Partitions whose name has no folder, record or index: most are typing errors in *Add a partition*."""
    known = {*data.collections(), *(path.name for path in data.papers.glob("*") if path.is_dir())}
    return sorted(name for name in known_collections(instance) - known if not data.collection(name).root.exists())


# Tags of runs, and the statuses of runs that have not ended.
COLLECTION_TAG = "monjyu/collection"
"""The collection that a run works on. Runs that Monjyu starts carry it at launch, others from their first step."""
CHANGE_TAG = ".dagster/monjyu_change"
"""The change for which a run was started, or that it saw: `change_key` in `planning/targets.py`. Hidden in the UI, like
all tags that begin with `.dagster/`."""
COMMAND_RUN_TAG = ".dagster/monjyu_command_run"
"""Marks a run that a command executes in its own process. Its value is the run's id, because re-executing a run copies
its tags, and the copy does not belong to the command."""
ORDER_TAG = ".dagster/monjyu_order"
"""The order in the object store, on runs of run workers."""
LAUNCHED_BY_TAG = "user"
"""Who launched a run, shown in the UI's list of runs; without it a run counts as launched by hand."""
AUTOMATIC_TAGS = ("dagster/sensor_name", "dagster/schedule_name")
OWN_PROCESS = {"dagster/max_retries": "0", LAUNCHED_BY_TAG: "monjyu"}
"""Tags of runs in a command's own process. The daemon cannot retry them; the command is repeated instead."""
QUIET: Values = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
UNFINISHED = [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]


def command_tags(collection: str, run_id: str) -> dict[str, str]:
    return OWN_PROCESS | {COLLECTION_TAG: collection, COMMAND_RUN_TAG: run_id}


def is_commands_own(run: dg.DagsterRun) -> bool:
    """Whether a command executes the run in the command's own process, under the index lock of its collection."""
    return run.tags.get(COMMAND_RUN_TAG) == run.run_id


def is_automatic(run: dg.DagsterRun) -> bool:
    """Whether a sensor or a schedule started the run. Such runs call only the models that the settings allow."""
    return any(tag in run.tags for tag in AUTOMATIC_TAGS)


def assets_of_run(context: dg.AssetExecutionContext) -> AbstractSet[dg.AssetKey]:
    """The assets of the whole run. (`context.selected_asset_keys` has only those of its step.)"""
    return context.job_def.asset_layer.selected_asset_keys
