"""PostgreSQL as Dagster's storage and four run workers, for real: the tables are those of one process."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from monjyu_core.storage.ids import file_paper_id, shard_of
from monjyu_core.storage.schemas import SHARDS
from tests.conftest import ROOT
from tests.postgres_server import PG_CTL, postgres
from tests.test_backfill import launch, versions, wait_for_backfill
from tests.test_up import ask, running_up

pytestmark = pytest.mark.slow

INSTANCE = ROOT / "deploy" / "dagster.postgres.yaml"
RUNS = "{ runsOrError { ... on Runs { results { status startTime endTime tags { key value } } } } }"
FIRST, LAST = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
needs_postgres = pytest.mark.skipif(PG_CTL is None, reason="no PostgreSQL: apt-get install postgresql")


def paper_of_shard(shard: str) -> str:
    """A file name whose paper lies in the shard."""
    return next(name for n in range(1000) if shard_of(file_paper_id(name := f"note-{n}.txt")) == shard)


def write_papers(folder: Path) -> None:
    folder.mkdir(parents=True)
    for number, shard in enumerate(SHARDS):
        text = f"Note {number}\n\nShard {shard} holds one paper of {number + 20} words, and its lease ends tomorrow.\n"
        (folder / paper_of_shard(shard)).write_text(text)


def test_the_instance_file_is_the_default_one_with_another_storage_and_more_workers() -> None:
    default, own = (yaml.safe_load(path.read_text()) for path in (ROOT / "dagster.yaml", INSTANCE))
    assert set(own) == set(default) and default.pop("storage") != own.pop("storage")
    assert own["concurrency"]["runs"].pop("max_concurrent_runs") == 4
    del default["concurrency"]["runs"]["max_concurrent_runs"]
    assert own == default


def test_the_instance_file_for_celery_adds_a_launcher_to_that() -> None:
    postgres_only, own = (
        yaml.safe_load(path.read_text()) for path in (INSTANCE, INSTANCE.with_name("dagster.celery.yaml"))
    )
    launcher = own.pop("run_launcher")
    assert own == postgres_only
    assert (launcher["module"], launcher["class"]) == ("dagster_celery.launcher", "CeleryRunLauncher")


@needs_postgres
def test_four_workers_on_postgresql_give_the_tables_of_one_process(
    tmp_path: Path, monjyu: Callable[..., subprocess.CompletedProcess[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv("MONJYU_RUNS__SHARDS_PER_RUN", "4")
    many, one = tmp_path / "many", tmp_path / "one"
    for data in (many, one):
        write_papers(data / "papers" / "samples")
    home = many / "state" / "dagster"
    home.mkdir(parents=True)
    shutil.copy(INSTANCE, home / "dagster.yaml")
    with postgres() as url:
        monkeypatch.setenv("MONJYU_POSTGRES_URL", url)
        with running_up(many, tmp_path / "log") as port:
            launched = launch(many, (tmp_path / "log").read_text())
            done = wait_for_backfill(port, launched["backfill_id"], 240)
            assert done["status"] == "COMPLETED_SUCCESS", (tmp_path / "log").read_text()[-4000:]
            runs = ask(port, RUNS)["runsOrError"]["results"]
    shard_runs = [run for run in runs if any(tag["key"] == FIRST and "|" in tag["value"] for tag in run["tags"])]
    spans = {tag["key"]: tag["value"] for run in shard_runs for tag in run["tags"] if tag["key"] in (FIRST, LAST)}
    assert len(shard_runs) == 4, spans
    assert most_at_once([(run["startTime"], run["endTime"]) for run in shard_runs]) >= 2
    assert not list(home.rglob("*.db")), "something was kept in SQLite beside PostgreSQL"
    assert monjyu(one, "index", one / "papers" / "samples").returncode == 0
    assert versions(many) == versions(one)


def most_at_once(spans: list[tuple[float, float]]) -> int:
    return max(sum(start <= moment < end for start, end in spans) for moment, _ in spans)
