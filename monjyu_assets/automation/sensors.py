"""Sensor `watch_sources` and schedule `nightly`, which check the sources of all collections and start one run for each
collection that changed."""

import re
import time
from collections.abc import Iterator

import dagster as dg
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher

from monjyu_assets.orchestration.assets.index_snapshot import index_snapshot
from monjyu_assets.orchestration.jobs import LEVEL_JOBS, assets_up_to
from monjyu_assets.orchestration.partitions import (
    CHANGE_TAG,
    COLLECTION_TAG,
    ORDER_TAG,
    UNFINISHED,
    add_collections,
    is_commands_own,
)
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.watching import Watched, is_being_indexed, watch_collection, watched_collections
from monjyu_assets.work.closed_set import HIGHEST
from monjyu_core.settings.operations import AutomationSettings
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import DataFolder, alive
from monjyu_core.storage.snapshot import read_current
from monjyu_core.storage.state_store import StateStore

# Runs whose process has ended without a report are detected here, because nothing else does, and they would fill the
# queue. A command's run has its collection's index lock, which the kernel releases with the process: if such a run
# counts as started while the lock is free, its process has ended. For other runs, Dagster's default launcher records
# the process, which is on the machine of the code server that evaluates this sensor.
SUSPECTS = ("automation", "runs without their lock")
PROCESS = re.compile(r"Started process for run \(pid: (\d+)\)")
GRACE_SECONDS = 60.0
"""The seconds for which a run without a lock is not ended, because it may not have its lock yet, or may have released
it shortly before it is reported as finished."""


def end_orphans(instance: dg.DagsterInstance, data: DataFolder, grace: float = GRACE_SECONDS) -> list[str]:
    """Mark runs that have had no process for `grace` seconds as failed, and return their ids.

    The state store remembers since when, because a sensor loses its cursor with every tick that fails.
    """
    store, now = StateStore(data.state), time.time()
    before: dict[str, float] = store.get(*SUSPECTS) or {}
    suspects, ended = {}, []
    for run in instance.get_runs(dg.RunsFilter(statuses=UNFINISHED)):
        if not _seems_dead(instance, data, run):
            continue
        if run.run_id in before and now - before[run.run_id] >= grace:
            instance.report_run_failed(run, "Its process has ended. The files that it wrote are kept.")
            ended.append(run.run_id)
        else:
            suspects[run.run_id] = min(before.get(run.run_id, now), now)  # a clock may have been set back
    if suspects != before:
        store.put(*SUSPECTS, suspects)
    return ended


def _seems_dead(instance: dg.DagsterInstance, data: DataFolder, run: dg.DagsterRun) -> bool:
    if is_commands_own(run):
        return not is_being_indexed(data.collection(run.tags[COLLECTION_TAG]))
    process = _process(instance, run)
    return process is not None and not alive(process)


def _process(instance: dg.DagsterInstance, run: dg.DagsterRun) -> int | None:
    """The process id of a run; None if the default launcher did not start it, or has not recorded it."""
    if not isinstance(instance.run_launcher, DefaultRunLauncher) or run.status != dg.DagsterRunStatus.STARTED:
        return None
    noted = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT, limit=20).records
    matches = (PROCESS.match(record.event_log_entry.message) for record in noted)
    return next((int(match[1]) for match in matches if match), None)


RECENT = 50
"""The number of a collection's recent runs among which the last build is searched. The others are runs of its run
workers."""
# No Markdown here, because the pages of sensors and schedules show plain text.
DESCRIPTION = """Checks the sources of every collection for new, changed, moved and deleted files, other settings and
other code, and papers/ for new folders, each of which becomes a collection. If something changed, it starts one run of
the job of the collection's level; a new collection is published at level 0 first. Each change is tried once: if its
run fails or is cancelled, the collection waits for another change, the schedule nightly or you. If a source cannot be
read, or more papers are missing than publish.delete_share allows, the tick fails with the reason and the collection is
not changed; the other collections are still updated. Levels 0 and 1 call no chat model. Higher levels are updated if
they were built before and are free, or if automation.auto_refresh_levels names them. Off until 'monjyu automation on'
or the switch here."""


@dg.sensor(
    name="watch_sources",
    jobs=LEVEL_JOBS,
    minimum_interval_seconds=load_settings().automation.interval_seconds,
    default_status=dg.DefaultSensorStatus.STOPPED,
    description=DESCRIPTION,
)
def watch_sources(context: dg.SensorEvaluationContext, data: DataFolderResource) -> dg.SensorResult | dg.SkipReason:
    folder = data.folder()
    for run_id in end_orphans(context.instance, folder):
        context.log.warning(f"Run {run_id} no longer had a process and was marked as failed.")
    seen: list[Watched] = []
    requests: list[dg.RunRequest] = []
    for watched in (watch_collection(folder, name) for name in watched_collections(folder)):
        last = _last_build(context.instance, watched.name)
        found = _unless_tried(context.instance, folder, watched, last)
        seen.append(found)
        if found.state == "changed":
            # A sensor never repeats a run key, so it contains the previous run: the same state may occur again later.
            requests.append(build_request(folder, found, f"{found.key}-{last.run_id[:8] if last else 'first'}"))
        if found.message:
            context.log.info(f"{found.name}: {found.state}: {found.message}")
    if requests:
        add_collections(context.instance, [str(request.partition_key) for request in requests])
        return dg.SensorResult(run_requests=requests)
    stopped = [watched for watched in seen if watched.state == "stopped"]
    if stopped:
        raise dg.Failure("; ".join(f"{watched.name}: {watched.message}" for watched in stopped))
    return dg.SkipReason("; ".join(f"{w.name}: {w.message or 'nothing changed'}" for w in seen) or "No collections.")


def build_request(data: DataFolder, watched: Watched, run_key: str) -> dg.RunRequest:
    """A run of the level that may be built automatically; of level 0 if nothing is published yet."""
    tags = {COLLECTION_TAG: watched.name, CHANGE_TAG: watched.key}
    return dg.RunRequest(run_key, partition_key=watched.name, job_name=f"level_{_level(data, watched)}", tags=tags)


def _level(data: DataFolder, watched: Watched) -> int:
    return watched.level if read_current(data.collection(watched.name)) else 0


def _last_build(instance: dg.DagsterInstance, name: str) -> dg.DagsterRun | None:
    runs = instance.get_runs(dg.RunsFilter(tags={COLLECTION_TAG: name}), limit=RECENT)
    return next((run for run in runs if ORDER_TAG not in run.tags), None)


def _unless_tried(
    instance: dg.DagsterInstance, data: DataFolder, watched: Watched, last: dg.DagsterRun | None
) -> Watched:
    """The state of a collection, not `changed` during a run or if the last run was for the same change."""
    if watched.state != "changed" or last is None:
        return watched
    if not last.is_finished:
        return Watched(watched.name, "busy", f"Run {last.run_id[:8]} is in progress.")
    if not last.is_success and CHANGE_TAG not in last.tags:  # it ended before it scanned the sources
        instance.add_run_tags(last.run_id, {CHANGE_TAG: watched.key})
    elif last.tags.get(CHANGE_TAG) != watched.key:
        return watched
    if last.is_success and read_current(data.collection(watched.name)) is None:
        return Watched(watched.name, "same", "Its index was deleted; `monjyu index` or a change builds it again.")
    outcome = {"CANCELED": "was cancelled", "FAILURE": "failed"}.get(last.status.value, "did not change it")
    why = f"{watched.message}, but run {last.run_id[:8]} for it {outcome}: waiting for another change, nightly, or you."
    return Watched(watched.name, "waiting", why)


def nightly_schedule(settings: AutomationSettings) -> dg.ScheduleDefinition:
    """The schedule `nightly`, which runs at `automation.nightly` in `automation.time_zone`."""

    @dg.schedule(
        name="nightly",
        job=LEVEL_JOBS[HIGHEST],
        cron_schedule=settings.nightly,
        execution_timezone=settings.time_zone,
        default_status=dg.DefaultScheduleStatus.STOPPED,
        description="Checks every collection at automation.nightly (a cron expression) and starts a run if its "
        "sources, code or settings have changed, even if an earlier run for the change failed or was cancelled. Off "
        "until 'monjyu automation on' or the switch here.",
    )
    def nightly(context: dg.ScheduleEvaluationContext, data: DataFolderResource) -> Iterator[dg.RunRequest]:
        folder = data.folder()
        for watched in (watch_collection(folder, name) for name in watched_collections(folder)):
            last = _last_build(context.instance, watched.name)
            if watched.state == "changed" and (last is None or last.is_finished):
                add_collections(context.instance, [watched.name])
                request = build_request(
                    folder, watched, f"{watched.name}-{context.scheduled_execution_time:%Y-%m-%dT%H:%M}"
                )
                # A schedule has one job, so it selects the assets up to the collection's level from the highest level's
                # job.
                keys = [asset.key for asset in (*assets_up_to(_level(folder, watched)), index_snapshot)]
                yield request.with_replaced_attrs(job_name=None, asset_selection=keys)

    return nightly
