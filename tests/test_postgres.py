"""PostgreSQL as Dagster's storage, for real: the tables of runs beside each other are those of one process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT, call_monjyu, run_monjyu
from tests.killing import unfinished_runs
from tests.postgres_server import PG_CTL, postgres, restartable
from tests.test_backfill import launch, versions, wait_for_backfill
from tests.test_up import ask, running_up
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

INSTANCE = ROOT / "deploy" / "dagster.postgres.yaml"
RUNS = "{ runsOrError { ... on Runs { results { status startTime endTime } } } }"
needs_postgres = pytest.mark.skipif(PG_CTL is None, reason="no PostgreSQL: apt-get install postgresql")


def write_papers(folder: Path, name: str) -> None:
    folder.mkdir(parents=True)
    for number in range(6):
        text = (
            f"Note {number}\n\nCollection {name} holds one note of {number + 20} words, and its lease ends tomorrow.\n"
        )
        (folder / f"{name}-{number}.txt").write_text(text)


def test_the_instance_file_is_the_default_one_with_another_storage_and_more_workers() -> None:
    default, own = (yaml.safe_load(path.read_text()) for path in (ROOT / "dagster.yaml", INSTANCE))
    assert set(own) == set(default) and default.pop("storage") != own.pop("storage")
    assert own == default


def test_the_instance_file_for_celery_adds_a_launcher_to_that() -> None:
    postgres_only, own = (
        yaml.safe_load(path.read_text()) for path in (INSTANCE, INSTANCE.with_name("dagster.celery.yaml"))
    )
    launcher = own.pop("run_launcher")
    assert own == postgres_only
    assert (launcher["module"], launcher["class"]) == ("dagster_celery.launcher", "CeleryRunLauncher")


@needs_postgres
def test_runs_beside_each_other_on_postgresql_give_the_tables_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    many, one, names = tmp_path / "many", tmp_path / "one", ("a", "b")
    for data in (many, one):
        for name in names:
            write_papers(data / "papers" / name, name)
    home = many / "state" / "dagster"
    home.mkdir(parents=True)
    shutil.copy(INSTANCE, home / "dagster.yaml")
    with postgres() as url:
        monkeypatch.setenv("MONJYU_POSTGRES_URL", url)
        with running_up(many, tmp_path / "log") as port:
            launched = [launch(many, (tmp_path / "log").read_text(), name)["backfill_id"] for name in names]
            for backfill in launched:
                done = wait_for_backfill(port, backfill, 600)
                assert done["status"] == "COMPLETED_SUCCESS", (tmp_path / "log").read_text()[-4000:]
            runs = ask(port, RUNS)["runsOrError"]["results"]
    assert most_at_once([(run["startTime"], run["endTime"]) for run in runs]) >= 2, runs
    assert not list(home.rglob("*.db")), "something was kept in SQLite beside PostgreSQL"
    for name in names:
        assert call_monjyu(one, "index", one / "papers" / name).returncode == 0
        assert versions(many, name) == versions(one, name)


@needs_postgres
def test_a_crash_of_postgresql_during_a_run_is_told_and_the_next_run_has_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", "")
    data, one, papers = tmp_path / "many", tmp_path / "one", tmp_path / "papers"
    write_papers(papers, "a")
    home = data / "state" / "dagster"
    home.mkdir(parents=True)
    shutil.copy(INSTANCE, home / "dagster.yaml")
    index = ["index", papers, "-c", "a"]
    with restartable() as (url, restart):
        monkeypatch.setenv("MONJYU_POSTGRES_URL", url)
        command = [sys.executable, "-m", "monjyu_core", *map(str, index)]
        with subprocess.Popen(
            command, env=os.environ | {"MONJYU_DATA": str(data)}, stderr=subprocess.PIPE, text=True
        ) as process:
            parts = data / "index" / "a" / "parts" / "chunks"
            wait_until(lambda: list(parts.glob("shard=*/HEAD")), 300, process=process)
            restart()
            said = process.communicate(timeout=300)[1]
        assert process.returncode in (0, 1, 3) and "Traceback" not in said, said
        assert run_monjyu(data, *index).returncode == 0
        assert unfinished_runs(data) == []
        assert call_monjyu(one, *index).returncode == 0
        assert versions(data, "a") == versions(one, "a")


def most_at_once(spans: list[tuple[float, float]]) -> int:
    return max(sum(start <= moment < end for start, end in spans) for moment, _ in spans)
