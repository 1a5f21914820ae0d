"""Dagster runs in this process, on the same instance that the UI and the daemon use."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.errors import DagsterExecutionInterruptedError
from dagster._core.execution.api import execute_run
from dagster._core.remote_origin import RemoteRepositoryOrigin
from dagster._core.storage.tags import PARTITION_NAME_TAG
from dagster._core.utils import make_new_run_id

from monjyu_assets.indexing.record_keeping import changing_record
from monjyu_assets.indexing.staleness import stale_collection_assets, stale_level
from monjyu_assets.orchestration.assets.index_snapshot import PAPER_ASSETS_BY_LEVEL
from monjyu_assets.orchestration.assets.paper_manifest import ALLOW_DELETES_TAG
from monjyu_assets.orchestration.code_location import repository_origin
from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.orchestration.jobs import levels
from monjyu_assets.orchestration.partitions import collections, range_tags, remove_collection
from monjyu_assets.orchestration.progress import reporting_to
from monjyu_assets.orchestration.run_tags import (
    COMMAND_TAG,
    QUIET,
    STARTED_BY_TAG,
    UNFINISHED,
    command_tags,
    is_commands_own,
)
from monjyu_assets.orchestration.sqlite_engines import lasting_engines
from monjyu_assets.orchestration.workers.distributing import goes_to_workers, papers_on_workers
from monjyu_assets.orchestration.workers.order_taken import ORDER_TAG
from monjyu_assets.publishing.closed_set import too_many_failed
from monjyu_assets.stages.shared.run_rules import spending_of, trying_again
from monjyu_assets.stages.shared.work import Work
from monjyu_core.errors import IndexBuildError, MonjyuError, StorageError
from monjyu_core.models.accounting.caps import SpendingCap
from monjyu_core.observability import set_up_observability
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import read_current
from monjyu_core.telemetry import span

NO_ROOM = 16 << 20
"""Bytes. A run that failed with less free space failed for lack of room (a DuckDB file alone starts at some MB)."""


@dataclass(frozen=True)
class Plan:
    """What to run: the highest level, the changed shards by level (0 and 1), and whether to retry what models could not
    do."""

    level: int
    shards: Mapping[int, Sequence[str]]
    again: bool = False


def run_levels(work: Work, plan: Plan, *, allow_deletes: bool, cap: SpendingCap | None = None) -> None:
    """Run the jobs of a collection, in order: each level's papers over its shards, then the collection's.

    Dagster takes one range of partitions a run and stores some events for each, so the range is as short as possible. A
    collection's job includes the levels below, so that one snapshot is published of all. Where too many parts of a
    level failed, the run ends there: higher levels would cost money and be made again.
    """
    set_up_observability(work.settings)
    watched = span("index", collection=work.name, level=plan.level)
    work.progress("start", 1, 1)
    with (
        _told_by_cause(work.data),
        lasting_engines(),
        open_instance(work.data) as instance,
        reporting_to(work.progress, work.warn),
        spending_of(cap),
        watched,
    ):
        end_dead_runs(instance, work.name)
        work.folder.at_work.touch()
        with _partition(instance, work):
            reached = _run_up_to(instance, work, plan, allow_deletes=allow_deletes)
            work.progress("publish", 0, 0)
            with trying_again(False):  # every failure has just been retried
                run_job(instance, f"step_level_{reached}_collection", work, {PARTITION_NAME_TAG: work.name})
        work.folder.at_work.unlink(missing_ok=True)


@contextmanager
def _partition(instance: dg.DagsterInstance, work: Work) -> Iterator[None]:
    """Inside, the collection is a partition, and stays one if it is published: a failed first run leaves none."""
    known = instance.has_dynamic_partition(str(collections.name), work.name)
    if not known:
        instance.add_dynamic_partitions(str(collections.name), [work.name])
    try:
        yield
    except BaseException:
        if not known and read_current(work.folder) is None:
            with suppress(Exception):  # a full disk stops this, too: the first error is the one to report
                instance.delete_dynamic_partition(str(collections.name), work.name)
        raise


def end_killed(work: Work) -> None:
    """End the runs of a command that was killed after all its work was done, when nothing is left to run."""
    with open_instance(work.data) as instance:
        end_dead_runs(instance, work.name)
    work.folder.at_work.unlink(missing_ok=True)


def _run_up_to(instance: dg.DagsterInstance, work: Work, plan: Plan, *, allow_deletes: bool) -> int:
    """Run everything but the publishing, and return the level reached."""
    more = {ALLOW_DELETES_TAG: "true"} if allow_deletes else {}

    def run_here(job: str, assets: Sequence[str], shards: Sequence[str]) -> None:
        run_job(instance, job, work, range_tags(work.name, min(shards), max(shards)) | more, assets)

    lower = {level: shards for level in range(min(plan.level, 1) + 1) if (shards := plan.shards.get(level))}
    if lower and goes_to_workers(work.settings):
        papers_on_workers(instance, work, lower, run_here, _repository(instance, work))
    else:
        for level, shards in lower.items():
            run_here(f"step_level_{level}_papers", (), shards)
    with changing_record(work):  # the first chunks have settled the embedding model
        pass
    for level in range(2, plan.level + 1):
        if level == 2:  # its shards rest on the collection's noun graph
            _run_collection(instance, work, 1, again=False)
        shards = stale_level(work, level, again=plan.again)
        if shards and PAPER_ASSETS_BY_LEVEL[level]:
            run_job(instance, f"step_level_{level}_papers", work, range_tags(work.name, min(shards), max(shards)))
        if not PAPER_ASSETS_BY_LEVEL[level]:
            _run_collection(instance, work, level, again=plan.again)
        if too_many_failed(work.parts, level, work.settings.levels.max_failed_share):
            return level - 1
    return plan.level


def _run_collection(instance: dg.DagsterInstance, work: Work, level: int, *, again: bool) -> None:
    """Make the collection's assets up to a level without publishing; does nothing where they are up to date."""
    if not stale_collection_assets(work, level, again=again):
        return
    with trying_again(again):
        run_job(instance, f"step_level_{level}_tables", work, {PARTITION_NAME_TAG: work.name})


def end_dead_runs(instance: dg.DagsterInstance, collection: str) -> None:
    """Mark runs of killed commands as failed.

    A command holds its collection's index lock while it runs, and we hold it now: any run that still counts as running
    is dead.
    """
    marked = dg.RunsFilter(tags={COMMAND_TAG: collection}, statuses=UNFINISHED)
    for run in filter(is_commands_own, instance.get_runs(marked)):
        instance.report_run_failed(run, "The command that ran it was killed; what it had written is kept.")
        if ORDER_TAG in run.tags:
            with suppress(Exception):  # its worker may be gone, or the launcher knows it no more
                instance.run_launcher.terminate(run.run_id)


def forget_collection(data: DataFolder, name: str) -> bool:
    """Remove a collection from the partitions; False where it was none."""
    with open_instance(data) as instance:
        return remove_collection(instance, name)


def run_job(
    instance: dg.DagsterInstance, job: str, work: Work, tags: Mapping[str, str], assets: Sequence[str] = ()
) -> None:
    """Run a job, or only these assets of it, in this process. The error that stopped it is raised unchanged if it is
    ours, anything else as IndexBuildError.

    The run belongs to the job as the UI loads it (same definition, code location and configuration), so it appears in
    the job's history and can be re-executed there.
    """
    definition, run_id = levels.resolve_job_def(job), make_new_run_id()
    selection = frozenset(map(dg.AssetKey, assets)) or None
    if selection:
        definition = definition.get_subset(asset_selection=set(selection))
    marks = {**command_tags(work.name, run_id), **work.run_tags}
    run = instance.create_run_for_job(
        definition,
        run_id=run_id,
        run_config=_run_config(instance, work.data),
        tags={**definition.run_tags, **tags, **marks},
        asset_selection=selection,
        remote_job_origin=_repository(instance, work).get_job_origin(job),
    )
    try:
        execute_run(InMemoryJob(definition), run, instance, raise_on_error=True)
    except DagsterExecutionInterruptedError as interrupt:
        raise KeyboardInterrupt from interrupt
    except Exception as error:
        raise _cause(error, work.data) from error


def _run_config(instance: dg.DagsterInstance, data: DataFolder) -> Mapping[str, object]:
    """Names the data folder, unless instance and environment already do: then both may move."""
    if Path(instance.root_directory) == data.dagster and data.root == DataFolder.default().root:
        return QUIET
    return QUIET | {"resources": {"data": {"config": {"root": str(data.root)}}}}


def _repository(instance: dg.DagsterInstance, work: Work) -> RemoteRepositoryOrigin:
    """The repository of the `reindex` run that makes the run, whatever location loaded it; else the settings' one."""
    parent = instance.get_run_by_id(work.run_tags.get(STARTED_BY_TAG, ""))
    origin = parent.remote_job_origin if parent else None
    return origin.repository_origin if origin else repository_origin()


@contextmanager
def _told_by_cause(data: DataFolder) -> Iterator[None]:
    """What fails around the runs, in Dagster's own files, is told like what fails in one."""
    try:
        yield
    except MonjyuError:
        raise
    except Exception as error:
        raise _cause(error, data) from error


def _cause(error: BaseException, data: DataFolder) -> MonjyuError:
    """The MonjyuError inside Dagster's wrapping. Libraries word a full disk in many ways, so the disk itself is
    checked."""
    free = shutil.disk_usage(data.root).free
    if free < NO_ROOM:
        return StorageError(
            f"The disk of {data.root} is full ({free >> 20} MB free). What is published stays as it was.",
            "Make room and run the same command again; it goes on where it stopped.",
        )
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, MonjyuError):
            return inner
        inner = inner.__cause__
    return IndexBuildError(f"The run failed: {error}.", "Its log is in the Dagster UI (`monjyu up`).")
