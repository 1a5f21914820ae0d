"""Steps in processes of their own that begin with everything loaded: one process forks for each of them.

A library's threads do not outlive a fork, so the process that forks loads modules and does nothing else.
"""

from __future__ import annotations

import os
import pickle
import signal
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

HANGS = 600
"""Seconds after which a step hangs: it takes some two, on a machine however busy less than this."""


@dataclass(frozen=True)
class Ended:
    """`signal` that ended it, or what it gave, or the traceback of what it raised."""

    signal: int = 0
    result: Any = None
    error: str = ""


class Forked:
    """`run` work in a fork of a process in which `load` has run."""

    def __init__(self, load: Callable[[], None]) -> None:
        context = get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(target=_serve, args=(there, load))
        self._process.start()
        there.close()

    def run(self, work: Callable[..., Any], *arguments: Any) -> Ended:
        self._here.send((work, arguments))
        found: Ended = self._here.recv()
        return found

    def close(self) -> None:
        self._here.close()
        self._process.join(30)


def _serve(connection: Connection, load: Callable[[], None]) -> None:
    load()
    warnings.filterwarnings("ignore", "lancedb fork support")  # it has not been used here
    while True:
        try:
            work, arguments = connection.recv()
        except EOFError:
            return
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            _do(work, arguments, writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as said:
            content = said.read()
        status = os.waitpid(child, 0)[1]
        ended = pickle.loads(content) if content else Ended(os.WTERMSIG(status) if os.WIFSIGNALED(status) else -1)
        connection.send(ended)


def _do(work: Callable[..., Any], arguments: tuple[Any, ...], writing: int) -> None:
    signal.alarm(HANGS)
    try:
        ended = Ended(result=work(*arguments))
    except BaseException:
        ended = Ended(error=traceback.format_exc())
    with os.fdopen(writing, "wb") as telling:
        pickle.dump(ended, telling)
    os._exit(0)
