"""Tags and configuration of runs that belong to a command, and the statuses of runs that have not ended."""

from __future__ import annotations

from typing import Any

import dagster as dg

COMMAND_TAG = "monjyu/command"
"""Marks runs that a command executes in its own process; the value is the collection."""
COMMAND_RUN_TAG = "monjyu/command_run"
"""The run's own id, shortened as in the UI. Re-executing a run copies its tags, and the copy is not a command's run."""
COLLECTION_TAG = "monjyu/collection"
"""On `reindex` and level jobs: by this tag, dagster.yaml allows one run a collection at a time."""
STARTED_BY_TAG = "monjyu/started_by"
"""On the runs that a run of `reindex` or of a level's job makes; the value is its id."""
LAUNCHED_BY_TAG = "user"
"""Who launched a run, as the UI's list of runs shows it; without it a run counts as launched by hand."""
OWN_PROCESS = {"dagster/max_retries": "0", LAUNCHED_BY_TAG: "monjyu"}
"""The daemon cannot replace the worker of such a run: one repeats the command or the `reindex` run instead."""
QUIET: dict[str, Any] = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
UNFINISHED = [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]


def command_tags(collection: str, run_id: str) -> dict[str, str]:
    return OWN_PROCESS | {COMMAND_TAG: collection, COMMAND_RUN_TAG: run_id[:8]}


def is_commands_own(run: dg.DagsterRun) -> bool:
    """Whether a command (or a `reindex` run) executes the run in its process, under its collection's index lock."""
    return COMMAND_TAG in run.tags and run.run_id.startswith(run.tags.get(COMMAND_RUN_TAG, ""))
