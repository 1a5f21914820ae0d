"""The jobs that build a collection: one per level, with the assets up to the level and `index_snapshot` as steps."""

import json
from datetime import UTC, datetime

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from monjyu_assets.orchestration.assets.index_snapshot import ASSETS_BY_LEVEL, index_snapshot, saved_answers
from monjyu_assets.orchestration.checks.rebuild_check import evaluation_of
from monjyu_assets.orchestration.instance import with_code_references
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.reporting.table_metadata import Metadata
from monjyu_assets.orchestration.resources import DataFolderResource, resources_of
from monjyu_assets.orchestration.watching import watch_collection, watched_collections
from monjyu_assets.work.closed_set import HIGHEST
from monjyu_assets.work.work import record_of
from monjyu_core.errors import StorageError
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.collection import collection_settings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.ids import digest
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import read_current


# Check `snapshot_fresh`: whether readers see the current sources. A sensor evaluates it for every collection.
@dg.asset_check(
    asset="index_snapshot",
    name="snapshot_fresh",
    partitions_def=collections,
    description="The snapshot contains the current sources, or is younger than `checks.fresh_hours`. The check also "
    "warns if a source cannot be read, or if too many missing files stop re-indexing. The sensor `freshness` "
    "evaluates it for every collection.",
)
def snapshot_fresh(context: dg.AssetCheckExecutionContext, data: DataFolderResource) -> dg.AssetCheckResult:
    return freshness_of(data.folder(), context.op_execution_context.partition_key)


def freshness_of(data: DataFolder, name: str) -> dg.AssetCheckResult:
    """Evaluate the check by scanning the sources; only changed files are read."""
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
        return None  # damaged, or from another version: readers cannot open it either
    return (datetime.now(UTC) - built).total_seconds() / 3600


@dg.op(tags={"kind": "look"}, description="Evaluate the check snapshot_fresh for a collection.")
def ask_snapshot_fresh(context: dg.OpExecutionContext, data: DataFolderResource) -> None:
    found = freshness_of(data.folder(), context.partition_key)
    context.log_event(evaluation_of(context.partition_key, found))  # type: ignore[arg-type]  # it takes results of checks, too


@dg.job(
    partitions_def=collections,
    description="Check whether readers of a collection see its current sources (the check snapshot_fresh).",
)
def look_at_sources() -> None:
    ask_snapshot_fresh()


@dg.sensor(
    name="freshness",
    job=look_at_sources,
    minimum_interval_seconds=load_settings().automation.freshness_seconds,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description="Scans the sources of every collection every automation.freshness_seconds seconds, and runs the "
    "check snapshot_fresh if its result would change. Off until 'monjyu automation on' or the switch "
    "here.",
)
def freshness(context: dg.SensorEvaluationContext, data: DataFolderResource) -> dg.SensorResult:
    known = set(context.instance.get_dynamic_partitions(str(collections.name)))
    answers = {
        name: _answer(freshness_of(data.folder(), name)) for name in watched_collections(data.folder()) if name in known
    }
    before = json.loads(context.cursor or "{}")
    # The check needs a run, because without one Dagster stores a single result per partition and fails at the second.
    asked = [dg.RunRequest(partition_key=name) for name, answer in answers.items() if before.get(name) != answer]
    return dg.SensorResult(run_requests=asked, cursor=json.dumps(answers))


def _answer(result: dg.AssetCheckResult) -> str:
    return digest(result.passed, result.description or "")


ADDED = (
    "papers, chunks, vectors and citations",
    "noun phrases, their graph and its communities",
    "entities, relationships and their communities",
    "reports on these communities",
    "claims",
)
"""What each level adds to the ones below it."""


def assets_up_to(level: int) -> list[dg.AssetsDefinition]:
    return [asset for one in range(level + 1) for asset in ASSETS_BY_LEVEL[one]]


def assets_of_level(level: int) -> dg.AssetSelection:
    """The assets up to the level, `index_snapshot`, and all checks but `snapshot_fresh`, which scans the sources."""
    assets = dg.AssetSelection.assets(*assets_up_to(level), index_snapshot)
    return assets - dg.AssetSelection.checks(snapshot_fresh)


def level_job(level: int) -> UnresolvedAssetJobDefinition:
    return dg.define_asset_job(
        f"level_{level}",
        assets_of_level(level),
        executor_def=dg.in_process_executor,
        description=f"Build a collection up to level {level} and publish it: {'; '.join(ADDED[: level + 1])}. Only "
        "what changed is computed. Choose the collection as the partition. *Add a partition* names a new collection: "
        "its papers are in papers/NAME, or in the folders that `resources: build: config: sources` lists.",
    )


LEVEL_JOBS = [level_job(level) for level in range(HIGHEST + 1)]

assets_and_jobs = dg.Definitions(
    assets=with_code_references([*assets_up_to(HIGHEST), index_snapshot, saved_answers]),
    asset_checks=[snapshot_fresh],
    jobs=LEVEL_JOBS,
    resources=resources_of(DataFolderResource.configure_at_launch()),
    executor=dg.in_process_executor,
)
"""The definitions without automation, whose jobs the commands run."""
