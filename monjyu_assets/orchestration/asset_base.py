"""What the shard assets share: their common arguments, and how a run over many shards reports each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import dagster as dg

from monjyu_assets.orchestration.asset_telemetry import asset_done, failed_papers, shard_done
from monjyu_assets.orchestration.automation.conditions import collection_condition, shard_condition
from monjyu_assets.orchestration.checks.shard_checks import (
    Results,
    check_events,
    check_results,
    look_at_shards,
    shard_check_specs,
)
from monjyu_assets.orchestration.partitions import by_collection, collections, papers, shard_key
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.results import MaterializedAndChecked, Metadata
from monjyu_assets.orchestration.workers.order_taken import work_of_run
from monjyu_assets.stages.shared.collection_stage import CollectionReport
from monjyu_assets.stages.shared.work import ShardReport, Timer, Work, table_rows, together
from monjyu_core.models.accounting.ledger_totals import CallFilter, Used, usage_of
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.ids import shard_of_bucket
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, LEVEL_NAMES, TABLES

OWNERS = ["team:data-engineering"]

Stage = Callable[[Work, tuple[str, ...]], Iterable[ShardReport]]


def shard_asset_arguments(asset: str, code_version: str, kinds: set[str]) -> dict[str, Any]:
    """The arguments of `@dg.asset` that all paper-level assets share."""
    level = TABLES[ASSET_TABLES[asset][0]].level
    return {
        "name": asset,
        "partitions_def": papers,
        "group_name": LEVEL_NAMES[level],
        "backfill_policy": backfill_policy(),
        "code_version": code_version,
        "kinds": kinds,
        "owners": OWNERS,
        "tags": {"monjyu/level": str(level)},
        "pool": asset,
        "automation_condition": None if asset == "paper_manifest" else shard_condition(level),
        "check_specs": shard_check_specs(asset) or None,
        "metadata": {"dagster/column_schema": column_schema(ASSET_TABLES[asset][0]), "tables": ASSET_TABLES[asset]},
    }


@cache
def backfill_policy() -> dg.BackfillPolicy:
    """All shards of a backfill in one run, or as many a run as `runs.shards_per_run` says; these runs go in
    parallel."""
    shards = load_settings().runs.shards_per_run
    return dg.BackfillPolicy.multi_run(shards) if shards else dg.BackfillPolicy.single_run()


def collection_asset_arguments(asset: str, code_version: str, kinds: set[str]) -> dict[str, Any]:
    """The arguments of `@dg.asset` that all collection-level assets share."""
    overrides: dict[str, Any] = {"partitions_def": collections, "backfill_policy": None}
    overrides["automation_condition"] = collection_condition(TABLES[ASSET_TABLES[asset][0]].level)
    arguments = shard_asset_arguments(asset, code_version, kinds) | overrides
    del arguments["check_specs"]  # those of a collection are the asset's own
    return arguments


def collection_metadata(work: Work, asset: str, report: CollectionReport, seconds: float) -> Metadata:
    """Metadata of a collection for data engineers: rows by table, time, and whether anything was computed.

    Also reports the asset to logs and telemetry.
    """
    asset_done(work, asset, seconds, rows=report.part.rows)
    rows = table_rows(work.parts, asset, COLLECTION_SHARD)
    table = ["| table | rows |", "| --- | ---: |", *(f"| {name} | {count} |" for name, count in rows.items())]
    return {
        "dagster/row_count": report.part.rows,
        "recomputed": report.recomputed,
        "seconds": round(seconds, 3),
        "tokens": 0,
        "cost_usd": 0.0,
        "preview": dg.MetadataValue.md("\n".join(table)),
    }


def column_schema(table: str) -> dg.TableSchema:
    """The columns of a table, its keys marked unique when there is one."""
    spec = TABLES[table]
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                field.name,
                str(field.type),
                constraints=dg.TableColumnConstraints(
                    nullable=field.name not in spec.keys, unique=(field.name,) == spec.keys
                ),
            )
            for field in spec.schema
        ]
    )


def run_stage(context: dg.AssetExecutionContext, data: DataFolderResource, stage: Stage) -> MaterializedAndChecked:
    """Run a stage over the run's shards, and report each with its own data version and metadata.

    Dagster gives all partitions of a run the same data version. So each shard gets an event of its own after Dagster's:
    the last one counts.
    """
    total = ShardReport("all")
    events: list[dg.AssetMaterialization] = []
    checked: list[dg.AssetCheckEvaluation] = []
    looked: list[Results] = []
    costs: dict[str, float] = {}
    asset = context.asset_key.path[-1]
    for collection, shards in by_collection(context.partition_keys).items():
        timer, rows = Timer(), 0
        with work_of_run(context, data, collection, shards) as (work, deliver), spent(work, asset) as cost:
            for report in _by_shard(work, asset, shards, stage):
                deliver(report.shard)
                _add(total, report)
                events.append(_materialization(context, collection, report))
                shard_done(work, asset, report, failed_papers(work, report) if asset == "parsed_papers" else {})
                rows += report.rows.get(ASSET_TABLES[asset][0], 0)
            looked.append(look_at_shards(work, asset, shards))
            if len(context.partition_keys) > 1:  # Dagster itself says it of the one
                checked += check_events(asset, collection, looked[-1])
        asset_done(work, asset, timer.seconds, rows=rows, tokens=int(cost["tokens"]), cost_usd=cost["cost_usd"])
        costs = {name: costs.get(name, 0) + value for name, value in cost.items()}
    if total.failed:
        context.log.warning(f"{total.failed} papers could not be read: {total.failures}")
    done: Metadata = {"seconds": total.seconds, "papers_recomputed": total.recomputed}
    yield dg.MaterializeResult(metadata=done | {"failures": total.failures} | costs)
    yield from check_results(asset, looked)
    for event in (*events, *checked):
        context.log_event(event)


def _by_shard(work: Work, asset: str, shards: tuple[str, ...], stage: Stage) -> Iterator[ShardReport]:
    """The reports of a stage, a shard's as soon as the last of its buckets is made."""
    before, done = Used(), dict[str, list[ShardReport]]()
    for report in stage(work, shards):
        before = _charge(work, asset, report, before)
        shard = shard_of_bucket(report.shard)
        done.setdefault(shard, []).append(report)
        if len(done[shard]) == len(work.parts.buckets(shard)):
            yield together(work, asset, shard, done[shard])


@contextmanager
def spent(work: Work, asset: str) -> Iterator[dict[str, float]]:
    """Gives a report that is filled at the end with the asset's model usage inside: the cost part of its metadata."""
    before = _used(work, asset)
    report: dict[str, float] = {}
    try:
        yield report
    finally:
        work.close()
    after = _used(work, asset)
    for name in ("llm_calls", "cache_hits", "prompt_tokens", "completion_tokens", "cost_usd"):
        report[name] = getattr(after, name) - getattr(before, name)
    report["tokens"] = report["prompt_tokens"] + report["completion_tokens"]


def _used(work: Work, asset: str) -> Used:
    """The asset's model usage until now, from the ledger. Reads nothing where no model is set up."""
    return usage_of(work.data, CallFilter("asset", asset, collection=work.name)) if work.settings.models else Used()


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
    context: dg.AssetExecutionContext, collection: str, report: ShardReport
) -> dg.AssetMaterialization:
    code_version = context.assets_def.specs_by_key[context.asset_key].code_version or ""
    key = shard_key(collection, report.shard)
    return dg.AssetMaterialization(
        asset_key=context.asset_key,
        partition=key,
        metadata=shard_metadata(context.asset_key.path[-1], report),
        tags={
            "dagster/data_version": report.asset_version,
            "dagster/data_version_is_user_provided": "true",
            "dagster/code_version": code_version,
            **{f"dagster/input_data_version/{asset}": version for asset, version in report.inputs.items()},
            **{f"dagster/input_event_pointer/{asset}": "NULL" for asset in report.inputs},
            **{f"dagster/partition/{name}": value for name, value in key.keys_by_dimension.items()},
        },
    )


def shard_metadata(asset: str, report: ShardReport) -> Metadata:
    """Metadata of a shard for data engineers: rows, papers, time, and which papers were recomputed."""
    return {
        "dagster/row_count": report.rows.get(ASSET_TABLES[asset][0], 0),
        "papers_total": report.total,
        "papers_reused": report.reused,
        "papers_recomputed": report.recomputed,
        "papers_deleted": report.deleted,
        "papers_failed": report.failed,
        "seconds": round(report.seconds, 3),
        "tokens": report.tokens,
        "cost_usd": round(report.cost_usd, 6),
        "preview": dg.MetadataValue.md(_preview(report)),
        **report.notes,
    }


def _preview(report: ShardReport) -> str:
    """Counts and ids, but no text: the log outlives a purge."""
    lines = ["| table | rows |", "| --- | ---: |", *(f"| {name} | {rows} |" for name, rows in report.rows.items())]
    if report.recomputed_ids:
        lines += ["", f"Recomputed: {', '.join(f'`{paper_id}`' for paper_id in report.recomputed_ids[:20])}"]
    if report.failures:
        lines += ["", "Failed: " + ", ".join(f"{cause} {count}" for cause, count in report.failures.items())]
    return "\n".join(lines)
