"""What is in `state/` is for its owner only, whatever the umask and whatever was there before."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster._core.test_utils import create_run_for_test

from monjyu_assets.orchestration.instance import open_instance, prepare_home
from monjyu_core.models.cache_sqlite import SQLiteCache
from monjyu_core.models.ledger import Entry, Ledger, Scope, gather
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.state_store import StateStore, private_database
from monjyu_query.modes.lazy.judgements import JudgementStore
from monjyu_query.service.access.audit import AuditLog


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def open_to_others(state: Path) -> list[str]:
    found = [state, *state.rglob("*")]
    return [f"{path.name} {stat.S_IMODE(path.stat().st_mode):o}" for path in found if path.stat().st_mode & 0o077]


def use_all(data: DataFolder) -> None:
    """Everything that is kept there, with databases open, so that what SQLite keeps beside them is there as well."""
    store = StateStore(data.state)
    store.put("a", "b", 1)
    JudgementStore(data.state).put_many({"key": [1.0]})
    cache = SQLiteCache(data.state / "model_cache.sqlite", 100)
    cache.put_many({"key": b"value"})
    ledger = Ledger(data)
    ledger.record(Entry(scope=Scope("query", "x"), role="answer", model="m", provider="p", status="ok"))
    log = AuditLog(data.state / "audit")
    scope = {"state": {"request_id": "r"}, "method": "GET", "path": "/"}
    log.write(scope, "/", 200, 0.1)
    log.close()
    with sqlite3.connect(store.path) as held:
        held.execute("SELECT count(*) FROM state").fetchall()
        assert {"state.sqlite-wal", "model_cache.sqlite-wal"} <= {path.name for path in data.state.iterdir()}
        assert open_to_others(data.state) == []
    ledger.close()
    gather(data.state / "ledger", least=1)
    assert list((data.state / "ledger").glob("*.parquet")) and open_to_others(data.state) == []
    cache.close()


def test_what_is_made_is_its_owners(tmp_path: Path, umask: int) -> None:
    use_all(DataFolder(tmp_path / "data"))


def test_what_was_open_to_others_is_closed(tmp_path: Path) -> None:
    data = DataFolder(tmp_path / "data")
    use_all(data)
    (data.state / "dagster" / "storage").mkdir(parents=True)
    (data.state / "dagster" / "storage" / "log").touch()
    for path in [data.state, *data.state.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    StateStore(data.state).get("a", "b")
    assert open_to_others(data.state) == []
    (data.state / "state.sqlite").chmod(0o644)  # a copy that was put back, in a folder that is closed
    StateStore(data.state).get("a", "b")
    assert open_to_others(data.state) == []


def test_the_folders_beside_it_keep_the_modes_of_the_umask(tmp_path: Path) -> None:
    data = DataFolder(tmp_path / "data")
    (data.root / "papers").mkdir(parents=True)
    modes = {path: path.stat().st_mode for path in (data.root, data.papers)}
    use_all(data)
    assert {path: path.stat().st_mode for path in modes} == modes


def test_a_database_in_use_keeps_its_locks(tmp_path: Path) -> None:
    """Closing a file ends all locks that the process holds on it: one in use must not be opened beside SQLite."""
    path = tmp_path / "d.sqlite"
    private_database(path)
    with sqlite3.connect(path, isolation_level=None) as held:
        held.execute("CREATE TABLE t (a)")
        held.execute("BEGIN EXCLUSIVE")
        private_database(path)
        command = f"import sqlite3; sqlite3.connect({str(path)!r}, timeout=0).execute('SELECT * FROM t')"
        other = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert "locked" in other.stderr


def test_what_dagster_makes_is_closed_when_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    data = DataFolder(tmp_path / "data")
    made = data.dagster / "storage" / "runs.db"
    made.parent.mkdir(parents=True)
    made.touch()
    data.state.chmod(0o700)  # closed itself, as after the first command
    made.chmod(0o644)
    prepare_home(data)
    assert stat.S_IMODE(made.stat().st_mode) == 0o600 and stat.S_IMODE(data.dagster.stat().st_mode) == 0o700
    elsewhere = tmp_path / "home"
    elsewhere.mkdir()
    elsewhere.chmod(0o755)
    monkeypatch.setenv("DAGSTER_HOME", str(elsewhere))
    prepare_home(data)
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o755  # a home that was chosen is its chooser's


def test_the_events_of_a_run_are_its_owners_while_it_runs(tmp_path: Path, umask: int) -> None:
    """With DAGSTER_HOME outside of `state/`, whose folder is closed to others anyway."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
        with open_instance(DataFolder(tmp_path / "data")) as instance:
            run = create_run_for_test(instance, job_name="x")
            instance.report_engine_event("begun", dagster_run=run)
            files = sorted((tmp_path / "home").rglob("*.db*"))
            assert {"runs.db", "schedules.db", "index.db", f"{run.run_id}.db"} <= {path.name for path in files}
            assert [path.name for path in files if path.stat().st_mode & 0o077] == []
            assert [event.message for event in instance.all_logs(run.run_id)] == ["begun"]
