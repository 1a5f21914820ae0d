"""A publish between two searches: the next one reads the new snapshot, one that runs keeps its own."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from monjyu_core.snapshot import is_leased
from monjyu_query.request import SearchRequest
from monjyu_query.search import Searcher
from tests.assets.worlds import World, write_records

RECORDS = {
    "owl": "The owl sees by night. Its wings make no sound when it flies.",
    "bee": "The bee dances to show where flowers are. A hive has one queen.",
    "eel": "The eel swims to a far sea in order to spawn. Nobody has seen it happen.",
}
REQUEST = SearchRequest(query="Where does the eel spawn?", collection="c")


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path / "data", tmp_path / "papers")
    write_records(world.papers, RECORDS)
    world.build()
    return world


def test_the_next_search_reads_the_new_snapshot(world: World) -> None:
    searcher = Searcher(world.data, "c")
    before = searcher.search(REQUEST)
    held = searcher.current()
    gone = weakref.ref(held)
    assert (before.status, before.hits[0].paper_id) == ("complete", "eel")

    write_records(world.papers, {key: text for key, text in RECORDS.items() if key != "eel"})
    world.build()
    running = searcher._search(held, REQUEST, "hybrid", before.routing)
    assert (running.snapshot_id, running.hits) == (before.snapshot_id, before.hits)

    after = searcher.search(REQUEST)
    assert after.snapshot_id != before.snapshot_id
    assert "eel" not in {hit.paper_id for hit in after.hits}
    assert after.status == "abstained"

    old = world.data.collection("c").snapshots / before.snapshot_id
    assert is_leased(old)
    del held
    gc.collect()
    assert gone() is None
    assert not is_leased(old)


def test_every_mode_forgets_a_deleted_paper(world: World) -> None:
    searcher = Searcher(world.data, "c")
    write_records(world.papers, {key: text for key, text in RECORDS.items() if key != "bee"})
    world.build()
    for mode in ("vector", "keyword", "hybrid"):
        request = SearchRequest(query="bee dances flowers hive queen", collection="c", mode=mode)
        assert "bee" not in {hit.paper_id for hit in searcher.search(request).hits}


def test_an_empty_collection_says_so(tmp_path: Path) -> None:
    world = World(tmp_path / "data", tmp_path / "papers")
    world.build()
    result = Searcher(world.data, "c").search(REQUEST)
    assert (result.status, result.hits) == ("abstained", [])
    assert result.warnings == ["The collection holds no text to search."]
