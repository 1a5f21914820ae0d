"""Runs whose process is gone with the daemon that started it: nobody else notices, and they would hold the queue.

A `reindex` run, and every run made inside a process, works under its collection's index lock, which the kernel lets go
with the process. One that stands as started while the lock is free, look after look, has no process any more.
"""

from __future__ import annotations

import time

import dagster as dg

from monjyu_assets.automation.watching import is_being_indexed
from monjyu_assets.run_tags import COMMAND_TAG, UNFINISHED
from monjyu_core.folders import DataFolder
from monjyu_core.state import StateStore

REINDEX = "reindex"
SUSPECTS = ("automation", "runs without their lock")
GRACE_SECONDS = 60.0
"""A run may be started and not yet have its lock, or have let it go and not yet be reported as done."""


def end_orphans(instance: dg.DagsterInstance, data: DataFolder, grace: float = GRACE_SECONDS) -> list[str]:
    """Mark such runs as failed when they have stood so for `grace` seconds; gives their ids.

    When each was first seen is in the state store: a sensor loses its cursor with every tick that fails.
    """
    store, now = StateStore(data.state), time.time()
    before: dict[str, float] = store.get(*SUSPECTS) or {}
    suspects, ended = {}, []
    for run in instance.get_runs(dg.RunsFilter(statuses=UNFINISHED)):
        name = _collection(run)
        if name is None or is_being_indexed(data.collection(name)):
            continue
        if run.run_id in before and now - before[run.run_id] >= grace:
            instance.report_run_failed(run, "Its process is gone; what it had written is kept.")
            ended.append(run.run_id)
        else:
            suspects[run.run_id] = before.get(run.run_id, now)
    if suspects != before:
        store.put(*SUSPECTS, suspects)
    return ended


def _collection(run: dg.DagsterRun) -> str | None:
    """The collection whose lock the run works under; None for others (those of a backfill have no such lock)."""
    if COMMAND_TAG in run.tags:
        return run.tags[COMMAND_TAG]
    if run.job_name == REINDEX and run.status == dg.DagsterRunStatus.STARTED:
        return run.tags.get("dagster/partition")
    return None
