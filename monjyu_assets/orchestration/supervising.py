"""Programs that run until they are stopped: those that end on their own start again, after a growing pause.

Each is a child in its own process group: a Ctrl-C in the terminal reaches only this process, which then ends them with
everything they started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import click

from monjyu_core.errors import ConfigurationError, StorageError

QUICK_SECONDS = 30.0
"""Seconds. A program that ends sooner did not do its work, and will most likely end again for the same cause."""
MOST_QUICK_ENDS = 5
"""Quick ends in a row before a program is given up."""
FIRST_PAUSE = 1.0
"""Seconds before a program is started again; each further quick end doubles it."""
STOP_SECONDS = 4.0
"""Seconds that programs may take to end; what they leave behind gets a quarter of it."""


@dataclass
class Program:
    """`needed`: the others are useless without it. `leaves_runs`: what it started does not end with it. `processes`
    holds the running one last, and earlier ones while something they started still runs."""

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
        """Note that its process ended: schedule a new start, or give it up."""
        ended = self.processes[-1]
        if not self.leaves_runs:
            end([ended])  # its children may hold its port
        if ended.returncode == ConfigurationError.exit_code and not self.restarted:
            raise ConfigurationError(f"{self.name} cannot run like this.", "Its message is above.")
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
    """The started programs, in order."""

    def __init__(self, environment: Mapping[str, str], stop: threading.Event) -> None:
        self.environment = environment
        self.stop = stop
        self.programs: list[Program] = []

    def start(self, *programs: Program) -> None:
        for program in () if self.stop.is_set() else programs:
            self.programs.append(program)
            program.start(self.environment)

    def wait(self, done: Callable[[], bool], seconds: float = float("inf")) -> None:
        """Watch the programs until `done` or a stop is asked for. StorageError where a needed program ends again and
        again, or after `seconds`."""
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
    """Gives a supervisor without programs; on leaving, all of them are ended, whatever happened."""
    supervisor = Supervisor(environment, stop)
    try:
        yield supervisor
    finally:
        end([process for program in reversed(supervisor.programs) for process in program.processes])


def end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End the processes, then what remains of their process groups (code servers, runs)."""
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
    """Whether the group still had processes to signal."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
