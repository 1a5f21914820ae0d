"""Runs of a command on Dagster's SQLite files: few engines, and nothing missing or left over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from alembic.script import ScriptDirectory

from monjyu_assets import Indexer
from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.orchestration.runs import lasting_engines
from monjyu_core.storage.folders import DataFolder
from tests.assets.changes import paper_text

pytestmark = pytest.mark.slow


def test_one_edited_paper_takes_three_runs_and_one_engine_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    papers = tmp_path / "papers"
    papers.mkdir()
    for number in (11, 24):
        (papers / f"p{number}.md").write_text(paper_text(number))
    indexer = Indexer(tmp_path / "data")
    indexer.index(papers, collection="notes", level=1)
    before = {run.run_id for run in _runs(tmp_path / "data")}
    made: list[str] = []
    opened: list[str] = []
    create = sqlalchemy.create_engine

    def counted(url: str, **options: Any) -> sqlalchemy.Engine:
        made.append(url)
        engine = create(url, **options)
        sqlalchemy.event.listen(engine, "connect", lambda *_: opened.append(url))
        return engine

    monkeypatch.setattr(sqlalchemy, "create_engine", counted)
    (papers / "p11.md").write_text(paper_text(31))
    assert indexer.index(collection="notes").papers.changed == 1
    new = [run for run in _runs(tmp_path / "data") if run.run_id not in before]
    assert [run.job_name for run in new] == ["level_1"]
    assert all(run.is_success for run in new)
    assert len(made) == len(set(made)) == 4, "the runs, the schedules, the index of events, and the run"
    assert len(opened) <= 2 * len(made), "connections stay open, though each event asks for several"
    assert not [*(tmp_path / "data" / "state").rglob("*-wal")], "each file is written back when the command ends"
    with open_instance(DataFolder(tmp_path / "data")) as instance:
        stored = [instance.all_logs(run.run_id) for run in new]
    assert all(events and events[-1].is_dagster_event for events in stored)


def test_the_process_is_as_before_when_it_ends() -> None:
    before = sqlalchemy.create_engine, ScriptDirectory.from_config
    with lasting_engines():
        assert ScriptDirectory.from_config != before[1]
    assert (sqlalchemy.create_engine, ScriptDirectory.from_config) == before


def _runs(data: Path) -> list[Any]:
    with open_instance(DataFolder(data)) as instance:
        return list(instance.get_runs())


def test_what_a_full_disk_left_of_dagsters_files_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = DataFolder(tmp_path / "data")
    index = data.dagster / "history" / "runs" / "index.db"
    index.parent.mkdir(parents=True)
    index.touch()
    for wanted in ([], ["c"]):
        monkeypatch.setenv("DAGSTER_HOME", "")
        with open_instance(data) as instance:
            assert list(instance.get_dynamic_partitions("collections")) == wanted
            instance.add_dynamic_partitions("collections", ["c"])
