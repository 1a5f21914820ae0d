"""The state store: small values that many processes write."""

from __future__ import annotations

import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from monjyu_core.storage.state_store import StateStore


def test_values_survive_and_are_replaced(tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    assert store.get("traces", "a") is None
    store.put("traces", "a", {"x": [1, "é"]})
    store.put("traces", "a", {"x": 2})
    assert StateStore(tmp_path).get("traces", "a") == {"x": 2}
    assert store.get("other", "a") is None
    store.delete("traces", "a")
    assert store.keys("traces") == []


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    store = StateStore(tmp_path)
    for number in range(6):
        store.put("traces", f"t{number}", number)
    store.put("other", "o", 1)
    store.keep_newest("traces", 2)
    assert store.keys("traces") == ["t4", "t5"]
    assert store.keys("other") == ["o"]


def test_many_writers_lose_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: StateStore(tmp_path).put("n", str(number), number), range(200)))
    assert len(StateStore(tmp_path).keys("n")) == 200


def test_a_new_store_waits_for_one_that_reads(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "state.sqlite", isolation_level=None)) as other:
        other.execute("CREATE TABLE t (x)")
        other.execute("BEGIN EXCLUSIVE")
        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(StateStore(tmp_path).put, "n", "a", 1)
            time.sleep(0.2)
            assert not writing.done()
            other.execute("COMMIT")
            writing.result()
    assert StateStore(tmp_path).get("n", "a") == 1
