"""Parser processes with one task at a time each, killed and replaced when a task takes too long or the process dies."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

from pydantic import ValidationError

from monjyu_core.errors import ConfigurationError, DocumentError, DocumentTimeout, ParserCrash
from monjyu_core.paper import ParsedPaper
from monjyu_core.settings import ParseSettings

Task = dict[str, Any]
Outcome = ParsedPaper | DocumentError


class ParserPool:
    """`map` gives (task, paper or error) in the order of completion. Use as a context manager."""

    def __init__(self, settings: ParseSettings) -> None:
        self.settings = settings
        self.size = settings.workers or os.cpu_count() or 1
        self._idle: list[_Worker] = []
        self._busy: list[_Worker] = []

    def __enter__(self) -> ParserPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for worker in (*self._idle, *self._busy):
            worker.kill()
        self._idle, self._busy = [], []

    def map(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Outcome]]:
        waiting = deque(tasks)
        while waiting or self._busy:
            while waiting and len(self._busy) < self.size:
                self._start(waiting.popleft())
            for worker in self._wait():
                self._busy.remove(worker)
                task, outcome = worker.outcome()
                if worker.alive:
                    self._idle.append(worker)
                else:
                    worker.kill()
                yield task, outcome

    def _start(self, task: Task) -> None:
        worker = self._idle.pop() if self._idle else _Worker(self.settings)
        worker.give(task)
        self._busy.append(worker)

    def _wait(self) -> list[_Worker]:
        """Busy workers that have a result, have died, or are out of time; waits until there is one."""
        with selectors.DefaultSelector() as selector:
            for worker in self._busy:
                selector.register(worker.output, selectors.EVENT_READ, worker)
            first = min(worker.deadline for worker in self._busy)
            ready = selector.select(max(0.0, first - time.monotonic()))
        done = [key.data for key, _ in ready if key.data.read()]
        now = time.monotonic()
        late = [worker for worker in self._busy if worker not in done and worker.deadline <= now]
        for worker in late:
            worker.timed_out = True
        return done + late


class _Worker:
    """One parser process and the task it is at."""

    def __init__(self, settings: ParseSettings) -> None:
        self.settings = settings
        self.process = subprocess.Popen(
            [sys.executable, "-m", "monjyu_assets.parsing.worker", settings.model_dump_json()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        assert self.process.stdin and self.process.stdout
        self.input, self.output = self.process.stdin, self.process.stdout
        os.set_blocking(self.output.fileno(), False)
        self.task: Task = {}
        self.buffer = bytearray()
        self.deadline = 0.0
        self.timed_out = False
        self.alive = True

    def give(self, task: Task) -> None:
        self.task, self.buffer, self.timed_out = task, bytearray(), False
        self.deadline = time.monotonic() + self.settings.timeout_seconds
        with contextlib.suppress(BrokenPipeError):  # read() then finds the process dead
            self.input.write(json.dumps(task).encode() + b"\n")
            self.input.flush()

    def read(self) -> bool:
        """Take what has come; True when the result is whole or the process has ended."""
        while chunk := self.output.read(1 << 20):
            self.buffer += chunk
        self.alive = chunk is None  # None: nothing more yet; empty: the pipe is closed
        return not self.alive or self.buffer.endswith(b"\n")

    def outcome(self) -> tuple[Task, Outcome]:
        if self.timed_out:
            self.alive = False
            limit = self.settings.timeout_seconds
            return self.task, DocumentTimeout(f"Parsing took longer than {limit:g} s.", "See parse.timeout_seconds.")
        if not self.buffer.endswith(b"\n"):
            return self.task, self._crash()
        return self.task, self._decode()

    def _decode(self) -> Outcome:
        try:
            answer = json.loads(self.buffer)
            self.alive = self.alive and not answer.get("exit")
            if "fatal" in answer:
                raise ConfigurationError(f"The parser cannot start: {answer['fatal']}.", "Install Monjyu again.")
            if "error" in answer:
                return document_error(answer["error"]["type"], answer["error"]["message"])
            return ParsedPaper.model_validate(answer["paper"])
        except (ValueError, KeyError, ValidationError) as error:
            self.alive = False
            return ParserCrash(f"The parser gave no paper: {error}"[:500])

    def _crash(self) -> DocumentError:
        code = self.process.wait(timeout=5)
        return ParserCrash(f"The parser's process ended ({code}).", "The file may be damaged or need too much memory.")

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        with contextlib.suppress(BrokenPipeError):
            self.input.close()
        self.output.close()
        self.process.wait()


def document_error(error_type: str, message: str) -> DocumentError:
    """The error of that name."""
    kinds = {kind.__name__: kind for kind in DocumentError.__subclasses__()}
    return kinds.get(error_type, ParserCrash)(message)
