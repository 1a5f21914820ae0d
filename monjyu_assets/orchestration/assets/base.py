"""Code of all assets: the arguments of `@dg.asset`, and the locking and reporting of a run over a collection."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import dagster as dg
from dagster._core.events import DagsterEventType

from monjyu_assets.orchestration.checks.paper_checks import PAPER_CHECKS, check_papers, check_specs
from monjyu_assets.orchestration.instance import owners
from monjyu_assets.orchestration.partitions import assets_of_run, collections
from monjyu_assets.orchestration.reporting.lineage_events import failure_reported
from monjyu_assets.orchestration.reporting.run_log import (
    Parts,
    asset_done,
    describe_asset,
    describe_papers,
    failed_papers,
    papers_done,
    parts_of,
)
from monjyu_assets.orchestration.reporting.table_metadata import Metadata, causes_first, described, place_of, preview
from monjyu_assets.orchestration.resources import IO_MANAGER, BuildOptions, DataFolderResource
from monjyu_assets.orchestration.workers.distributing import share_with_workers
from monjyu_assets.stages.shared.collection_stage import CollectionReport
from monjyu_assets.work.closed_set import RESTS_ON, asset_version, check_inputs, level_of, too_many_failed
from monjyu_assets.work.work import ShardReport, Timer, Work, together
from monjyu_core.models.ledger_totals import CallFilter, Used, usage_of
from monjyu_core.storage.schemas import ASSET_TABLES, COLLECTION_SHARD, LEVEL_NAMES, SHARDS, TABLES
from monjyu_core.values import Values

COMPUTED = "computed_"
"""The prefix of metadata about the last computation, which a run without changes copies from the previous event."""
MAX_IDS = 20
"""The maximum number of papers named in the metadata."""
Stage = Callable[[Work, tuple[str, ...]], Iterable[ShardReport]]
Materialized: TypeAlias = dg.MaterializeResult[Any]
"""Assets pass no values to each other: their output is in the data folder."""
MaterializedAndChecked: TypeAlias = Iterator[dg.AssetCheckResult | Materialized]


def asset_arguments(asset: str, code_version: str, kinds: set[str]) -> Values:
    """The arguments of `@dg.asset` shared by all assets of levels 0 to 4."""
    level = TABLES[ASSET_TABLES[asset][0]].level
    note = (
        f"Materialising this asset alone publishes nothing: run the job level_{level}, or materialise index_snapshot "
        "afterwards."
    )
    return {
        "name": asset,
        "partitions_def": collections,
        "group_name": LEVEL_NAMES[level],
        "code_version": code_version,
        "kinds": kinds,
        "owners": owners(),
        "tags": {"monjyu/level": str(level)},
        "pool": asset,
        "io_manager_key": IO_MANAGER,
        "metadata": described(asset) | {"published": note},
    }


def paper_asset_arguments(asset: str, code_version: str, kinds: set[str]) -> Values:
    """The arguments of `@dg.asset` for an asset with results by paper."""
    return asset_arguments(asset, code_version, kinds) | {
        "check_specs": check_specs(asset, PAPER_CHECKS.get(asset, {})) or None
    }


@dataclass
class AssetRun:
    """One asset of a run, with the parts that it had before."""

    context: dg.AssetExecutionContext
    work: Work
    timer: Timer = field(default_factory=Timer)
    parts_before: Parts = field(init=False)

    def __post_init__(self) -> None:
        self.parts_before = self.parts() if self.asset in RESTS_ON else {}

    @property
    def asset(self) -> str:
        return str(self.context.asset_key.path[-1])

    def parts(self) -> Parts:
        """The asset's current primary parts by bucket."""
        by_paper = TABLES[ASSET_TABLES[self.asset][0]].by_shard
        return parts_of(self.work, self.asset, self.work.parts.all_buckets() if by_paper else [COLLECTION_SHARD])

    def code_versions(self) -> tuple[str | None, str]:
        """The asset's code version in the partition's last event, and the current one."""
        key, partition = self.context.asset_key, self.context.partition_key
        record = self.context.instance.get_latest_data_version_record(key, partition_key=partition)
        event = record.asset_materialization if record else None
        before = (event.tags or {}).get("dagster/code_version") if event else None
        return before, self.context.assets_def.specs_by_key[key].code_version or ""

    def materialized(self, report: CollectionReport, metadata: Metadata, **costs: float) -> Materialized:
        """The event of an asset of the whole collection. `costs` are the usage of models by this computation."""
        seconds, name = round(self.timer.seconds, 3), f"{self.asset} of {self.work.name}"
        asset_done(self.work, self.asset, seconds, rows=report.part.rows)
        before = self.parts_before.get(COLLECTION_SHARD)
        said = describe_asset(name, before, report.part, report.recomputed, self.code_versions())
        self.context.log.info(said)
        rows = table_rows(self.work, self.asset)
        common: Metadata = {"recomputed": report.recomputed, **costs}
        computed = self.computed(seconds, report.recomputed, **_cost(costs))
        return dg.MaterializeResult(
            data_version=dg.DataVersion(report.part.asset_version),
            metadata=metadata | common | self._of_tables(rows, seconds) | computed,
        )

    def papers_materialized(
        self, reports: Sequence[ShardReport], costs: dict[str, float], more: Metadata
    ) -> Materialized:
        """The event of an asset with results by paper."""
        total, seconds = together(reports), round(self.timer.seconds, 3)
        tokens, cost = int(costs.get("tokens", 0)), round(costs.get("cost_usd", 0.0), 6)
        rows = table_rows(self.work, self.asset)
        asset_done(self.work, self.asset, seconds, rows=rows[ASSET_TABLES[self.asset][0]], tokens=tokens, cost_usd=cost)
        said = describe_papers(
            f"{self.asset} of {self.work.name}", reports, self.parts_before, self.parts(), self.code_versions()
        )
        self.context.log.info(said)
        if total.failed:
            self.context.log.warning(f"{total.failed} papers have failures: {total.failures}")
        counted: Metadata = {
            "papers_total": total.total,
            "papers_reused": total.reused,
            "papers_recomputed": total.recomputed,
            "papers_deleted": total.deleted,
            "papers_failed": total.failed,
            **costs,
        }
        if total.failures:
            counted["failures"] = dg.MetadataValue.json(total.failures)
        if total.recomputed_ids:
            counted["recomputed"] = ", ".join(total.recomputed_ids[:MAX_IDS])
        changed = bool(total.recomputed or total.deleted)
        computed = self.computed(seconds, changed, papers=total.recomputed, **_cost(costs))
        version = asset_version(self.work.parts, self.asset, COLLECTION_SHARD) or ""
        return dg.MaterializeResult(
            data_version=dg.DataVersion(version),
            metadata=counted | more | self._of_tables(rows, seconds) | computed,
        )

    def held_back(self, level: int) -> Materialized | None:
        """The event of an asset of level 3 or 4 that is not built because too much of a lower level failed: it would
        have to be paid for again. None if it may be built."""
        if level < 3 or not any(
            too_many_failed(self.work.parts, one, self.work.settings.levels.max_failed_share) for one in range(2, level)
        ):
            return None
        why = "Too much of a lower level failed, so this level is not built: see the failures of the lower levels."
        self.context.log.warning(why)
        version = asset_version(self.work.parts, self.asset, COLLECTION_SHARD) or "none"
        return dg.MaterializeResult(data_version=dg.DataVersion(version), metadata={"held_back": why})

    def _of_tables(self, rows: dict[str, int], seconds: float) -> Metadata:
        table = ASSET_TABLES[self.asset][0]
        return {
            "dagster/row_count": rows.get(table, 0),
            "dagster/partition_row_count": rows.get(table, 0),
            **place_of(self.work, table),
            "seconds": seconds,
            "rows": dg.MetadataValue.json(rows),
            "preview": preview(self.work, self.asset),
        }

    def computed(self, seconds: float, recomputed: bool, **more: float) -> Metadata:
        """The duration (seconds), time and run of the last computation: this run's if it computed something, otherwise
        the previous event's."""
        if recomputed:
            return {
                f"{COMPUTED}seconds": round(seconds, 3),
                f"{COMPUTED}at": dg.MetadataValue.timestamp(time.time()),
                f"{COMPUTED}by": dg.MetadataValue.dagster_run(self.context.run.run_id),
                **{f"{COMPUTED}{name}": value for name, value in more.items()},
            }
        key, partition = self.context.asset_key, self.context.partition_key
        event_type = DagsterEventType.ASSET_MATERIALIZATION
        newest = self.context.instance.get_latest_storage_id_by_partition(key, event_type, {partition})
        if not newest:
            return {}
        wanted = dg.AssetRecordsFilter(asset_key=key, storage_ids=list(newest.values()))
        records = self.context.instance.fetch_materializations(wanted, limit=1).records
        event = records[0].asset_materialization if records else None
        return {name: value for name, value in event.metadata.items() if name.startswith(COMPUTED)} if event else {}


def table_rows(work: Work, asset: str) -> dict[str, int]:
    """The number of rows of each of the asset's tables, over all buckets."""
    return {name: sum(part.rows for part in work.parts.heads(name)) for name in ASSET_TABLES[asset]}


@contextmanager
def asset_run(context: dg.AssetExecutionContext, data: DataFolderResource, build: BuildOptions) -> Iterator[AssetRun]:
    """A context for the work of one asset on the run's collection, under its lock. Its MonjyuErrors end the run with
    their message."""
    with causes_first():
        build.begin(context)
        work, asset = data.work(context.partition_key, context.log, context.run.run_id), context.asset_key.path[-1]
        with failure_reported(work, asset):
            if asset in RESTS_ON:
                check_inputs(work.parts, asset, work.name)
            yield AssetRun(context, work)
        if asset in RESTS_ON:
            _note_on_publishing(context, level_of(asset))


def run_stage(
    context: dg.AssetExecutionContext,
    data: DataFolderResource,
    build: BuildOptions,
    stage: Stage,
    more: Callable[[Work], Metadata] = lambda work: {},
) -> MaterializedAndChecked:
    """Run a stage over the collection's papers, reusing unchanged results; yield its event and its checks' results."""
    with asset_run(context, data, build) as run, model_usage(run.work, run.asset) as usage:
        if held_back := run.held_back(level_of(run.asset)):
            yield held_back
            yield from check_papers(run.work, run.asset, {})
            return
        share_with_workers(context, run.work, run.asset)
        reports = list(stage(run.work, tuple(SHARDS)))
        papers_done(run.work, run.asset, reports, failed_papers(run.work, run.asset, reports))
        changed = {bucket: part for bucket, part in run.parts().items() if run.parts_before.get(bucket) != part}
        checks = list(check_papers(run.work, run.asset, changed))
    with causes_first():
        yield run.papers_materialized(reports, usage, more(run.work))
    yield from checks


@contextmanager
def model_usage(work: Work, asset: str) -> Iterator[dict[str, float]]:
    """A context that yields a report, which at the end contains the asset's model usage inside the context. It stays
    empty if no model is set up, or none was called."""
    before = _used(work, asset)
    report: dict[str, float] = {}
    try:
        yield report
    finally:
        work.close()
    if not work.settings.models:
        return
    after = _used(work, asset)
    for name in ("llm_calls", "cache_hits", "prompt_tokens", "completion_tokens", "cost_usd"):
        report[name] = getattr(after, name) - getattr(before, name)
    if not any(report.values()):
        return report.clear()
    report["tokens"] = report["prompt_tokens"] + report["completion_tokens"]


def _cost(costs: Mapping[str, float]) -> dict[str, float]:
    return {"cost_usd": costs["cost_usd"]} if costs.get("cost_usd") else {}


def _used(work: Work, asset: str) -> Used:
    """The asset's model usage so far, from the ledger. Reads nothing if no model is set up."""
    return usage_of(work.data, CallFilter("asset", asset, collection=work.name)) if work.settings.models else Used()


def _note_on_publishing(context: dg.AssetExecutionContext, level: int) -> None:
    """Warn, after the last asset of a run without `index_snapshot`, that the run publishes nothing."""
    selected = assets_of_run(context)
    last = [name for name in RESTS_ON if dg.AssetKey(name) in selected][-1:]
    if context.asset_key.path == last and dg.AssetKey("index_snapshot") not in selected:
        context.log.warning(
            "This run publishes nothing: readers keep the snapshot they have. "
            f"The job level_{level} builds what is missing and publishes; to publish what is there, materialise "
            "index_snapshot."
        )
