"""Check `snapshot_fresh`, which a sensor evaluates for every collection: do readers see what the sources hold?"""

import json
from datetime import UTC, datetime

import dagster as dg

from monjyu_assets.orchestration.checks.evaluations import evaluation_of
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.reporting.metadata_types import Metadata
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.watching import watch_collection, watched_collections
from monjyu_assets.work.declarations import record_of
from monjyu_core.errors import StorageError
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import collection_settings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.ids import digest
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import read_current


@dg.asset_check(
    asset="index_snapshot",
    name="snapshot_fresh",
    partitions_def=collections,
    description="The snapshot is of the sources as they are, or younger than `checks.fresh_hours`. It warns also where "
    "a source cannot be read, or so much is gone that re-indexing stops. The sensor `freshness` asks every collection.",
)
def snapshot_fresh(context: dg.AssetCheckExecutionContext, data: DataFolderResource) -> dg.AssetCheckResult:
    return freshness_of(data.folder(), context.op_execution_context.partition_key)


def freshness_of(data: DataFolder, name: str) -> dg.AssetCheckResult:
    """Evaluates the check by a look at the sources; only changed files are read."""
    seen = watch_collection(data, name)
    hours = _hours_since_build(data, name)
    metadata: Metadata = {"sources": seen.message or "as published"}
    if hours is not None:
        metadata["hours_since_published"] = round(hours, 2)
    limit = collection_settings(record_of(data, name)).checks.fresh_hours
    waits = seen.state == "changed" and (hours is None or hours > limit)
    return dg.AssetCheckResult(
        check_name="snapshot_fresh",
        passed=seen.state != "stopped" and not waits,
        severity=dg.AssetCheckSeverity.WARN,
        description=seen.message or None,
        metadata=metadata,
    )


def _hours_since_build(data: DataFolder, name: str) -> float | None:
    folder = data.collection(name)
    current = read_current(folder)
    if current is None:
        return None
    try:
        built = datetime.fromisoformat(read_manifest(folder, current).created_at)
    except StorageError:
        return None  # damaged, or of another version: readers cannot open it either
    return (datetime.now(UTC) - built).total_seconds() / 3600


@dg.op(tags={"kind": "look"}, description="Ask the check snapshot_fresh of a collection.")
def ask_snapshot_fresh(context: dg.OpExecutionContext, data: DataFolderResource) -> None:
    found = freshness_of(data.folder(), context.partition_key)
    context.log_event(evaluation_of("index_snapshot", context.partition_key, found))  # type: ignore[arg-type]  # it takes results of checks, too


@dg.job(
    partitions_def=collections,
    description="Look at a collection's sources: do readers see what they hold? (The check snapshot_fresh.)",
)
def look_at_sources() -> None:
    ask_snapshot_fresh()


@dg.sensor(
    name="freshness",
    job=look_at_sources,
    minimum_interval_seconds=load_settings().automation.freshness_seconds,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Looks at the sources of every collection, every automation.freshness_seconds, and where the answer of "
    "the check snapshot_fresh has become another one, runs the check. Off until 'monjyu automation on' or the switch "
    "here.",
)
def freshness(context: dg.SensorEvaluationContext, data: DataFolderResource) -> dg.SensorResult:
    known = set(context.instance.get_dynamic_partitions(str(collections.name)))
    answers = {
        name: _answer(freshness_of(data.folder(), name)) for name in watched_collections(data.folder()) if name in known
    }
    before = json.loads(context.cursor or "{}")
    # Dagster keeps one result a partition that comes without a run, and fails at the second: so the check is run.
    asked = [dg.RunRequest(partition_key=name) for name, answer in answers.items() if before.get(name) != answer]
    return dg.SensorResult(run_requests=asked, cursor=json.dumps(answers))


def _answer(result: dg.AssetCheckResult) -> str:
    return digest(result.passed, result.description or "")
