"""A clock that is set back: snapshots, what is kept of them, of traces and claims, and automation keep their order."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from monjyu_assets.indexing.index_operations import roll_back, verify_all
from monjyu_assets.orchestration import watching
from monjyu_assets.publishing import publish as publishing
from monjyu_assets.publishing import snapshot_build
from monjyu_core.models.cache_sqlite import SQLiteCache
from monjyu_core.storage.snapshot import published, read_current
from monjyu_core.storage.state_store import StateStore
from monjyu_query.search.searcher import Searcher
from tests.assets.worlds import World, write_records
from tests.query.test_hot_swap import REQUEST

TEXTS = {str(number): f"This is record {number}. It speaks of graphs and of provenance." for number in range(3)}


class Clock:
    """`datetime.now` and `time.time`, set by hand for what is under test."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.at = datetime.now(UTC)
        clock = self

        class Set(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> Any:
                return clock.at.astimezone(tz)

        patch.setattr(snapshot_build, "datetime", Set)
        patch.setattr(time, "time", lambda: clock.at.timestamp())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.mark.slow
def test_snapshots_keep_the_order_of_their_publishes(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one moment, then an hour, then a year back; the oldest go, whatever their names would be by the clock."""
    monkeypatch.setenv("MONJYU_PUBLISH__KEEP_SNAPSHOTS", "2")
    world = World(tmp_path / "data", tmp_path / "papers")
    folder, made = world.work.folder, []
    reader: Searcher | None = None
    for number, back in enumerate((0, 0, 0, 1, 24 * 365, 0)):
        clock.at -= timedelta(hours=back)
        write_records(world.papers, TEXTS | {"new": f"Version {number} of a record on an eel that spawns."})
        world.build()
        made.append(str(read_current(folder)))
        assert made == sorted(set(made)) and published(folder) == made[-2:]
        assert publishing.is_published(world.work, 0), "the next run would publish it again"
        assert not world.publish().new
        reader = reader or Searcher(world.data, "c")
        found = reader.search(REQUEST)
        assert found.snapshot_id == made[-1] and f"Version {number}" in found.hits[0].text
    assert verify_all(folder, None) == {one: [] for one in made[-2:]}
    assert roll_back(folder, None) == made[-2]


def test_what_was_written_last_is_kept(tmp_path: Path, clock: Clock) -> None:
    store = StateStore(tmp_path)
    store.put("traces", "before", 1)
    clock.at -= timedelta(days=1)
    for name in ("after", "then"):
        store.put("traces", name, 1)
        store.keep_newest("traces", 2)
        assert name in store.keys("traces")
    assert store.keys("traces") == ["after", "then"]


def test_a_claim_from_before_the_clock_was_set_back_ends(tmp_path: Path, clock: Clock) -> None:
    cache = SQLiteCache(tmp_path / "cache.sqlite", 100)
    assert cache.claim("key", "elsewhere-1-a", 30) and not cache.claim("key", "another-2-b", 30)
    clock.at -= timedelta(hours=1)
    assert cache.claim("key", "another-2-b", 30)
    assert not cache.claim("key", "a-third-3-c", 30)
    cache.close()


def test_files_dated_ahead_are_not_waited_for(tmp_path: Path) -> None:
    world = World(tmp_path / "data", tmp_path / "papers")
    write_records(world.papers, TEXTS)
    [path] = list(world.papers.iterdir())
    assert watching._first_look(world.work).state == "settling"
    for ahead in (-3600, 3600):
        os.utime(path, (time.time() + ahead,) * 2)
        assert watching._first_look(world.work).state == "changed"
