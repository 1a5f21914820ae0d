"""`monjyu up`: runs the Dagster UI, its daemon, their code server, and the query service with its page until Ctrl-C.
The page may be opened to other machines; Dagster's UI has no users and stays on the loopback address."""

import errno
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
from dataclasses import dataclass, field
from pathlib import Path

import click
from filelock import FileLock, Timeout

from monjyu_assets.orchestration.instance import location_name, open_instance
from monjyu_core.errors import ConfigurationError, StorageError
from monjyu_core.storage.folders import DataFolder

# Supervised programs run until they are stopped; one that ends earlier is restarted after a growing pause.
# Each is a child in its own process group, so a Ctrl-C in the terminal reaches only this process, which then ends the
# programs and everything they started.
QUICK_SECONDS = 30.0
"""In seconds. A program that ends sooner has failed to start, and will probably fail again for the same reason."""
MOST_QUICK_ENDS = 5
"""The number of consecutive quick ends after which a program is not restarted."""
FIRST_PAUSE = 1.0
"""Seconds before a program is restarted. Each further quick end doubles the pause."""
STOP_SECONDS = 4.0
"""Seconds that programs have to end. Their remaining child processes have a quarter of it."""


@dataclass
class Program:
    """A supervised program. If it is `needed`, the others are useless without it. With `leaves_runs`, processes that it
    started outlive it. `processes` has the running process last, and earlier ones while their children still run."""

    name: str
    command: Sequence[str]
    needed: bool = True
    leaves_runs: bool = False
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    began: float = 0.0
    quick_ends: int = 0
    due: float | None = None
    restarted: bool = False
    given_up: bool = False

    def start(self, environment: Mapping[str, str]) -> None:
        self.began, self.due = time.monotonic(), None
        process = subprocess.Popen(self.command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
        self.processes.append(process)

    def ended(self) -> None:
        """Handle the end of the program's process: schedule a restart, or give up. Raises ConfigurationError if the
        first process reported one, StorageError if a needed program is given up."""
        ended = self.processes[-1]
        if not self.leaves_runs:
            end([ended])  # its children may occupy its port
        if ended.returncode == ConfigurationError.exit_code and not self.restarted:
            raise ConfigurationError(f"{self.name} cannot run with these settings.", "Its message is above.")
        self.restarted = True
        self.quick_ends = self.quick_ends + 1 if time.monotonic() - self.began < QUICK_SECONDS else 1
        message = f"{self.name} ended by itself ({_how(ended.returncode)})"
        if self.quick_ends < MOST_QUICK_ENDS:
            pause = FIRST_PAUSE * 2 ** (self.quick_ends - 1)
            self.due = time.monotonic() + pause
            click.echo(f"{message}; starting it again in {pause:.0f} s.", err=True)
            return
        self.given_up = True
        if self.needed:
            raise StorageError(f"{message}, for the {self.quick_ends}th time in a row.", "Its messages are above.")
        click.echo(
            f"{message}, for the {self.quick_ends}th time in a row, and is not started again; the others go on. "
            "Its messages are above: fix the cause, press Ctrl-C and start it again.",
            err=True,
        )


class Supervisor:
    """Starts programs in order and watches them."""

    def __init__(self, environment: Mapping[str, str], stop: threading.Event) -> None:
        self.environment = environment
        self.stop = stop
        self.programs: list[Program] = []

    def start(self, *programs: Program) -> None:
        for program in () if self.stop.is_set() else programs:
            self.programs.append(program)
            program.start(self.environment)

    def wait(self, done: Callable[[], bool], seconds: float = float("inf")) -> None:
        """Watch the programs until `done` or a stop is requested. Raises StorageError if a needed program ends
        repeatedly, or after `seconds`."""
        deadline = time.monotonic() + seconds
        while not self.stop.is_set() and not done():
            for program in self.programs:
                self._look_after(program)
            if time.monotonic() > deadline:
                raise StorageError(f"Not everything is up after {seconds:.0f} s.", "The messages are above.")
            self.stop.wait(0.2)

    def _look_after(self, program: Program) -> None:
        program.processes[:-1] = [old for old in program.processes[:-1] if _signal_group(old.pid, 0)]
        if program.given_up:
            return
        if program.due is None:
            if program.processes[-1].poll() is not None:
                program.ended()
        elif time.monotonic() >= program.due:
            program.start(self.environment)


@contextmanager
def supervising(environment: Mapping[str, str], stop: threading.Event) -> Iterator[Supervisor]:
    """A context with a supervisor. When the context ends, even with an error, all its programs are ended."""
    supervisor = Supervisor(environment, stop)
    try:
        yield supervisor
    finally:
        end([process for program in reversed(supervisor.programs) for process in program.processes])


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End the processes, then the rest of their process groups (code servers, runs)."""
    for process in processes:
        if process.poll() is None:
            process.terminate()
    _wait(STOP_SECONDS, lambda: all(process.poll() is not None for process in processes))
    for number in (signal.SIGTERM, signal.SIGKILL):
        signalled = [_signal_group(process.pid, number) for process in processes]
        if any(signalled):
            _wait(STOP_SECONDS / 4, lambda: not any(_signal_group(process.pid, 0) for process in processes))
    for process in processes:
        process.wait()


def _wait(seconds: float, done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:
        time.sleep(0.05)


def _signal_group(group: int, number: int) -> bool:
    """Signal a process group; return whether it still has processes."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"


HOST = "127.0.0.1"
SOCKET = "code.sock"
START_SECONDS = 300.0
"""Dagster's code server takes 5 to 10 seconds, and over a minute on a slow machine that does other work."""
LOOK_SECONDS = "600"
"""The seconds that a sensor has to scan sources and hash changed files. Thousands of new files take longer than
Dagster's default of a minute."""


def code_server(folder: Path) -> Program:
    """The program that loads Monjyu's code for daemon and web server, and listens on a socket in `folder`.

    Without it, each of them would start its own, and the daemon a new one every minute.
    """
    where = ["-m", "monjyu_assets.definitions", "-a", "defs", "--location-name", location_name()]
    command = [sys.executable, "-m", "dagster", "code-server", "start", *where, "--socket", str(folder / SOCKET)]
    return Program("code-server", command, leaves_runs=True)


def write_workspace(folder: Path) -> Path:
    """Write a workspace file that names the code server in `folder`; return its path."""
    path = folder / "workspace.yaml"
    server = {"socket": str(folder / SOCKET), "location_name": location_name()}
    path.write_text(json.dumps({"load_from": [{"grpc_server": server}]}))  # JSON is YAML
    return path


def daemon(workspace: Path) -> Program:
    return Program("dagster-daemon", [sys.executable, "-m", "dagster._daemon", "run", "-w", str(workspace)])


def web_server(port: int, workspace: Path) -> Program:
    command = [sys.executable, "-m", "dagster_webserver", "-h", HOST, "-p", str(port), "-w", str(workspace)]
    return Program("dagster-webserver", command)


def page_service(host: str, port: int) -> Program:
    """The query service, started by its command because it is in another package. The daemon works without it."""
    command = [sys.executable, "-m", "monjyu_core", "serve", "--host", host, "--port", str(port)]
    return Program("monjyu-service", command, needed=False)


def check_port(port: int, option: str = "--port", host: str = HOST) -> None:
    """Raise ConfigurationError if the address is invalid or another program uses the port."""
    try:
        family, socket_type, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, socket_type, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        message = f"Port {port} on {host} cannot be used: {error.strerror}."
        taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        hint = f"Choose another: {option} {port + 1}" if taken else "Give an address of this machine."
        raise ConfigurationError(message, hint) from error


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def _serves_code(socket_file: Path) -> bool:
    """Whether the code server has loaded the code, or has failed to (the UI shows why)."""
    from dagster._core.errors import DagsterUserCodeUnreachableError
    from dagster._grpc.client import DagsterGrpcClient

    if not socket_file.exists():
        return False
    try:
        DagsterGrpcClient(socket=str(socket_file)).list_repositories()
    except DagsterUserCodeUnreachableError:
        return False
    return True


def run(port: int, host: str, page_port: int) -> None:
    """Serve until SIGINT or SIGTERM. Raises ConfigurationError for unusable ports, host or settings."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    if port == page_port:
        raise ConfigurationError(f"Port {port} is given twice.", "Give the Dagster UI and the page different ports.")
    check_port(port)
    check_port(page_port, "--page-port", host)
    data = DataFolder.default()
    with _alone(data):
        click.echo(f"Starting the Dagster UI and the page on {data.root} ...")
        _serve(port, host, page_port, _environment(data, port, page_port), stop)
        click.echo("Stopped.")


@contextmanager
def _alone(data: DataFolder) -> Iterator[None]:
    """A context that locks the data folder for `monjyu up`. Raises ConfigurationError if it is already running, because
    a second daemon would start the same runs again."""
    data.state.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(data.state / "up.lock", timeout=0):
            yield
    except Timeout as error:
        message = f"The Dagster UI of {data.root} is running already."
        raise ConfigurationError(
            message, "Use that one, or stop it first. MONJYU_DATA names another folder."
        ) from error


def _environment(data: DataFolder, port: int, page_port: int) -> dict[str, str]:
    """Create the instance, and return the environment of all programs."""
    from monjyu_assets.orchestration.partitions import add_collections

    # Programs that create an instance's databases at the same time would leave them with two schema versions.
    with open_instance(data) as instance:
        add_collections(instance, data.collections())
        ours = {
            "DAGSTER_HOME": instance.root_directory,
            "MONJYU_DATA": str(data.root),
            "MONJYU_SERVICE__PORT": str(page_port),  # snapshots' pages link to it
        }
    theirs = {"DAGSTER_SENSOR_GRPC_TIMEOUT_SECONDS": LOOK_SECONDS, "MONJYU_SERVICE__DAGSTER_URL": _url(HOST, port)}
    return {**theirs, **os.environ, **ours}


def _url(host: str, port: int) -> str:
    asked = {"0.0.0.0": HOST, "::": "::1"}.get(host, host)
    return f"http://[{asked}]:{port}" if ":" in asked else f"http://{asked}:{port}"


def _serve(port: int, host: str, page_port: int, environment: Mapping[str, str], stop: threading.Event) -> None:
    ui, page = _url(HOST, port), _url(host, page_port)
    with tempfile.TemporaryDirectory(prefix="monjyu-") as name, supervising(environment, stop) as supervisor:
        folder, service = Path(name), page_service(host, page_port)
        click.echo("Starting the page and the code server ...")
        supervisor.start(service, code_server(folder))
        service.command = [*service.command, "--no-link"]  # only the first start prints a link for the user
        supervisor.wait(lambda: _serves_code(folder / SOCKET), START_SECONDS)
        workspace = write_workspace(folder)
        if not stop.is_set():
            click.echo("The code is loaded. Starting the daemon and the web server ...")
        supervisor.start(daemon(workspace), web_server(port, workspace))

        def all_answer() -> bool:
            return _answers(f"{ui}/server_info") and (service.given_up or _answers(f"{page}/health"))

        supervisor.wait(all_answer, START_SECONDS)
        if not stop.is_set():
            if not service.given_up:
                click.echo(f"The page is at {page}, its interface at {page}/docs.")
            click.echo(f"The Dagster UI is at {ui} - Ctrl-C stops everything.")
        supervisor.wait(lambda: False)
        click.echo("Stopping ...")


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), default=3000, show_default=True, help="Port of the Dagster UI.")
@click.option("--page-port", type=click.IntRange(1, 65535), default=8000, show_default=True, help="Port of the page.")
@click.option(
    "--host",
    default=HOST,
    show_default=True,
    help="Address of the page. Any but a loopback address needs a key. The Dagster UI has no users and stays local.",
)
def up(port: int, page_port: int, host: str) -> None:
    """Start the page and the Dagster UI with its daemon. Ctrl-C stops everything.

    Programs that end are restarted.
    """
    run(port, host, page_port)
