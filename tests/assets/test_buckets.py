"""Buckets: their number follows the papers, a change of it computes nothing, and a change of a paper writes its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_assets.publishing import database
from monjyu_assets.stages.shared import matching_cache as kept_matching
from monjyu_assets.stages.shared.matching_cache import LEAST, MOST, PAPERS, wanted_buckets
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.ids import bucket_of, buckets_of, shard_of, shard_of_bucket
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.snapshot import read_current
from tests.assets.worlds import World, differences, records_file, write_records
from tests.properties import given, st

TEXTS = {
    str(number): f"Record {number} speaks of graph index number {number} and of provenance. It has a secret{number}."
    for number in range(60)
}


@given(st.text(min_size=1), st.integers(0, 12))
def test_each_paper_lies_in_one_bucket_of_its_shard(paper_id: str, bits: int) -> None:
    shard, bucket = shard_of(paper_id), bucket_of(paper_id, 1 << bits)
    assert shard_of_bucket(bucket) == shard and bucket_of(paper_id, 1) == shard
    assert bits > 6 or bucket in buckets_of(shard, 1 << bits)
    assert bucket_of(paper_id, 2 << bits).startswith(bucket)


@given(st.integers(0, 200_000), st.integers(0, 10))
def test_the_number_is_a_power_of_two_and_stays_once_chosen(papers: int, bits: int) -> None:
    count = wanted_buckets(papers, 1 << bits)
    assert count & (count - 1) == 0
    assert count == 1 or papers / count >= LEAST * PAPERS
    assert papers / count <= MOST * PAPERS
    assert wanted_buckets(papers, count) == count


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small collection is treated like a large one."""
    monkeypatch.setattr(kept_matching, "PAPERS", 1)
    monkeypatch.setattr(database, "COPIED_ROWS", 0)


def counts(world: World) -> list[int]:
    return [world.work.parts.bucket_count(shard) for shard in "0123456789abcdef"]


@pytest.mark.slow
def test_dividing_computes_nothing_and_equals_a_build_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World.of(tmp_path, records_file(dict(list(TEXTS.items())[:50])), 1)
    before = read_current(world.work.folder)
    monkeypatch.setattr(kept_matching, "PAPERS", 1)
    monkeypatch.setattr(database, "COPIED_ROWS", 0)
    assert not any(world.build(1).values())
    assert max(counts(world)) >= 4 and read_current(world.work.folder) != before
    write_records(world.papers, TEXTS)
    new = set(TEXTS) - set(list(TEXTS)[:50])
    assert all(computed == new for computed in world.build(1).values())
    monkeypatch.undo()
    fresh = world.fresh(tmp_path / "fresh")
    fresh.build(1)
    assert counts(fresh) == [1] * 16
    assert world.tables() == fresh.tables()
    assert world.published() == fresh.published()


@pytest.mark.slow
@pytest.mark.usefixtures("large")
def test_a_change_writes_its_bucket_and_leaves_no_old_text(tmp_path: Path) -> None:
    world = World.of(tmp_path, records_file(TEXTS), variant="many buckets")
    store, old = world.work.parts, set(world.work.folder.parts.rglob("*.parquet"))
    edited = TEXTS | {"7": "Record 7 says something else."}
    del edited["30"]
    write_records(world.papers, edited)
    assert world.build()["parse"] == {"7"}
    touched = {bucket_of(paper_id, store.bucket_count(shard_of(paper_id))) for paper_id in ("7", "30")}
    tables = {path.parent.parent.name for path in set(world.work.folder.parts.rglob("*.parquet")) - old}
    assert {"chunks", "sentences"} <= tables
    for table in ("chunks", "sentences", "chunk_embeddings"):
        new = [part for part in store.heads(table) if part.path not in old]
        assert {part.shard for part in new} <= touched
    fresh = world.fresh(tmp_path / "fresh")
    fresh.build()
    assert differences(world, fresh) == []
    kept = text_of_parts(world.work.folder)
    assert "secret8." in kept and "secret7." not in kept and "secret30." not in kept
    database_bytes = world.work.folder.database(str(read_current(world.work.folder))).read_bytes()
    assert b"secret8." not in database_bytes


def text_of_parts(folder: CollectionFolder) -> str:
    """All that the parts of the current snapshot hold."""
    manifest = read_manifest(folder, str(read_current(folder)))
    store = PartStore(folder.parts)
    return str([store.open(part.table, part.shard, part.version).read().to_pydict() for part in manifest.parts])


@pytest.mark.slow
@pytest.mark.usefixtures("large")
def test_a_kill_while_dividing_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(kept_matching, "PAPERS", 1000)
        world = World.of(tmp_path, records_file(TEXTS))
    before, divide = world.tables(), kept_matching._divide_asset
    for calls in (1, 3, 6):
        left = [calls]

        def killed(*arguments: object, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            divide(*arguments)  # type: ignore[arg-type]

        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(kept_matching, "_divide_asset", killed)
            world.build()
        assert world.tables() == before
    assert not any(world.build().values())
    assert world.tables() == before and max(counts(world)) > 1
