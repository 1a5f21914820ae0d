"""Run workers on Celery that share nothing but an object store, PostgreSQL and Redis; each has a folder and HOME."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.conftest import ROOT
from tests.object_servers import make_bucket, moto, s3_settings
from tests.postgres_server import PG_CTL, postgres
from tests.waiting import free_port, wait_until

INSTANCE = ROOT / "deploy" / "dagster.celery.yaml"
REDIS = shutil.which("redis-server")
MISSING = "no PostgreSQL or no Redis: apt-get install postgresql redis-server"
IS_THERE = PG_CTL is not None and REDIS is not None


class Machine:
    """One machine: a data folder, a HOME and an environment of its own. `temporary` marks its processes."""

    def __init__(self, root: Path, shared: dict[str, str]) -> None:
        self.root, self.data = root, root / "data"
        home = self.data / "state" / "dagster"
        for folder in (home, root / "home", root / "tmp"):
            folder.mkdir(parents=True)
        shutil.copy(INSTANCE, home / "dagster.yaml")
        own = {"MONJYU_DATA": str(self.data), "DAGSTER_HOME": str(home), "HOME": str(root / "home")}
        self.environment = os.environ | shared | own | {"TMPDIR": str(root / "tmp")}

    def monjyu(self, *arguments: str | Path, **more: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "monjyu_core", *map(str, arguments)]
        return subprocess.Popen(
            command,
            env=self.environment | more,
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


class Worker:
    """A Celery worker with one place. `kill` ends it and its child at once; `start` begins it anew."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        broker = self.machine.environment["MONJYU_CELERY_BROKER"]
        command = [sys.executable, "-m", "celery", "-A", "dagster_celery.app", "-b", broker, "--result-backend", broker]
        command += ["worker", "-Q", "dagster", "-c", "1", "-n", f"{self.machine.root.name}@%h", "-l", "info"]
        with (self.machine.root / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command,
                env=self.machine.environment,
                cwd=self.machine.root,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(30)
            self.process = None


@contextmanager
def cluster(root: Path, workers: int, **settings: str) -> Iterator[tuple[Machine, list[Worker]]]:
    """A machine that runs commands, and workers that have started."""
    with moto() as endpoint, postgres() as url, redis() as broker:
        make_bucket(endpoint, "bucket")
        shared = s3_settings(endpoint, "bucket") | {"MONJYU_POSTGRES_URL": url, "MONJYU_CELERY_BROKER": broker}
        shared |= {"MONJYU_RUNS__WORKERS": str(workers)} | settings
        started = [Worker(Machine(root / f"worker{number}", shared)) for number in range(workers)]
        try:
            for worker in started:
                worker.start()
            yield Machine(root / "publisher", shared), started
        finally:
            for worker in started:
                worker.kill()


@contextmanager
def redis(port: int = 0) -> Iterator[str]:
    """The URL of a Redis server of its own; at a port, of one that was there before."""
    assert REDIS is not None
    port = port or free_port()
    with tempfile.TemporaryDirectory(prefix="monjyu-redis-") as folder:
        command = [REDIS, "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            wait_until(lambda: _answers(port), 30, process=server)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.terminate()
            server.wait(30)


def _answers(port: int) -> bool:
    from redis import Redis
    from redis.exceptions import ConnectionError as NoAnswer

    try:
        return bool(Redis(port=port).ping())
    except NoAnswer:
        return False
