"""Kills while automation is at work: of the process of a build, and of the daemon with all that it started."""

from __future__ import annotations

import os
import random
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import dagster as dg
import psutil
import pytest

from monjyu_assets.automation.switch import switch
from monjyu_assets.orchestration import up
from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.orchestration.partitions import UNFINISHED
from monjyu_assets.orchestration.up import supervising
from monjyu_core.storage.snapshot import read_current
from tests.conftest import ROOT
from tests.killing import KilledWorld, readable
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("MONJYU_DAEMON_KILLS", "1"))
SEED = int(os.environ.get("MONJYU_KILLS_SEED", "11"))
EVERY = 4
"""Each fourth kill is of the daemon and all that it started: the next one ends its run after a minute, and retries."""
WAIT = 600.0
"""Seconds, on a machine however busy, until a change is published in spite of a kill."""
WAITING = [*UNFINISHED, dg.DagsterRunStatus.QUEUED]


def test_kills_of_runs_and_of_the_daemon_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.setenv("MONJYU_AUTOMATION__INTERVAL_SECONDS", "2")
    monkeypatch.setenv("MONJYU_AUTOMATION__SETTLE_SECONDS", "0.5")
    world, chance = KilledWorld(tmp_path / "world", seed=SEED), random.Random(SEED)
    for paper in range(12):
        world.write(f"p{paper}.md")
    world.settle()
    done: Counter[str] = Counter()
    with ExitStack() as daemons, open_instance(world.data) as instance:
        switch(instance, True)
        daemons.enter_context(daemon(world))
        wait_for(lambda: is_published(world), instance)
        wait_for(lambda: not instance.get_runs(dg.RunsFilter(statuses=WAITING)), instance)
        longest = max(record.end_time - record.start_time for record in instance.get_run_records(of_builds()))
        for kill in range(1, KILLS + 1):
            known = {run.run_id for run in instance.get_runs()}
            world.change()
            pid = wait_for(lambda known=known: worker(instance, known), instance)
            time.sleep(chance.uniform(0.0, longest))
            if kill % EVERY:
                done["run" if is_killed(pid) else "ended"] += 1
                world.look(f"the kill of run process {pid}")
            else:
                done["daemon"] += sum(is_killed(process.pid) for process in list(world.survivors(0))) > 0
                daemons.close()
                world.look("the kill of the daemon")
                daemons.enter_context(daemon(world))
            wait_for(lambda: is_published(world), instance)
            wait_for(lambda: not instance.get_runs(dg.RunsFilter(statuses=WAITING)), instance)
            print(f"kill {kill}: {dict(done)}", flush=True)
    assert not list(world.survivors(20))
    world.finish(tmp_path / "fresh", level=1)


@contextmanager
def daemon(world: KilledWorld) -> Iterator[None]:
    own = {"DAGSTER_HOME": str(world.data.dagster), "DAGSTER_SENSOR_GRPC_TIMEOUT_SECONDS": up.LOOK_SECONDS}
    with supervising(world.environment() | own, threading.Event()) as supervisor:
        supervisor.start(up.daemon(ROOT / "workspace.yaml"))
        yield


def is_published(world: KilledWorld) -> bool:
    return read_current(world.data.collection("c")) is not None and readable(world.data, "c") == world.states[-1]


def of_builds(*statuses: dg.DagsterRunStatus) -> dg.RunsFilter:
    return dg.RunsFilter(tags={"dagster/sensor_name": "watch_sources"}, statuses=list(statuses))


def worker(instance: dg.DagsterInstance, known: set[str]) -> int | None:
    """The process of a run that is new and has begun."""
    for run in instance.get_runs(of_builds(dg.DagsterRunStatus.STARTED)):
        for entry in instance.all_logs(run.run_id) if run.run_id not in known else ():
            if found := re.search(r"Started process for run \(pid: (\d+)\)", entry.message or ""):
                return int(found[1])
    return None


def is_killed(pid: int) -> bool:
    """Kill it; False where it has ended."""
    with suppress(ProcessLookupError, psutil.NoSuchProcess):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def wait_for(found: Callable[[], Any], instance: dg.DagsterInstance) -> Any:
    def runs() -> object:
        return [(run.job_name, run.status, run.tags) for run in instance.get_runs(limit=9)]

    return wait_until(found, WAIT, state=runs, every=0.3)
