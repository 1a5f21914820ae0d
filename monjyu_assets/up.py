"""`make up`: the Dagster UI, its daemon and the query service with its page on this machine until Ctrl-C
(`python -m monjyu_assets.up`).

All are child processes, each in a process group of its own: a Ctrl-C in the terminal reaches this process alone,
which then ends them. Nothing but the loopback address is opened.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
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
START_SECONDS = 120.0
LOOK_SECONDS = "600"
"""A sensor that watches sources hashes what changed: thousands of new files take longer than Dagster's minute."""
STOP_SECONDS = {signal.SIGINT: 4.0, signal.SIGTERM: 2.0, signal.SIGKILL: 1.0}
"""How long programs may take after a signal before the next, stronger one: all of them end within ten seconds."""


@dataclass(frozen=True)
class Program:
    name: str
    process: subprocess.Popen[bytes]


def workspace_file() -> Path | None:
    """The workspace file of a checkout; an installed package has none."""
    path = Path(__file__).resolve().parents[1] / "workspace.yaml"
    return path if path.is_file() else None


def programs(port: int, page_port: int) -> dict[str, list[str]]:
    """Command line of each program by name; without a workspace file they name the module.

    The service is another package's: it is started as its command, and knows nothing of Dagster but an address.
    """
    workspace = workspace_file()
    target = ["-w", str(workspace)] if workspace else ["-m", "monjyu_assets.definitions"]
    python = [sys.executable, "-m"]
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
def running(commands: Mapping[str, Sequence[str]], environment: Mapping[str, str]) -> Iterator[list[Program]]:
    """Start the programs in order; on leaving, end them, whatever happened."""
    started: list[Program] = []
    try:
        for name, command in commands.items():
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
            started.append(Program(name, process))
        yield started
    finally:
        _stop([program.process for program in reversed(started)])


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


def wait_until_ready(urls: Sequence[str], started: Sequence[Program], stop: threading.Event) -> None:
    """Return when all answer or a stop is asked for; StorageError when a program ends or time runs out."""
    deadline = time.monotonic() + START_SECONDS
    while not stop.is_set() and not all(map(_answers, urls)):
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
    ui, page = f"http://{HOST}:{port}", f"http://{HOST}:{page_port}"
    # Both programs would make the databases of a new instance at once, and leave them with two schema versions.
    with open_instance(data) as instance:
        own = {"DAGSTER_HOME": instance.root_directory, "MONJYU_DATA": str(data.root)}
        environment = {"DAGSTER_SENSOR_GRPC_TIMEOUT_SECONDS": LOOK_SECONDS, **os.environ, **own}
    environment.setdefault("MONJYU_SERVICE__DAGSTER_URL", ui)
    with running(programs(port, page_port), environment) as started:
        wait_until_ready([f"{ui}/server_info", f"{page}/health"], started, stop)
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
