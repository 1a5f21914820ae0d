"""Check `identical_to_rebuild`: shards that are computed again from nothing come out as they stand."""

import dagster as dg

from monjyu_assets.maintenance.rebuild_comparison import compare_with_rebuild, sampled_shards
from monjyu_assets.orchestration.automation.watching import watch_collection
from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.stages.shared.work import Timer
from monjyu_core.storage.schemas import SHARDS
from monjyu_core.storage.snapshot import read_current

SHOWN = 20


class RebuildConfig(dg.Config):
    """How much is computed again: so many shards, chosen anew for each snapshot (16: all, and the whole collection's
    tables)."""

    shards: int = 1


@dg.asset_check(
    asset="index_snapshot",
    name="identical_to_rebuild",
    partitions_def=collections,
    description="Levels 0 and 1 of sampled shards, computed again from their files in an empty folder, equal what "
    "stands. It runs by itself or in the job verify_rebuild, not with each publication.",
)
def identical_to_rebuild(
    context: dg.AssetCheckExecutionContext, data: DataFolderResource, config: RebuildConfig
) -> dg.AssetCheckResult:
    name, timer = context.op_execution_context.partition_key, Timer()
    work = data.work(name, context.log, context.run.run_id)
    seen = watch_collection(work.data, name)
    if seen.state != "same":
        raise dg.Failure(
            f"{name} cannot be compared: {seen.message or seen.state}. Bring it to its sources first (job reindex).",
            allow_retries=False,
        )
    shards = sampled_shards(work, config.shards, read_current(work.folder) or "") if config.shards < 16 else SHARDS
    found = compare_with_rebuild(work, shards, work.data.state / "rebuild" / name)
    same = not found.different
    return dg.AssetCheckResult(
        passed=same,
        severity=dg.AssetCheckSeverity.ERROR,
        description=f"{found.papers} papers of {len(found.shards)} shards computed again: "
        + ("all equal." if same else f"{len(found.different)} of {found.parts} parts differ."),
        metadata={
            "papers": found.papers,
            "parts": found.parts,
            "different": len(found.different),
            "parts_that_differ": ", ".join(found.different[:SHOWN]) or "none",
            "shards": ", ".join(found.shards),
            "seconds": round(timer.seconds, 3),
        },
    )


verify_rebuild = dg.define_asset_job(
    "verify_rebuild",
    dg.AssetSelection.checks(identical_to_rebuild),
    partitions_def=collections,
    config={"ops": {"index_snapshot_identical_to_rebuild": {"config": {"shards": len(SHARDS)}}}},
    description="Compute levels 0 and 1 of a whole collection again from its files, in an empty folder, and compare "
    "with what stands: takes as long as indexing it from nothing. `shards` in the form takes a sample.",
)
