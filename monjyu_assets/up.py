"""`make up`: the Dagster UI, its daemon, the code server of both and the query service with its page, on this machine
until Ctrl-C (`python -m monjyu_assets.up`).

All are child processes, each in a process group of its own: a Ctrl-C in the terminal reaches this process alone,
which then ends them. Nothing but the loopback address is opened.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from monjyu_core.errors import ConfigurationError, MonjyuError, StorageError
from monjyu_core.folders import DataFolder

HOST = "127.0.0.1"
LOCATION = "monjyu"
"""Of our code in Dagster, as in workspace.yaml."""
SOCKET = "code.sock"
START_SECONDS = 120.0
LOOK_SECONDS = "600"
"""A sensor that watches sources hashes what changed: thousands of new files take longer than Dagster's minute."""
STOP_SECONDS = {signal.SIGINT: 4.0, signal.SIGTERM: 1.0, signal.SIGKILL: 1.0}
"""How long programs may take after a signal before the next, stronger one: all of them end within ten seconds."""


@dataclass(frozen=True)
class Program:
    name: str
    process: subprocess.Popen[bytes]


def workspace_file() -> Path | None:
    """The workspace file of a checkout; an installed package has none."""
    path = Path(__file__).resolve().parents[1] / "workspace.yaml"
    return path if path.is_file() else None


def code_server(folder: Path) -> dict[str, list[str]]:
    """The one process that loads our code for daemon and web server, listening in `folder`.

    Left alone, each of them starts its own, and the daemon a new one every minute.
    """
    where = ["-m", "monjyu_assets.definitions", "-a", "defs", "--location-name", LOCATION]
    command = [sys.executable, "-m", "dagster", "code-server", "start", *where, "--socket", str(folder / SOCKET)]
    return {"code-server": command}


def write_workspace(folder: Path) -> Path:
    """A workspace file that names the code server in `folder`."""
    path = folder / "workspace.yaml"
    server = {"socket": str(folder / SOCKET), "location_name": LOCATION}
    path.write_text(json.dumps({"load_from": [{"grpc_server": server}]}))  # JSON is YAML
    return path


def programs(port: int, page_port: int, workspace: Path) -> dict[str, list[str]]:
    """Command line of each program by name.

    The service is another package's: it is started as its command, and knows nothing of Dagster but an address.
    """
    python, target = [sys.executable, "-m"], ["-w", str(workspace)]
    return {
        "dagster-daemon": [*python, "dagster._daemon", "run", *target],
        "dagster-webserver": [*python, "dagster_webserver", "-h", HOST, "-p", str(port), *target],
        "monjyu-service": [*python, "monjyu_core", "serve", "--host", HOST, "--port", str(page_port)],
    }


def check_port(port: int, option: str = "PORT") -> None:
    """ConfigurationError where another program holds the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise ConfigurationError(
                f"Port {port} on {HOST} cannot be used: {error.strerror}.",
                f"Choose another: make up {option}={port + 1}",
            ) from error


@contextmanager
def running() -> Iterator[list[Program]]:
    """A list for the programs that are started; on leaving, all of them are ended, whatever happened."""
    started: list[Program] = []
    try:
        yield started
    finally:
        _stop([program.process for program in reversed(started)])


def start(started: list[Program], commands: Mapping[str, Sequence[str]], environment: Mapping[str, str]) -> None:
    """Start the programs in order."""
    for name, command in commands.items():
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
        started.append(Program(name, process))


def _stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End the programs, then what they have left of their process groups (code servers, runs)."""
    for number in (signal.SIGINT, signal.SIGTERM):
        for process in processes:
            if process.poll() is None:
                process.send_signal(number)
        _wait(STOP_SECONDS[number], lambda: all(process.poll() is not None for process in processes))
    for number in (signal.SIGTERM, signal.SIGKILL):
        signalled = [_signal_group(process.pid, number) for process in processes]
        if any(signalled):
            _wait(STOP_SECONDS[number], lambda: not any(_signal_group(process.pid, 0) for process in processes))
    for process in processes:
        process.wait()


def _wait(seconds: float, done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:
        time.sleep(0.05)


def _signal_group(group: int, number: int) -> bool:
    """Whether the group still had processes to signal."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def wait_until_ready(ready: Callable[[], bool], started: Sequence[Program], stop: threading.Event) -> None:
    """Return when all answer or a stop is asked for; StorageError when a program ends or time runs out."""
    deadline = time.monotonic() + START_SECONDS
    while not stop.is_set() and not ready():
        check_alive(started)
        if time.monotonic() > deadline:
            raise StorageError(f"Not everything is up after {START_SECONDS:.0f} s.", "The messages stand above.")
        stop.wait(0.2)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def _serves_code(socket_file: Path) -> bool:
    """Whether the code server has loaded the code (or found that it cannot: the UI shows why)."""
    from dagster._core.errors import DagsterUserCodeUnreachableError
    from dagster._grpc.client import DagsterGrpcClient

    if not socket_file.exists():
        return False
    try:
        DagsterGrpcClient(socket=str(socket_file)).list_repositories()
    except DagsterUserCodeUnreachableError:
        return False
    return True


def check_alive(started: Sequence[Program]) -> None:
    """StorageError where a program has ended by itself."""
    for program in started:
        code = program.process.poll()
        if code is not None:
            raise StorageError(f"{program.name} ended with exit code {code}.", "Its messages stand above.")


def run(port: int, page_port: int) -> None:
    """Serve until SIGINT or SIGTERM."""
    from monjyu_assets.instance import open_instance

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    check_port(port)
    check_port(page_port, "PAGE")
    data = DataFolder.default()
    click.echo(f"Starting the Dagster UI and the page on {data.root} ...")
    # Both programs would make the databases of a new instance at once, and leave them with two schema versions.
    with open_instance(data) as instance:
        own = {"DAGSTER_HOME": instance.root_directory, "MONJYU_DATA": str(data.root)}
        environment = {"DAGSTER_SENSOR_GRPC_TIMEOUT_SECONDS": LOOK_SECONDS, **os.environ, **own}
    environment.setdefault("MONJYU_SERVICE__DAGSTER_URL", f"http://{HOST}:{port}")
    with tempfile.TemporaryDirectory(prefix="monjyu-") as folder:
        _serve(port, page_port, Path(folder), environment, stop)


def _serve(port: int, page_port: int, folder: Path, environment: Mapping[str, str], stop: threading.Event) -> None:
    ui, page = f"http://{HOST}:{port}", f"http://{HOST}:{page_port}"
    with running() as started:
        start(started, code_server(folder), environment)
        wait_until_ready(lambda: _serves_code(folder / SOCKET), started, stop)
        start(started, programs(port, page_port, write_workspace(folder)), environment)
        wait_until_ready(lambda: _answers(f"{ui}/server_info") and _answers(f"{page}/health"), started, stop)
        if not stop.is_set():
            click.echo(f"The page is at {page}, its interface at {page}/docs.")
            click.echo(f"The Dagster UI is at {ui} - Ctrl-C stops everything.")
        while not stop.wait(0.5):
            check_alive(started)
        click.echo("Stopping ...")


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), default=3000, show_default=True, help="Of the Dagster UI.")
@click.option("--page-port", type=click.IntRange(1, 65535), default=8000, show_default=True, help="Of the page.")
def main(port: int, page_port: int) -> None:
    """Start the Dagster UI, its daemon and the query service; Ctrl-C stops all."""
    try:
        run(port, page_port)
    except MonjyuError as error:
        click.echo(f"monjyu: {error}", err=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
