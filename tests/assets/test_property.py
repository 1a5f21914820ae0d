"""An incremental index equals a full rebuild, whatever happened to it and to its folder, at every level.

`bench/bench_histories.py` tries as many random histories as one likes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monjyu_assets.indexing.index_operations import verify_all
from monjyu_core.storage.snapshot import read_current
from tests.assets.changes import Change, Folder
from tests.assets.histories import History, load, run_histories, surroundings
from tests.assets.worlds import World, differences
from tests.forked import Forked
from tests.object_servers import AZURITE, MISSING

pytestmark = pytest.mark.slow

ALL_LEVELS: list[list[Change]] = [
    [("level", 0, 3), ("bib", 1, 3), ("add", 4, 10), ("record", 2, 6)],
    [("swap", 0, 1), ("move", 1, 4), ("delete", 2, 0), ("setting", 0, 7), ("level", 0, 0), ("shuffle", 0, 1)],
    [("correct", 0, 0), ("correct", 1, 3), ("correct", 2, 1), ("move", 0, 5), ("level", 0, 1)],
    [("restore", 0, 0), ("edit", 0, 9), ("unrecord", 9, 0), ("level", 0, 1), ("broken", 0, 1)],
]
"""Upgrades, changes that levels 2 to 4 do not follow, and what was deleted comes back."""


def test_changes_at_all_levels_give_the_tables_of_a_fresh_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MONJYU_PUBLISH__KEEP_SNAPSHOTS", "2")
    folder = Folder(World(tmp_path / "data", tmp_path / "papers"))
    for number, seed in enumerate((3, 8, 15)):
        folder.apply(("add", number, seed))
    folder.apply(("record", 9, 5))
    folder.build()
    for batch in ALL_LEVELS:
        for change in batch:
            folder.apply(change)
        folder.build()
    folder.finish()
    fresh = folder.world.fresh(tmp_path / "fresh")
    fresh.build(folder.highest)
    apart = differences(folder.world, fresh)
    assert apart == [], apart
    before = read_current(folder.world.work.folder)
    assert not any(folder.world.build(folder.highest).values()) and read_current(folder.world.work.folder) == before
    assert not any(verify_all(folder.world.work.folder, None).values())


@pytest.fixture(scope="module")
def forked() -> Iterator[Forked]:
    made = Forked(load)
    yield made
    made.close()


def every_step(own: dict[str, Any]) -> None:
    """A history in which everything happens once."""
    made = type("Every", (History,), own)()
    try:
        made.begin()
        made.change("edit", 0, 4)
        made.ended("killed", 40, 4)
        made.level_from_now(0)
        made.import_library(7)
        made.ended("interrupted", 90, 9)
        made.clock_set_back(30)
        made.index_it(True)
        made.correct_one(1, 0, 0)
        made.switch_snapshot()
        if made.mounted:
            made.change("delete", 1, 0)
            made.read_only()
            made.full_disk(60, 11)
        if made.environment.get("MONJYU_STORAGE__URI"):
            made.other_machine()
        made.move_papers()
        made.change("move", 0, 5)
        made.ended("told to end", 60, 20)
        made.purge_one(1)
        made.downgrade_it(0)
    finally:
        made.teardown()
    assert own["done"]["histories"] == 1


def test_random_histories_give_the_tables_of_a_fresh_build(forked: Forked, tmp_path: Path) -> None:
    with surroundings(tmp_path, forked) as own:
        every_step(own)
        run_histories(3, own)
        print(own["done"])


def test_histories_over_s3_give_the_tables_of_a_fresh_build(forked: Forked, tmp_path: Path) -> None:
    with surroundings(tmp_path, forked, "s3") as own:
        every_step(own)
        run_histories(1, own)
        print(own["done"])


@pytest.mark.skipif(AZURITE is None, reason=MISSING)
def test_histories_over_azure_give_the_tables_of_a_fresh_build(forked: Forked, tmp_path: Path) -> None:
    with surroundings(tmp_path, forked, "azure") as own:
        run_histories(1, own)
        print(own["done"])
