"""schemathesis against the running service: every operation, from its own description."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from monjyu_core.storage.state_store import StateStore
from monjyu_query.service.access.keys import create_key
from tests.assets.worlds import World
from tests.conftest import SAMPLES
from tests.query.service.conftest import Served, running_service

pytestmark = pytest.mark.slow

PAPERS = ("incremental-indexes.txt", "relevance-budget.pdf")
"""Two of the samples, one with pages: a survey reads all papers there are, and is asked for a hundred times."""
CONFIG = """
[[operations]]
# OpenAI's clients take 400 for what is wrong and try a 409 again: a conversation without a question is a 400 there.
include-path-regex = "^/v1/(chat|embeddings)"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "429", "503"]
"""


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    data = tmp_path / "data"
    monkeypatch.setenv("MONJYU_DATA", str(data))
    world = World(data, data / "papers" / "samples", "samples")
    for name in PAPERS:
        shutil.copy(SAMPLES / name, world.papers)
    world.build()
    key = create_key(StateStore(data / "state"), "tests", "admin")[0]
    with running_service(data) as (served, _):
        yield replace(served, keys={"admin": key})


def test_the_interface_keeps_to_its_description(service: Served, tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json", "--no-color"]
    command += ["--max-examples", "2", "--seed", "7", "--phases", "examples,coverage,fuzzing", "--workers", "1"]
    command += ["-H", f"Authorization: Bearer {service.keys['admin']}", "--request-timeout", "30"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-6000:]
    tested = re.search(r"Tested: (\d+)", done.stdout)
    assert tested is not None and int(tested[1]) >= 18
