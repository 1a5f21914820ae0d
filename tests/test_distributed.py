"""A collection on four run workers that share nothing but an object store, PostgreSQL and Redis: killed in the middle,
and the tables are those of one process."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import TABLES
from tests.celery_workers import IS_THERE, MISSING, Machine, Worker, cluster
from tests.test_postgres import write_papers

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not IS_THERE, reason=MISSING)]

KILLS = int(os.environ.get("MONJYU_WORKER_KILLS", "6"))
SEED = int(os.environ.get("MONJYU_KILLS_SEED", "3"))
LONGEST = 900.0
"""Seconds for one command, on a machine however busy."""
QUICK = {"MONJYU_STORAGE__LEASE_SECONDS": "6", "MONJYU_RUNS__START_SECONDS": "40"}


def versions(data: Path) -> dict[tuple[str, str], str]:
    parts = PartStore(DataFolder(data).collection("c").parts)
    return {(part.table, part.shard): part.data_version for table in TABLES for part in parts.heads(table)}


def vectors(data: Path) -> dict[str, list[float]]:
    parts = PartStore(DataFolder(data).collection("c").parts).heads("chunk_embeddings")
    rows = [row for part in parts for row in part.read(["chunk_id", "vector"]).to_pylist()]
    return {row["chunk_id"]: row["vector"] for row in rows}


def add_documents(folder: Path) -> None:
    """A file of records, which workers do not see where it lies, and a PDF that nobody can read."""
    texts = [f"Record {n} holds a claim about the lease of shard {n % 7} and its fencing token." for n in range(24)]
    lines = [json.dumps({"id": f"r{n}", "title": f"Record {n}", "text": text}) for n, text in enumerate(texts)]
    (folder / "records.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 no more than that")


def finish(process: subprocess.Popen[str], code: int = 0) -> dict[str, object]:
    out, said = process.communicate(timeout=LONGEST)
    assert process.returncode == code, said[-4000:]
    found: dict[str, object] = json.loads(out)
    return found


def kill_while(process: subprocess.Popen[str], workers: list[Worker], chance: random.Random, kills: int) -> int:
    """Kill workers, one after the other, while a command waits for them; how many were."""
    done = 0
    while process.poll() is None and done < kills:
        time.sleep(chance.uniform(1.0, 8.0))
        worker = chance.choice(workers)
        if process.poll() is None:
            worker.kill()
            worker.start()
            done += 1
    return done


def same_tables(many: Path, one: Path) -> None:
    assert versions(many) == versions(one)
    mine, theirs = vectors(many), vectors(one)
    assert mine.keys() == theirs.keys()
    assert max(float(np.abs(np.subtract(mine[key], theirs[key])).max()) for key in mine) < 0.02, "batches differ"


def test_four_workers_killed_in_the_middle_give_the_tables_of_one_process(
    tmp_path: Path, monjyu: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    papers, chance = tmp_path / "papers", random.Random(SEED)
    write_papers(papers)
    add_documents(papers)
    command = ["index", papers, "-c", "c", "--level", "1", "--allow-deletes", "--json"]
    with cluster(tmp_path / "cluster", 4, **QUICK) as (publisher, workers):
        process = publisher.monjyu(*command)
        killed = kill_while(process, workers, chance, KILLS)
        assert finish(process, 1)["papers"]["total"] == 41  # type: ignore[index]
        check_shares_nothing(publisher, workers)
        assert monjyu(tmp_path / "one", *command).returncode == 1
        same_tables(publisher.data, tmp_path / "one")
        first = next(papers.glob("note-*.txt"))
        first.write_text(first.read_text() + "\nA sentence more, about provenance.\n")
        next(path for path in papers.glob("note-*.txt") if path != first).unlink()
        assert finish(publisher.monjyu(*command), 1)["papers"]["changed"] == 1  # type: ignore[index]
    assert monjyu(tmp_path / "one", *command).returncode == 1
    same_tables(publisher.data, tmp_path / "one")
    assert killed >= 2


def check_shares_nothing(publisher: Machine, workers: list[Worker]) -> None:
    """Each worker worked in its own folder, kept nothing of the papers, and no state of Dagster's."""
    for worker in workers:
        assert not list((worker.machine.data / "index").glob("*/parts"))
        assert not [path for path in worker.machine.data.rglob("*.parquet") if "workers" not in path.parts]
        assert not list(worker.machine.data.rglob("*.db"))
    assert not list(publisher.data.rglob("*.db")), "something was kept in SQLite beside PostgreSQL"
