"""Fixtures that many tests share: indexed collections, made once a session, and where the shared corpora lie."""

from __future__ import annotations

import atexit
import gc
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from shutil import disk_usage
from typing import Any

import psutil
import pytest
from filelock import FileLock

from monjyu_core.cli import FEW_COLLECTIONS, main
from tests import bracketed
from tests.copies import copy_data
from tests.prepared import prepared

pytest_plugins = ["tests.durations", "tests.skips"]

os.environ.setdefault("MONJYU_PARSE__WORKERS", "1")
"""One parser process for each small index made here, for a second one takes longer to start than it has to do."""
os.environ.setdefault("MONJYU_EMBEDDING__THREADS", "1")
"""Each worker of a run has a core at most, and a model for one thread is compiled once for questions and batches."""
OF_WORKERS = {"OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
"""Threads of NumPy's would wait for each other on cores that they do not have; each further arena of malloc keeps
memory that only one thread can use."""

ROOT = Path(__file__).parent.parent
CORPORA = ROOT.parent / "shared" / "corpora"
SAMPLES = ROOT / "data" / "samples" / "papers"

needs_corpora = pytest.mark.skipif(not CORPORA.is_dir(), reason="../shared/corpora is absent: a clone has no corpora")


IN_MEMORY = Path("/dev/shm")
ROOM = 6 << 30
"""Bytes of memory that must be free: what the tests write is removed as they go, and is never more than 2 GiB."""


def pytest_configure(config: pytest.Config) -> None:
    """What `make test` writes, 200,000 small files, lies in memory where it has room for them: the system spends less
    than half as long on them as on those of a disk, which takes minutes to forget them."""
    os.environ |= OF_WORKERS
    roomy = IN_MEMORY.is_dir() and min(disk_usage(IN_MEMORY).free, psutil.virtual_memory().available) > ROOM
    if roomy and config.getoption("markexpr") == "not slow":
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The million objects of the libraries and tests are no garbage: looking for it among them, while they are loaded
    and then again and again, took a third of what collecting takes, and half a second each later time. After that
    garbage is looked for as seldom as in a command."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(FEW_COLLECTIONS)
        gc.enable()
        atexit.register(gc.unfreeze)  # DuckDB's module complains of objects that outlive the interpreter


def _sqlite_that_does_not_wait(*arguments: Any, **options: Any) -> sqlite3.Connection:
    connection = _connect(*arguments, **options)
    connection.execute("PRAGMA synchronous=OFF")
    return connection


_connect = sqlite3.connect
if os.environ.get("MONJYU_TEST_FSYNC") != "1":
    # Waiting for the disk is a fifth of the time of the tests, and guards against what none of them can do: cutting the
    # power. Processes that tests start and kill do wait.
    os.fsync = lambda file: None
    sqlite3.connect = sqlite3.dbapi2.connect = _sqlite_that_does_not_wait  # type: ignore[attr-defined]


def run_monjyu(data: Path, *arguments: str | Path, timeout: float = 900) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own, on a data folder of its own."""
    return subprocess.run(
        [sys.executable, "-m", "monjyu_core", *map(str, arguments)],
        env=os.environ | {"MONJYU_DATA": str(data)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def call_monjyu(data: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The same in this process, for what does not hang on one of its own: each start takes seconds of a core."""
    command, code = list(map(str, arguments)), 0
    out, errors = StringIO(), StringIO()
    from tests.assets.in_process import parsed_here

    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(errors), parsed_here():
        patch.setenv("MONJYU_DATA", str(data))
        patch.setenv("DAGSTER_HOME", "")  # a command that opens Dagster's instance sets it
        try:
            main(command)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return subprocess.CompletedProcess(command, code, out.getvalue(), errors.getvalue())


@contextmanager
def dagster_home_put_back() -> Iterator[None]:
    before = os.environ.get("DAGSTER_HOME")
    try:
        yield
    finally:
        os.environ.pop("DAGSTER_HOME", None)
        if before is not None:
            os.environ["DAGSTER_HOME"] = before


@pytest.fixture
def no_instance() -> Iterator[None]:
    """For loading definitions: instances of earlier tests that ended in another order than they began leave Dagster
    the storage of one that is gone."""
    from dagster._core.storage.defs_state.base import set_defs_state_storage

    with set_defs_state_storage(None):
        yield


@pytest.fixture(autouse=True, scope="module")
def _no_instance_of_another_module() -> Iterator[None]:
    """As `no_instance`, where Dagster is there at all."""
    if "dagster" not in sys.modules:
        yield
        return
    from dagster._core.storage.defs_state.base import set_defs_state_storage

    with set_defs_state_storage(None):
        yield


@pytest.fixture(autouse=True, scope="module")
def _dagster_home_of_a_module() -> Iterator[None]:
    with dagster_home_put_back():
        yield


@pytest.fixture(autouse=True)
def _dagster_home_of_a_test() -> Iterator[None]:
    """Opening an instance sets DAGSTER_HOME, and the next test has another data folder."""
    with dagster_home_put_back():
        yield


@pytest.fixture(scope="session")
def monjyu() -> Callable[..., subprocess.CompletedProcess[str]]:
    return run_monjyu


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
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


def copied(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A session's copy of a data folder that is prepared: not for what depends on where it was made."""
    return once(factory, name, lambda folder: copy_data(prepared(name, make), folder))


def index_samples(data: Path, *options: str) -> None:
    done = call_monjyu(data, "index", SAMPLES, "-c", "samples", *(options or ("--level", "0")), "--json")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def sample_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which the sample papers are indexed as `samples`. Read only."""
    return copied(tmp_path_factory, "level_0", index_samples)


@pytest.fixture(scope="session")
def level_1_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same papers with their noun graph and communities. Read only."""

    def raised(data: Path) -> None:
        copy_data(prepared("level_0", index_samples), data)
        index_samples(data, "--level", "1")

    return copied(tmp_path_factory, "level_1", raised)


@pytest.fixture(scope="session")
def bracketed_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the papers of `tests.bracketed`. Its papers are read only."""

    def make(data: Path) -> None:
        papers = data / "papers" / bracketed.COLLECTION
        bracketed.write_papers(papers)
        done = call_monjyu(data, "index", papers, "--level", "0", "--json")
        assert done.returncode == 0, done.stderr

    return copied(tmp_path_factory, "bracketed", make)


@pytest.fixture
def without_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that do not depend on which sentences are chosen: reading a passage takes a quarter of a second."""
    monkeypatch.setenv("MONJYU_SEARCH__READER", "off")


@pytest.fixture(scope="module")
def module_without_reader() -> Iterator[None]:
    """The same for a whole module with the searchers and services that its tests share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_SEARCH__READER", "off")
        yield
