"""Ports that are free, and waiting for what another process or thread does."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(
    holds: Callable[[], T],
    seconds: float = 30,
    *,
    process: subprocess.Popen[Any] | None = None,
    state: Callable[[], object] = lambda: "not in time",
    every: float = 0.05,
) -> T:
    """The first true value of `holds`. It fails with `state` after some seconds, or when the process has ended."""
    deadline = time.monotonic() + seconds
    while not (value := holds()):
        assert process is None or process.poll() is None, "it ended by itself"
        assert time.monotonic() < deadline, state()
        time.sleep(every)
    return value
