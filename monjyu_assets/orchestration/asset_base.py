"""What assets share: their arguments, what a run spent, and how a run of a whole collection reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import dagster as dg

from monjyu_assets.orchestration.asset_telemetry import asset_done
from monjyu_assets.orchestration.automation.conditions import collection_condition, shard_condition
from monjyu_assets.orchestration.checks.shard_checks import (
    shard_check_specs,
)
from monjyu_assets.orchestration.code_location import owners
from monjyu_assets.orchestration.lineage.lineage_events import failure_reported
from monjyu_assets.orchestration.partitions import collections, papers
from monjyu_assets.orchestration.resources import IO_MANAGER, DataFolderResource
from monjyu_assets.orchestration.results import Metadata
from monjyu_assets.orchestration.telling.computed import computed_before, computed_now
from monjyu_assets.orchestration.telling.failing import causes_first
from monjyu_assets.orchestration.telling.previews import preview
from monjyu_assets.orchestration.telling.publishing_note import note_on_publishing, published_by
from monjyu_assets.orchestration.telling.reasons import Parts, code_before, collection_told, parts_of
from monjyu_assets.orchestration.telling.table_metadata import described, place_of, rows_by_table
from monjyu_assets.publishing.closed_set import RESTS_ON, check_inputs
from monjyu_assets.stages.shared.collection_stage import CollectionReport
from monjyu_assets.stages.shared.work import Timer, Work, level_of, table_rows
from monjyu_core.models.accounting.ledger_totals import CallFilter, Used, usage_of
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, LEVEL_NAMES, TABLES


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
        "owners": owners(),
        "tags": {"monjyu/level": str(level)},
        "pool": asset,
        "io_manager_key": IO_MANAGER,
        "automation_condition": None if asset == "paper_manifest" else shard_condition(level),
        "check_specs": shard_check_specs(asset) or None,
        "metadata": described(asset) | {"published": published_by(level)},
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


@dataclass
class CollectionRun:
    """One run of an asset of a whole collection."""

    context: dg.AssetExecutionContext
    work: Work
    timer: Timer = field(default_factory=Timer)
    before: Parts = field(init=False)

    def __post_init__(self) -> None:
        asset = self.context.asset_key.path[-1]
        self.before = parts_of(self.work, asset, [COLLECTION_SHARD]) if asset in RESTS_ON else {}

    def metadata(self, report: CollectionReport, **costs: float) -> Metadata:
        """Metadata for data engineers: rows by table, time, and what the last computation took. Also reports the asset
        to logs and telemetry. `costs` are numbers of this run that a computation keeps, too."""
        asset, seconds = self.context.asset_key.path[-1], round(self.timer.seconds, 3)
        asset_done(self.work, asset, seconds, rows=report.part.rows)
        rows = table_rows(self.work.parts, asset, COLLECTION_SHARD)
        before, name = self.before.get(COLLECTION_SHARD), f"{asset} of {self.work.name}"
        code = code_versions(self.context, self.context.partition_key)
        self.context.log.info(collection_told(name, before, report.part, report.recomputed, code))
        return {
            "dagster/row_count": report.part.rows,
            "dagster/partition_row_count": report.part.rows,
            **place_of(self.work, ASSET_TABLES[asset][0]),
            "recomputed": report.recomputed,
            "seconds": seconds,
            "tokens": 0,
            "cost_usd": 0.0,
            "rows": rows_by_table(rows),
            "preview": preview(self.work, asset),
            **costs,
            **self.computed(seconds, costs.get("cost_usd", 0.0), anew=report.recomputed),
        }

    def computed(self, seconds: float, cost_usd: float = 0.0, *, anew: bool) -> Metadata:
        """What the last computation took: this run's if it computed anew, else what the event before says of it."""
        if anew:
            return computed_now(self.context, seconds, cost_usd=cost_usd)
        key = self.context.partition_key
        return computed_before(self.context, [key]).get(key, {})


@contextmanager
def collection_run(context: dg.AssetExecutionContext, data: DataFolderResource) -> Iterator[CollectionRun]:
    """The work of an asset of a whole collection: errors of ours end it by their words."""
    with causes_first():
        work, asset = data.work(context.partition_key, context.log, context.run.run_id), context.asset_key.path[-1]
        with failure_reported(work, asset):
            if asset in RESTS_ON:
                check_inputs(work.parts, asset, work.name)
            yield CollectionRun(context, work)
        if asset in RESTS_ON:
            note_on_publishing(context, level_of(asset))


def code_versions(context: dg.AssetExecutionContext, partition: str) -> tuple[str | None, str]:
    """The asset's code versions: that of the partition's last event, and today's."""
    return code_before(context, partition), context.assets_def.specs_by_key[context.asset_key].code_version or ""


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
