"""An incremental index equals a full rebuild, whatever happened to the folder, at every level.

`MONJYU_EXAMPLES=100 pytest tests/assets/test_property.py` tries as many random sequences; one that fails is made short
and printed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from monjyu_assets.maintenance.index_operations import verify_all
from monjyu_core.storage.snapshot import read_current
from tests.assets.changes import ACTIONS, Change, Folder
from tests.assets.worlds import World, differences
from tests.properties import example, given, sequences, st

CHANGE = st.tuples(st.sampled_from(ACTIONS), st.integers(0, 5), st.integers(0, 59))
BATCHES = st.lists(st.lists(CHANGE, min_size=1, max_size=5), min_size=1, max_size=3)
ALL_LEVELS: list[list[Change]] = [
    [("level", 0, 3), ("bib", 1, 3), ("add", 4, 10), ("record", 2, 6)],
    [("swap", 0, 1), ("move", 1, 4), ("delete", 2, 0), ("setting", 0, 7), ("level", 0, 0), ("shuffle", 0, 1)],
    [("correct", 0, 0), ("correct", 1, 3), ("correct", 2, 1), ("move", 0, 5), ("level", 0, 1)],
    [("restore", 0, 0), ("edit", 0, 9), ("unrecord", 9, 0), ("level", 0, 1), ("broken", 0, 1)],
]
"""Upgrades, changes that levels 2 to 4 do not follow, and what was deleted comes back."""


def check(batches: list[list[Change]], root: Path) -> None:
    """Apply and build each batch, then compare with what is built at once."""
    folder = Folder(World(root / "data", root / "papers"))
    for number, seed in enumerate((3, 8, 15)):
        folder.apply(("add", number, seed))
    folder.apply(("record", 9, 5))
    folder.build()
    for batch in batches:
        for change in batch:
            folder.apply(change)
        folder.build()
    folder.finish()
    fresh = folder.world.fresh(root / "fresh")
    fresh.build(folder.highest)
    apart = differences(folder.world, fresh)
    assert apart == [], apart
    before = read_current(folder.world.work.folder)
    assert not any(folder.world.build(folder.highest).values()) and read_current(folder.world.work.folder) == before
    assert not any(verify_all(folder.world.work.folder, None).values())


@pytest.mark.slow
@sequences(1)
@example(ALL_LEVELS)
@given(BATCHES)
def test_random_changes_give_the_tables_of_a_fresh_build(batches: list[list[Change]]) -> None:
    with tempfile.TemporaryDirectory() as root, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_DATA", f"{root}/data")
        patch.setenv("MONJYU_PARSE__TIMEOUT_SECONDS", "600")  # a busy machine is no failure
        patch.setenv("MONJYU_PUBLISH__KEEP_SNAPSHOTS", "2")
        check(batches, Path(root))
