"""A publish between two searches: the next one reads the new snapshot, one that runs keeps its own."""

from __future__ import annotations

import gc
import os
import re
import shutil
import threading
import weakref
from pathlib import Path

import psutil
import pytest

from monjyu_core.storage.snapshot import is_leased
from monjyu_query.asking.request import SearchRequest
from monjyu_query.search.searcher import Searcher
from tests.assets.worlds import World, write_records

RECORDS = {
    "owl": "The owl sees by night. Its wings make no sound when it flies.",
    "bee": "The bee dances to show where flowers are. A hive has one queen.",
    "eel": "The eel swims to a far sea in order to spawn. Nobody has seen it happen.",
}
PUBLISHES = int(os.environ.get("MONJYU_PUBLISHES", "4"))
VERSION = re.compile(r"This is version (\d+)")
REQUEST = SearchRequest(query="Where does the eel spawn?", collection="c")
BREATH = 0.02
"""Seconds between two searches of a reader: without them the readers hold the core that the publishes need."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The records indexed, in `live` as in `kept`, from which each test starts."""
    root = tmp_path_factory.mktemp("hot_swap")
    made = World(root / "live" / "data", root / "live" / "papers")
    write_records(made.papers, RECORDS)
    made.build()
    shutil.copytree(root / "live", root / "kept")
    return root


@pytest.fixture
def world(built: Path) -> World:
    """At the paths that it was built at, which its tables name."""
    shutil.rmtree(built / "live")
    shutil.copytree(built / "kept", built / "live")
    return World(built / "live" / "data", built / "live" / "papers")


def test_the_next_search_reads_the_new_snapshot(world: World) -> None:
    searcher = Searcher(world.data, "c")
    before = searcher.search(REQUEST)
    held = searcher.current()
    gone = weakref.ref(held)
    assert (before.status, before.hits[0].paper_id) == ("complete", "eel")

    write_records(world.papers, {key: text for key, text in RECORDS.items() if key != "eel"})
    world.build()
    running = searcher._answered(searcher._ask(held, REQUEST, None, None))[1]
    assert running.snapshot_id == before.snapshot_id
    assert [hit.chunk_id for hit in running.hits] == [hit.chunk_id for hit in before.hits]

    after = searcher.search(REQUEST)
    assert after.snapshot_id != before.snapshot_id
    assert "eel" not in {hit.paper_id for hit in after.hits}
    assert after.status == "abstained"

    old = world.data.collection("c").snapshot(before.snapshot_id)
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
    assert result.warnings == ["The collection has no text to search."]


@pytest.mark.slow
def test_searching_all_the_while_publishes_happen(world: World) -> None:
    """No error, every answer from one snapshot, handles flat."""
    searcher = Searcher(world.data, "c")
    stop, errors, seen = threading.Event(), [], set()

    def search() -> None:
        while not stop.wait(BREATH):
            try:
                result = searcher.search(REQUEST)
                versions = {match[1] for hit in result.hits if (match := VERSION.search(hit.text))}
                assert len(versions) <= 1, versions
                seen.add(result.snapshot_id)
            except Exception as error:
                errors.append(error)
                return

    def publish(number: int) -> None:
        write_records(world.papers, {key: f"{text} This is version {number}." for key, text in RECORDS.items()})
        world.build()

    readers = [threading.Thread(target=search) for _ in range(2)]
    for reader in readers:
        reader.start()
    process = psutil.Process()
    handles, memory = [], []
    for number in range(PUBLISHES):
        publish(number)
        gc.collect()
        handles.append(process.num_fds())
        memory.append(process.memory_info().rss)
    stop.set()
    for reader in readers:
        reader.join(60)
    assert not errors, errors
    assert len(seen) >= PUBLISHES // 2
    half = PUBLISHES // 2
    assert max(handles[half:]) <= max(handles[:half]) + 20, handles
    assert max(memory[half:]) < max(memory[:half]) + 100 * 2**20, memory
