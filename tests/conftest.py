"""Fixtures that many tests share: indexed collections, made once a session, and where the shared corpora lie."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

pytest_plugins = ["tests.skips"]

ROOT = Path(__file__).parent.parent
CORPORA = ROOT.parent / "shared" / "corpora"
SAMPLES = ROOT / "data" / "samples" / "papers"

needs_corpora = pytest.mark.skipif(not CORPORA.is_dir(), reason="../shared/corpora is absent: a clone has no corpora")


def run_monjyu(data: Path, *arguments: str | Path, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, on a data folder of its own."""
    return subprocess.run(
        [sys.executable, "-m", "monjyu_core", *map(str, arguments)],
        env=os.environ | {"MONJYU_DATA": str(data)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.fixture(scope="session")
def monjyu() -> Callable[..., subprocess.CompletedProcess[str]]:
    return run_monjyu


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that is made once a session, also where several processes run the tests."""
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, done = shared / name, shared / f"{name}.done"
    with FileLock(shared / f"{name}.lock"):
        if not done.exists():
            make(folder)
            done.touch()
    return folder


@pytest.fixture(scope="session")
def level_1_data(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same papers with their noun graph and communities. Read only."""

    def make(data: Path) -> None:
        shutil.copytree(sample_data, data)
        done = run_monjyu(data, "index", SAMPLES, "-c", "samples", "--level", "1", "--json")
        assert done.returncode == 0, done.stderr

    return once(tmp_path_factory, "level_1", make)


@pytest.fixture(scope="session")
def sample_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which the sample papers are indexed as `samples`. Read only."""

    def make(data: Path) -> None:
        done = run_monjyu(data, "index", SAMPLES, "-c", "samples", "--json")
        assert done.returncode == 0, done.stderr

    return once(tmp_path_factory, "level_0", make)
