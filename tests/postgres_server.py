"""A PostgreSQL server of a test's own: in a temporary folder, on the loopback address, by an unprivileged user."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.waiting import free_port

FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
PG_CTL = shutil.which("pg_ctl", path=os.pathsep.join([os.environ.get("PATH", ""), *map(str, FOLDERS)]))
QUICK = ("fsync=off", "listen_addresses=127.0.0.1", "unix_socket_directories=''")


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of its database. A test that needs it is skipped where PG_CTL is None."""
    with restartable() as (url, _):
        yield url


@contextmanager
def restartable() -> Iterator[tuple[str, Callable[[], None]]]:
    """The same, and what crashes the server and starts it again."""
    assert PG_CTL is not None
    folder = Path(tempfile.mkdtemp(prefix="monjyu-postgres-"))
    own: dict[str, Any] = {"cwd": folder, "check": True, "stdout": subprocess.DEVNULL}
    if os.getuid() == 0:  # the server refuses to be root
        shutil.chown(folder, "nobody")
        own |= {"user": "nobody"}
    data, port = folder / "data", free_port()
    initdb = Path(PG_CTL).resolve().with_name("initdb")
    try:
        subprocess.run([initdb, "-D", data, "-U", "monjyu", "-A", "trust", "-E", "UTF8", "--no-sync"], **own)
        options = " ".join(f"-c {setting}" for setting in (*QUICK, f"port={port}"))
        log = folder / "log"
        start = [PG_CTL, "-D", data, "-w", "-t", "60", "-l", log, "-o", options, "start"]
        stop = [PG_CTL, "-D", data, "-w", "-m", "immediate", "stop"]
        subprocess.run(start, **own)
        try:
            yield (
                f"postgresql+psycopg2://monjyu@127.0.0.1:{port}/postgres",
                lambda: [subprocess.run(command, **own) for command in (stop, start)] and None,
            )
        finally:
            subprocess.run(stop, **own)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
