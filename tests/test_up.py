"""`make up` for real: server and daemon start, answer on loopback, and end with Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from monjyu_assets.up import check_port
from monjyu_core.errors import ConfigurationError

QUERY = """{
  instance { daemonHealth { allDaemonStatuses { daemonType healthy required } } }
  workspaceOrError {
    ... on Workspace { locationEntries { name locationOrLoadError { __typename ... on PythonError { message } } } }
  }
}"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def ask(port: int, query: str) -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/graphql",
        data=json.dumps({"query": query}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        answer: dict[str, Any] = json.load(response)
    assert "errors" not in answer, answer
    data: dict[str, Any] = answer["data"]
    return data


def healthy_daemons(data: dict[str, Any]) -> bool:
    needed = [status for status in data["instance"]["daemonHealth"]["allDaemonStatuses"] if status["required"]]
    return bool(needed) and all(status["healthy"] for status in needed)


@contextmanager
def running_up(data: Path, log: Path) -> Iterator[int]:
    """`make up` on a data folder; gives the port once the UI answers and the daemons are well, and ends it.

    This is where server, daemon and page are held to start, answer and stop: starting them once more for a test of
    that alone takes a core ten seconds.
    """
    port, page = free_port(), free_port()
    command = [sys.executable, "-m", "monjyu_core", "up", "--port", str(port), "--page-port", str(page)]
    environment = {**os.environ, "MONJYU_DATA": str(data), "PYTHONUNBUFFERED": "1"}
    with log.open("w") as output:
        up = subprocess.Popen(command, cwd=log.parent, env=environment, stdout=output, stderr=output)
        try:
            wait_for(lambda: f"The Dagster UI is at http://127.0.0.1:{port}" in log.read_text(), up, 120)
            wait_for(lambda: healthy_daemons(ask(port, QUERY)), up, 60)
            entries = ask(port, QUERY)["workspaceOrError"]["locationEntries"]
            assert [(entry["name"], entry["locationOrLoadError"]["__typename"]) for entry in entries] == [
                ("monjyu", "RepositoryLocation")
            ]
            assert (data / "state" / "dagster" / "dagster.yaml").is_file()
            assert f"The page is at http://127.0.0.1:{page}" in log.read_text()
            with urllib.request.urlopen(f"http://127.0.0.1:{page}/health", timeout=10) as answer:
                assert json.load(answer)["status"] == "ok"
            yield port
            children = psutil.Process(up.pid).children(recursive=True)
            asked = time.monotonic()
            up.send_signal(signal.SIGINT)
            assert up.wait(30) == 0
            assert time.monotonic() - asked < 10
            assert len(children) >= 3
            assert not psutil.wait_procs(children, timeout=5)[1]
        finally:
            if up.poll() is None:
                up.terminate()
                up.wait(30)


def wait_for(done: Any, process: subprocess.Popen[bytes], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert process.poll() is None, "it ended by itself"
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.3)


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"Port {port} .* cannot be used"):
            check_port(port)
        command = [sys.executable, "-m", "monjyu_core", "up", "--port", str(port)]
        environment = {**os.environ, "MONJYU_DATA": str(tmp_path / "data")}
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2
    assert "Choose another: --port " in result.stderr
