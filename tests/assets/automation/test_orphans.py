"""Runs whose process died with the daemon are ended; those that work, or have just begun, are left alone."""

from __future__ import annotations

import os
import subprocess
import uuid
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.events import EngineEventData
from filelock import FileLock

from monjyu_assets.automation.maintenance_jobs import tidy
from monjyu_assets.automation.sensors import end_orphans
from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.orchestration.partitions import COLLECTION_TAG, command_tags
from monjyu_assets.orchestration.runs import end_dead_runs
from monjyu_core.storage.folders import DataFolder

STARTED, FAILED = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.FAILURE


def test_a_run_of_a_backfill_whose_process_is_gone_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the process that Dagster's launcher notes, in an instance as it is used."""
    monkeypatch.setenv("DAGSTER_HOME", "")
    data = DataFolder(tmp_path)
    gone = subprocess.Popen(["true"])
    gone.wait()
    with open_instance(data) as instance:
        runs = []
        for process in (gone.pid, os.getpid(), None):
            run = instance.create_run_for_job(tidy, tags={"dagster/backfill": "abc"}, status=STARTED)
            runs.append(run.run_id)
            if process is not None:
                noted = EngineEventData.in_process(process)
                instance.report_engine_event(f"Started process for run (pid: {process}).", run, noted)
        assert end_orphans(instance, data, grace=0) == []
        assert end_orphans(instance, data, grace=0) == runs[:1]


def test_a_commands_run_without_its_lock_is_ended_after_a_while(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    lock = data.collection("notes").root / "index.lock"
    lock.parent.mkdir(parents=True)
    with dg.DagsterInstance.ephemeral() as instance:
        own = str(uuid.uuid4())
        tags = [command_tags("notes", own), {COLLECTION_TAG: "notes"}, {"dagster/backfill": "abc"}]
        ids = [own, str(uuid.uuid4()), str(uuid.uuid4())]
        for run_id, one in zip(ids, tags, strict=True):
            instance.create_run_for_job(tidy, run_id=run_id, tags=one, status=STARTED)

        def statuses() -> list[dg.DagsterRunStatus]:
            return [run.status for run_id in ids if (run := instance.get_run_by_id(run_id)) is not None]

        with FileLock(lock):
            assert end_orphans(instance, data, grace=0) == []
            assert end_orphans(instance, data, grace=0) == []
        assert end_orphans(instance, data, grace=0) == [], "not at the first look"
        assert end_orphans(instance, data) == [], "not before the grace is over"
        assert end_orphans(instance, data, grace=0) == [own]
        assert statuses() == [FAILED, STARTED, STARTED]
        assert end_orphans(instance, data, grace=0) == []


def test_a_commands_run_that_is_executed_again_in_the_ui_is_no_commands(tmp_path: Path) -> None:
    """It bears the tags of the one before, and works without the lock: no command's end may end it."""
    data = DataFolder(tmp_path)
    with dg.DagsterInstance.ephemeral() as instance:
        first, again = str(uuid.uuid4()), str(uuid.uuid4())
        tags = command_tags("notes", first)
        for run_id in (first, again):
            instance.create_run_for_job(tidy, run_id=run_id, tags=tags, status=STARTED)

        assert end_orphans(instance, data, grace=0) == []
        assert end_orphans(instance, data, grace=0) == [first]
        end_dead_runs(instance, "notes")
        found = instance.get_run_by_id(again)
        assert found is not None
        assert found.status == STARTED
