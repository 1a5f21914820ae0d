"""Kills at any moment: readers always find a whole snapshot, and the next run ends where an undisturbed one does."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from monjyu_core.folders import DataFolder
from monjyu_core.parts import PartStore
from monjyu_core.schemas import TABLES
from monjyu_core.snapshot import open_current
from tests.conftest import run_monjyu

KILLS = int(os.environ.get("MONJYU_KILLS", "4"))
WORDS = ["graph", "community", "provenance", "retrieval", "sentence", "index", "shard", "answer", "phrase", "evidence"]


def write_papers(folder: Path, seed: int) -> None:
    """Twelve papers, a few of which change with each seed."""
    chance = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for number in chance.sample(range(12), 4) if seed else range(12):
        sentences = [" ".join(chance.choices(WORDS, k=9)).capitalize() + "." for _ in range(20)]
        (folder / f"p{number}.md").write_text(f"# Paper {number} of {seed}\n\n## Results\n\n{' '.join(sentences)}\n")


def start_index(data: Path, papers: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "monjyu_core", "index", str(papers), "-c", "c", "--allow-deletes"],
        env=os.environ | {"MONJYU_DATA": str(data)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def readable(data: Path) -> int:
    """Papers in the published snapshot, every served table read."""
    snapshot = open_current(DataFolder(data).collection("c"))
    cursor = snapshot.cursor()
    for name, spec in TABLES.items():
        if spec.served and not spec.view and spec.level <= snapshot.manifest.level:
            assert cursor.execute(f'SELECT count(*) FROM "{name}"').fetchall()[0][0] == snapshot.manifest.rows[name]
    snapshot.close()
    return snapshot.manifest.rows["papers"]


def versions(data: Path) -> dict[tuple[str, str], str]:
    parts = PartStore(DataFolder(data).collection("c").parts)
    return {(part.table, part.shard): part.data_version for table in TABLES for part in parts.heads(table)}


def test_kills_at_random_points_lose_nothing(tmp_path: Path) -> None:
    data, papers = tmp_path / "data", tmp_path / "papers"
    write_papers(papers, 0)
    started = time.monotonic()
    first = run_monjyu(data, "index", papers, "-c", "c", "--json")
    assert first.returncode == 0, first.stderr
    longest = time.monotonic() - started
    chance = random.Random(7)
    for kill in range(1, KILLS + 1):
        write_papers(papers, kill)
        process = start_index(data, papers)
        time.sleep(chance.uniform(0.2, longest))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
        assert readable(data) == 12
    last = run_monjyu(data, "index", papers, "-c", "c", "--json")
    assert last.returncode == 0, last.stderr
    fresh = tmp_path / "fresh"
    undisturbed = run_monjyu(fresh, "index", papers, "-c", "c", "--json")
    assert undisturbed.returncode == 0, undisturbed.stderr
    assert versions(data) == versions(fresh)
    assert run_monjyu(data, "snapshots", "verify", "-c", "c").returncode == 0
    assert not list((data / "index").rglob(".*.tmp"))
    assert not list((data / "index").rglob(".building-*"))
    assert unfinished_runs(data) == []


def unfinished_runs(data: Path) -> list[str]:
    import dagster as dg

    from monjyu_assets.instance import open_instance

    with open_instance(DataFolder(data)) as instance:
        statuses = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.NOT_STARTED]
        return [run.run_id for run in instance.get_runs(dg.RunsFilter(statuses=statuses))]


@pytest.fixture(autouse=True)
def own_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", "")


def test_ctrl_c_ends_within_two_seconds_and_keeps_what_is_done(tmp_path: Path) -> None:
    data, papers = tmp_path / "data", tmp_path / "papers"
    papers.mkdir()
    text = " ".join(f"Sentence {number} speaks of graphs and of their many communities." for number in range(2000))
    records = [json.dumps({"id": f"r{number}", "title": f"T{number}", "text": text}) for number in range(60)]
    (papers / "r.jsonl").write_text("\n".join(records))
    process = start_index(data, papers)
    parts = data / "index" / "c" / "parts" / "chunks"
    deadline = time.monotonic() + 120
    while len(list(parts.glob("shard=*/HEAD"))) < 4 and time.monotonic() < deadline:
        time.sleep(0.1)
    kept = versions(data)
    asked = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.wait(20)
    assert time.monotonic() - asked < 2
    assert process.returncode == 130
    after = versions(data)
    assert kept.items() <= after.items()


def test_two_indexers_of_one_collection_wait_for_each_other(tmp_path: Path) -> None:
    data, papers = tmp_path / "data", tmp_path / "papers"
    write_papers(papers, 0)
    command = [sys.executable, "-m", "monjyu_core", "index", str(papers)]
    environment = os.environ | {"MONJYU_DATA": str(data)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    both = [subprocess.Popen([*command, "-c", name, "--json"], **pipes) for name in ("c", "c", "other")]  # type: ignore[call-overload]
    outputs = [process.communicate(timeout=200) for process in both]
    assert [process.returncode for process in both] == [0, 0, 0], outputs
    results = [json.loads(out) for out, _ in outputs]
    assert results[0]["snapshot_id"] == results[1]["snapshot_id"]
    assert {results[0]["papers"]["added"], results[1]["papers"]["added"]} == {0, 12}
    assert sum("waiting" in err for _, err in outputs[:2]) == 1
    assert results[2]["papers"]["added"] == 12
