"""Check `identical_to_rebuild`: shards that are computed again from scratch are identical to the existing ones.

Computing them takes as long as indexing them, so a separate job does it; a publish reports the last result again.
"""

from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
from pydantic import BaseModel, ValidationError

from monjyu_assets.orchestration.partitions import collections
from monjyu_assets.orchestration.reporting.table_metadata import Metadata
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.publishing.rebuild_comparison import compare_with_rebuild, sampled_shards
from monjyu_assets.stages.paper_manifest import changed_buckets, scan_manifest
from monjyu_assets.work.work import Timer, Work
from monjyu_core.storage.folders import write_atomically
from monjyu_core.storage.schemas import SHARDS
from monjyu_core.storage.snapshot import read_current


# Results of checks in jobs of ops are reported as events here, because Dagster does not report them.
def evaluation_of(partition: str, result: dg.AssetCheckResult) -> dg.AssetCheckEvaluation:
    """The result of a check of a snapshot as an event of its partition, for `context.log_event`."""
    return dg.AssetCheckEvaluation(
        asset_key=dg.AssetKey("index_snapshot"),
        check_name=result.check_name or "",
        passed=result.passed,
        severity=result.severity,
        description=result.description,
        metadata=result.metadata,
        partition=partition,
    )


SHOWN = 20
REBUILD_SPEC = dg.AssetCheckSpec(
    "identical_to_rebuild",
    asset="index_snapshot",
    description="Levels 0 and 1 of sampled shards, computed again from their files in an empty folder, equal the "
    "existing parts. The job verify_rebuild computes it; a publish reports the last result again.",
    partitions_def=collections,
)


class Rebuilt(BaseModel):
    """The result of a collection's last comparison: `rebuild.json` in its folder."""

    snapshot_id: str
    compared_at: str
    shards: list[str]
    papers: int
    parts: int
    different: list[str]
    seconds: float


class RebuildConfig(dg.Config):
    """The launch form of the job verify_rebuild."""

    shards: int = 1
    """The number of shards to compute again, 1 to 16. Different snapshots sample different shards; 16 also compares the
    tables of the whole collection."""


def rebuild_result(work: Work) -> dg.AssetCheckResult:
    """The last result of the check; it passes if nothing has been compared."""
    found = _last(work)
    if found is None:
        said = "Nothing has been compared yet. Run the job verify_rebuild."
        return dg.AssetCheckResult(check_name=REBUILD_SPEC.name, passed=True, description=said)
    return _result(found)


def _result(found: Rebuilt) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        check_name=REBUILD_SPEC.name, passed=not found.different, description=_summary(found), metadata=_metadata(found)
    )


@dg.op(tags={"kind": "verify"}, description="Compute shards of a collection again from nothing, and compare.")
def compare_shards(context: dg.OpExecutionContext, data: DataFolderResource, config: RebuildConfig) -> None:
    name, timer = context.partition_key, Timer()
    work = data.work(name, context.log, context.run_id)
    current = read_current(work.folder)
    if current is None or changed_buckets(work, scan_manifest(work, allow_deletes=True)):
        why = "its sources have changed" if current else "nothing is published"
        raise dg.Failure(f"{name} cannot be compared: {why}. Index it first (job level_N).", allow_retries=False)
    shards = SHARDS if config.shards >= len(SHARDS) else sampled_shards(work, config.shards, current)
    compared = compare_with_rebuild(work, shards, work.data.state / "rebuild" / name)
    found = Rebuilt(
        snapshot_id=current,
        compared_at=datetime.now(UTC).isoformat(timespec="seconds"),
        shards=list(compared.shards),
        papers=compared.papers,
        parts=compared.parts,
        different=compared.different,
        seconds=round(timer.seconds, 3),
    )
    write_atomically(_path(work), found.model_dump_json(indent=1).encode())
    context.log_event(evaluation_of(name, _result(found)))  # type: ignore[arg-type]  # it takes these, too
    context.add_output_metadata(_metadata(found))
    if found.different:
        raise dg.Failure(_summary(found), metadata=_metadata(found), allow_retries=False)


@dg.job(
    partitions_def=collections,
    config=dg.RunConfig(ops={"compare_shards": RebuildConfig(shards=len(SHARDS))}),
    description="Compute levels 0 and 1 of a collection again from its files, in an empty folder, and compare them "
    "with the existing parts: the check identical_to_rebuild. It takes as long as indexing from scratch; limit "
    "`shards` in the form to check a sample.",
)
def verify_rebuild() -> None:
    compare_shards()


def _path(work: Work) -> Path:
    return work.folder.root / "rebuild.json"


def _last(work: Work) -> Rebuilt | None:
    try:
        return Rebuilt.model_validate_json(_path(work).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def _summary(found: Rebuilt) -> str:
    outcome = f"{len(found.different)} of {found.parts} parts differ" if found.different else "all parts are equal"
    of = f"{found.papers} papers of {len(found.shards)} shards"
    return f"{of} were computed again on {found.compared_at[:10]} (snapshot {found.snapshot_id}): {outcome}."


def _metadata(found: Rebuilt) -> Metadata:
    return {
        "papers": found.papers,
        "parts": found.parts,
        "different": len(found.different),
        "parts_that_differ": ", ".join(found.different[:SHOWN]) or "none",
        "shards": ", ".join(found.shards),
        "compared_snapshot": found.snapshot_id,
        "seconds": found.seconds,
    }
