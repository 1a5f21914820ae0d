"""A run of a paper-level asset, and what it reports: each shard has a data version and metadata of its own."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from itertools import chain

import dagster as dg
from dagster._core.definitions.data_version import DEFAULT_DATA_VERSION

from monjyu_assets.orchestration.asset_base import code_versions, spent
from monjyu_assets.orchestration.asset_telemetry import asset_done, failed_papers, shard_done
from monjyu_assets.orchestration.checks.shard_checks import (
    Results,
    check_events,
    check_results,
    look_at_shards,
)
from monjyu_assets.orchestration.lineage.lineage_events import failure_reported
from monjyu_assets.orchestration.partitions import by_collection, shard_key
from monjyu_assets.orchestration.resources import DataFolderResource, ModelGateway
from monjyu_assets.orchestration.results import MaterializedAndChecked, Metadata
from monjyu_assets.orchestration.telling.computed import computed_before, computed_now
from monjyu_assets.orchestration.telling.failed_papers import failed_papers_metadata
from monjyu_assets.orchestration.telling.failing import causes_first
from monjyu_assets.orchestration.telling.previews import preview
from monjyu_assets.orchestration.telling.publishing_note import note_on_publishing
from monjyu_assets.orchestration.telling.reasons import Parts, parts_of, shards_told
from monjyu_assets.orchestration.telling.table_metadata import place_of, rows_by_table, rows_in_collection
from monjyu_assets.orchestration.workers.order_taken import work_of_run
from monjyu_assets.publishing.closed_set import RESTS_ON, check_inputs
from monjyu_assets.stages.shared.work import ShardReport, Timer, Work, level_of, together
from monjyu_core.models.accounting.ledger_totals import Used
from monjyu_core.storage.ids import shard_of_bucket
from monjyu_core.storage.schemas import ASSET_TABLES

MOST_IDS = 20
"""Papers that a shard's metadata names."""
Stage = Callable[[Work, tuple[str, ...]], Iterable[ShardReport]]


def run_stage(
    context: dg.AssetExecutionContext, data: DataFolderResource, stage: Stage, models: ModelGateway | None = None
) -> MaterializedAndChecked:
    """Run a stage over the run's shards, and report each with its own data version and metadata. A stage that calls
    `models` keeps to their caps.

    Dagster gives all partitions of a run the same data version. So each shard gets an event of its own after Dagster's:
    the last one counts.
    """
    total = ShardReport("all")
    told: dict[dg.MultiPartitionKey, tuple[ShardReport, Metadata]] = {}
    looked: dict[str, Results] = {}
    costs: dict[str, float] = {}
    asset = context.asset_key.path[-1]
    with causes_first():
        for collection, shards in by_collection(context.partition_keys).items():
            timer, reports = Timer(), list[ShardReport]()
            with (
                work_of_run(context, data, collection, shards) as (work, deliver),
                models.within_caps(work.settings) if models else nullcontext(),
                spent(work, asset) as cost,
                failure_reported(work, asset),
            ):
                check_inputs(work.parts, asset, collection, shards)
                before = parts_of(work, asset, work.buckets(shards))
                for report in _by_shard(work, asset, shards, stage):
                    deliver(report.shard)
                    _add(total, report)
                    shard_done(work, asset, report, failed_papers(work, report) if asset == "parsed_papers" else {})
                    reports.append(report)
                told |= _told(work, asset, reports)
                looked[collection] = look_at_shards(work, asset, shards)
                _tell_why(context, work, reports, before)
            rows = sum(report.rows.get(ASSET_TABLES[asset][0], 0) for report in reports)
            asset_done(work, asset, timer.seconds, rows=rows, tokens=int(cost["tokens"]), cost_usd=cost["cost_usd"])
            costs = {name: costs.get(name, 0) + value for name, value in cost.items()}
    if total.failed:
        context.log.warning(f"{total.failed} papers could not be read: {total.failures}")
    computed = computed_before(context, (key for key, (report, _) in told.items() if not _computed(report)))
    summed: Metadata = {"seconds": total.seconds, "papers_recomputed": total.recomputed}
    yield dg.MaterializeResult(metadata=summed | {"failures": total.failures} | costs)
    yield from check_results(asset, looked)
    if len(context.partition_keys) > 1:  # of the one, Dagster itself says it
        for evaluation in chain(*(check_events(asset, name, results) for name, results in looked.items())):
            context.log_event(evaluation)
    for key, (report, metadata) in told.items():
        context.log_event(_materialization(context, key, report, metadata, computed))
    note_on_publishing(context, level_of(asset))


def _told(
    work: Work, asset: str, reports: Sequence[ShardReport]
) -> dict[dg.MultiPartitionKey, tuple[ShardReport, Metadata]]:
    """The metadata of each shard. The last one, which the asset's page shows, also tells of failed papers in all."""
    rows, table = rows_in_collection(work, asset), ASSET_TABLES[asset][0]
    told = {}
    for report in reports:
        whole: Metadata = {"dagster/row_count": rows, **place_of(work, table, report.shard)}
        if asset == "parsed_papers" and report is reports[-1]:
            whole |= failed_papers_metadata(work)
        whole["preview"] = preview(work, asset, report.shard)
        told[shard_key(work.name, report.shard)] = report, shard_metadata(asset, report) | whole
    return told


def _tell_why(context: dg.AssetExecutionContext, work: Work, reports: Sequence[ShardReport], before: Parts) -> None:
    """Say in the run's log what was reused and why something was computed."""
    asset, shards = context.asset_key.path[-1], [report.shard for report in reports]
    code = code_versions(context, shard_key(work.name, shards[0]))
    after = parts_of(work, asset, work.buckets(shards))
    context.log.info(shards_told(f"{asset} of {work.name}", reports, before, after, code))


def _computed(report: ShardReport) -> bool:
    return bool(report.recomputed or report.deleted)


def _by_shard(work: Work, asset: str, shards: tuple[str, ...], stage: Stage) -> Iterator[ShardReport]:
    """The reports of a stage, a shard's as soon as the last of its buckets is made."""
    before, done = Used(), dict[str, list[ShardReport]]()
    for report in stage(work, shards):
        before = _charge(work, asset, report, before)
        shard = shard_of_bucket(report.shard)
        done.setdefault(shard, []).append(report)
        if len(done[shard]) == len(work.parts.buckets(shard)):
            yield together(work, asset, shard, done[shard])


def _charge(work: Work, asset: str, report: ShardReport, before: Used) -> Used:
    """Charge a shard with what was paid since the one before it, and return the usage until now."""
    if not work.settings.models:
        return before
    now = work.account(asset).used
    report.tokens = max(0, now.prompt_tokens + now.completion_tokens - before.prompt_tokens - before.completion_tokens)
    report.cost_usd = max(0.0, now.cost_usd - before.cost_usd)
    return now


def _add(total: ShardReport, report: ShardReport) -> None:
    total.recomputed += report.recomputed
    total.failed += report.failed
    total.seconds = max(total.seconds, report.seconds)
    for cause, count in report.failures.items():
        total.failures[cause] = total.failures.get(cause, 0) + count


def _materialization(
    context: dg.AssetExecutionContext,
    key: dg.MultiPartitionKey,
    report: ShardReport,
    metadata: Metadata,
    before: Mapping[str, Metadata],
) -> dg.AssetMaterialization:
    spec = context.assets_def.specs_by_key[context.asset_key]
    outside = {dep.asset_key.path[-1] for dep in spec.deps} - RESTS_ON.keys()
    inputs = report.inputs | dict.fromkeys(outside, DEFAULT_DATA_VERSION.value)
    costs = {"cost_usd": round(report.cost_usd, 6), "papers": report.recomputed}
    computed = computed_now(context, report.seconds, **costs) if _computed(report) else before.get(key, {})
    return dg.AssetMaterialization(
        asset_key=context.asset_key,
        partition=key,
        metadata=metadata | computed,
        tags={
            "dagster/data_version": report.asset_version,
            "dagster/data_version_is_user_provided": "true",
            "dagster/code_version": spec.code_version or "",
            **{f"dagster/input_data_version/{asset}": version for asset, version in inputs.items()},
            **{f"dagster/input_event_pointer/{asset}": "NULL" for asset in inputs},
            **{f"dagster/partition/{name}": value for name, value in key.keys_by_dimension.items()},
        },
    )


def shard_metadata(asset: str, report: ShardReport) -> Metadata:
    """Metadata of a shard for data engineers: rows, papers, time, and which papers were recomputed."""
    return {
        "dagster/partition_row_count": report.rows.get(ASSET_TABLES[asset][0], 0),
        "papers_total": report.total,
        "papers_reused": report.reused,
        "papers_recomputed": report.recomputed,
        "papers_deleted": report.deleted,
        "papers_failed": report.failed,
        "seconds": round(report.seconds, 3),
        "tokens": report.tokens,
        "cost_usd": round(report.cost_usd, 6),
        "rows": rows_by_table(report.rows),
        **_recomputed(report),
        **report.notes,
    }


def _recomputed(report: ShardReport) -> Metadata:
    """Ids of the first papers that were computed, and how many failed by which cause."""
    found: Metadata = {"failures": dg.MetadataValue.json(report.failures)} if report.failures else {}
    if report.recomputed_ids:
        found["recomputed"] = ", ".join(report.recomputed_ids[:MOST_IDS])
    return found
