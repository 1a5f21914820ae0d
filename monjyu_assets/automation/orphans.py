"""Runs whose process ended with the daemon that started it: nobody else notices, and they would fill the queue.

A command's run works under its collection's index lock, which the kernel releases with the process: if such a run
counts as started while the lock is free, its process is gone. Of other runs Dagster's default launcher records the
process, on the machine of the code server that evaluates this.
"""

from __future__ import annotations

import re
import time

import dagster as dg
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher

from monjyu_assets.orchestration.run_tags import COLLECTION_TAG, UNFINISHED, is_commands_own
from monjyu_assets.orchestration.watching import is_being_indexed
from monjyu_core.storage.folders import DataFolder, alive
from monjyu_core.storage.state_store import StateStore

SUSPECTS = ("automation", "runs without their lock")
PROCESS = re.compile(r"Started process for run \(pid: (\d+)\)")
GRACE_SECONDS = 60.0
"""Seconds. A started run may not have its lock yet, or may have released it before it is reported as done."""


def end_orphans(instance: dg.DagsterInstance, data: DataFolder, grace: float = GRACE_SECONDS) -> list[str]:
    """Mark such runs as failed once they have lasted for `grace` seconds, and return their ids.

    The state store remembers when each was first seen: a sensor loses its cursor with every tick that fails.
    """
    store, now = StateStore(data.state), time.time()
    before: dict[str, float] = store.get(*SUSPECTS) or {}
    suspects, ended = {}, []
    for run in instance.get_runs(dg.RunsFilter(statuses=UNFINISHED)):
        if not _seems_gone(instance, data, run):
            continue
        if run.run_id in before and now - before[run.run_id] >= grace:
            instance.report_run_failed(run, "Its process is gone; what it had written is kept.")
            ended.append(run.run_id)
        else:
            suspects[run.run_id] = min(before.get(run.run_id, now), now)  # a clock may have been set back
    if suspects != before:
        store.put(*SUSPECTS, suspects)
    return ended


def _seems_gone(instance: dg.DagsterInstance, data: DataFolder, run: dg.DagsterRun) -> bool:
    if is_commands_own(run):
        return not is_being_indexed(data.collection(run.tags[COLLECTION_TAG]))
    process = _process(instance, run)
    return process is not None and not alive(process)


def _process(instance: dg.DagsterInstance, run: dg.DagsterRun) -> int | None:
    """The process that the default launcher started for a run; None where another launcher did, or it is not
    recorded."""
    if not isinstance(instance.run_launcher, DefaultRunLauncher) or run.status != dg.DagsterRunStatus.STARTED:
        return None
    noted = instance.get_records_for_run(run.run_id, of_type=dg.DagsterEventType.ENGINE_EVENT, limit=20).records
    matches = (PROCESS.match(record.event_log_entry.message) for record in noted)
    return next((int(match[1]) for match in matches if match), None)
