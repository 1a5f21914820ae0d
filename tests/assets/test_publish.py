"""Publishing: closed sets only, checks that block, crashes that readers do not see, retention."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from filelock import FileLock, Timeout

from monjyu_assets.indexing.index_operations import verify_all
from monjyu_assets.publishing import candidate, checks, snapshot_build
from monjyu_assets.publishing import publish as publishing
from monjyu_assets.publishing.checks import check_vectors, over_parts
from monjyu_assets.publishing.publish import PublishBlocked, collect
from monjyu_assets.stages.paper_manifest import write_manifest
from monjyu_assets.stages.parsed_papers import parse_shards
from monjyu_assets.work.closed_set import RESTS_ON, lagging
from monjyu_core.errors import IndexBuildError, QueryError, StorageError
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage import manifest
from monjyu_core.storage.folders import CollectionFolder
from monjyu_core.storage.heads import Head
from monjyu_core.storage.ids import shard_of
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.parts import Part, PartStore
from monjyu_core.storage.schemas import SCHEMA_VERSION, SHARDS, TABLES
from monjyu_core.storage.snapshot import SnapshotReader, open_current, published, read_current
from monjyu_query.asking.request import SearchRequest
from monjyu_query.saved.listing import basis_of
from monjyu_query.search.searcher import Searcher
from tests.assets.worlds import World, records_file, write_records

TEXTS = {str(number): f"This is record {number}. It speaks of graphs and of provenance." for number in range(12)}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.of(tmp_path, records_file(TEXTS))


def test_a_snapshot_lists_what_it_is_made_of(world: World) -> None:
    snapshot = open_current(world.work.folder)
    manifest = snapshot.manifest
    assert manifest.rows["papers"] == 12
    assert sum(entry.rows for entry in manifest.search) == manifest.rows["chunks"] == 12
    expected = {
        name for name, spec in TABLES.items() if spec.level == 0 and spec.asset in RESTS_ON and not spec.optional
    }
    assert {entry.table for entry in manifest.parts} == expected
    assert snapshot.cursor().execute("SELECT count(DISTINCT shard) FROM papers").fetchall()[0][0] > 4


def test_each_level_says_since_when_it_is_as_it_is(world: World) -> None:
    before = open_current(world.work.folder).manifest
    assert before.built_at == {0: before.created_at}
    entry = before.parts[0].model_copy(update={"table": "graph_nodes", "shard": "all"})
    now = datetime.now(UTC) + timedelta(hours=1)
    written = now.isoformat(timespec="seconds")
    added: Any = SimpleNamespace(parts=[*before.parts, entry], before=before)
    assert snapshot_build._built_at(added, now) == {0: before.created_at, 1: written}
    changed: Any = SimpleNamespace(parts=before.parts[1:], before=before)
    assert snapshot_build._built_at(changed, now) == {0: written}
    older = before.model_copy(update={"built_at": {}})
    assert snapshot_build._built_at(SimpleNamespace(parts=before.parts, before=older), now) == {0: before.created_at}  # type: ignore[arg-type]


def test_a_set_that_is_not_closed_is_not_published(world: World) -> None:
    write_records(world.papers, TEXTS | {"new": "A new record."})
    from monjyu_assets.stages.paper_manifest import write_manifest

    before = read_current(world.work.folder)
    write_manifest(world.work, SHARDS)
    list(parse_shards(world.work, SHARDS))
    assert {lagging(world.work.parts, shard) for shard in SHARDS} == {None, "chunks"}
    with pytest.raises(IndexBuildError, match="chunks is behind in shards"):
        world.publish()
    assert read_current(world.work.folder) == before


def test_one_publisher_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all processes of the machine: the lock's file is the same for each."""
    folder = World(tmp_path / "data", tmp_path / "papers").work.folder
    monkeypatch.setattr(publishing, "LOCK_SECONDS", 0)
    with FileLock(folder.root / "publish.lock"), pytest.raises(Timeout), publishing.publish_lock(folder):
        pass
    with publishing.publish_lock(folder):
        pass


def test_a_failed_check_blocks(world: World) -> None:
    part = next(p for p in world.work.parts.heads("chunk_embeddings") if p.rows)
    rows = part.read()
    short = pa.array([[1.0, 0.0]] * len(rows), pa.list_(pa.float32()))
    broken = rows.set_column(rows.column_names.index("vector"), "vector", short)
    world.work.parts.write(
        "chunk_embeddings", part.shard, {"chunk_embeddings": broken}, inputs=part.inputs, code_version="broken"
    )
    with pytest.raises(PublishBlocked, match="dimensions") as blocked:
        world.publish()
    assert [check.name for check in blocked.value.checks if not check.passed] == ["dimensions"]


def test_a_vector_of_another_text_blocks_where_it_is_new(world: World) -> None:
    part = next(p for p in world.work.parts.heads("chunk_embeddings") if p.rows)
    rows = part.read()
    other = pa.array([np.roll(one, 7).tolist() for one in rows["vector"].to_pylist()], pa.list_(pa.float32()))
    stale = rows.set_column(rows.column_names.index("vector"), "vector", other)
    world.work.parts.write(
        "chunk_embeddings", part.shard, {"chunk_embeddings": stale}, inputs=part.inputs, code_version="broken"
    )
    with pytest.raises(PublishBlocked, match="vectors_hold") as blocked:
        world.publish()
    assert [check.count for check in blocked.value.checks if not check.passed] == [len(rows)]
    manifest, wrong = open_current(world.work.folder).manifest, part.shard
    settings = world.work.settings
    parts = [part for name in ("chunks", "chunk_embeddings") for part in world.work.parts.heads(name)]
    assert not check_vectors(parts, settings, manifest.parts).passed
    elsewhere = [one for one in parts if one.shard != wrong]
    assert check_vectors(elsewhere, settings).passed


def test_what_has_passed_is_not_asked_again_unless_the_question_is_another(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    @contextmanager
    def watched(parts: list[Part], *tables: Collection[str], **within: Any) -> Iterator[Any]:
        asked.append("".join(sorted({part.shard for part in parts if part.table == "chunks"})))
        with over_parts(parts, *tables, **within) as connection:
            yield connection

    monkeypatch.setattr(checks, "over_parts", watched)
    write_records(world.papers, TEXTS | {"3": "Record 3 says another thing of graphs."})
    world.build()
    assert asked == ["".join(SHARDS), shard_of("3")]
    monkeypatch.setitem(checks.CHECKS, "text_not_empty", ("Nothing passes.", "SELECT chunk_id FROM chunks"))
    with pytest.raises(PublishBlocked, match="text_not_empty fails for 12"):
        world.publish()


def test_parts_of_a_table_that_is_no_more_are_passed_over(world: World) -> None:
    """A collection of a former version is published anew, and its saved answers are read meanwhile."""
    folder = world.work.folder
    now = read_manifest(folder, read_current(folder))
    gone = now.parts[0].model_copy(update={"table": "tensions", "shard": "collection"})
    former = now.model_copy(update={"parts": [*now.parts, gone]})
    parts = [part for name in TABLES for part in world.work.parts.heads(name)]
    assert all(one.passed for one in checks.run_checks(parts, now.embedding, 254, former.parts))
    assert snapshot_build._by_level(former.parts) == snapshot_build._by_level(now.parts)
    assert basis_of(former, load_settings()) == basis_of(now, load_settings())


def test_search_files_of_other_shards_stay(world: World) -> None:
    """Also where a text goes; only the file of its shard is written anew."""
    before = {entry.name for entry in open_current(world.work.folder).manifest.search}
    write_records(world.papers, TEXTS | {"3": "Record 3 says another thing of graphs."})
    world.build()
    now = {entry.name for entry in open_current(world.work.folder).manifest.search}
    assert len(now - before) == len(before - now) == 1
    write_records(world.papers, {key: text for key, text in TEXTS.items() if key != "3"})
    world.build()
    assert len({entry.name for entry in open_current(world.work.folder).manifest.search} - now) <= 1


@pytest.mark.parametrize(
    ("module", "stage"),
    [(snapshot_build, "build_database"), (snapshot_build, "publish_search_files"), (candidate, "read_manifest")],
)
def test_a_crash_before_the_swap_leaves_readers_where_they_were(
    world: World, module: ModuleType, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = SnapshotReader(world.work.folder)
    before = reader.current()
    write_records(world.papers, TEXTS | {"new": "A new record."})

    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, stage, crash)
        with pytest.raises(KeyboardInterrupt):
            world.build()
    assert reader.current() is before
    assert before.cursor().execute("SELECT count(*) FROM papers").fetchall() == [(12,)]
    world.build()
    after = reader.current()
    assert after.cursor().execute("SELECT count(*) FROM papers").fetchall() == [(13,)]
    assert before.cursor().execute("SELECT count(*) FROM papers").fetchall() == [(12,)]
    assert not list(world.work.folder.snapshots.glob(".building-*"))


def test_old_snapshots_go_and_the_kept_ones_stay_whole(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_PUBLISH__KEEP_SNAPSHOTS", "2")
    for number in range(3):
        write_records(world.papers, TEXTS | {"new": f"Version {number} of a record."})
        world.build()
    kept = published(world.work.folder)
    assert len(kept) == 2
    for snapshot_id in kept:
        manifest = read_manifest(world.work.folder, snapshot_id)
        for entry in manifest.parts:
            assert world.work.parts.path(entry.table, entry.shard, entry.version).is_file()


def test_what_was_never_published_says_so(tmp_path: Path) -> None:
    world = World(tmp_path / "data", tmp_path / "papers")
    with pytest.raises(QueryError, match="monjyu index"):
        open_current(world.work.folder)


def test_a_snapshot_of_another_schema_is_refused_with_advice(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monjyu_core.storage.manifest.SCHEMA_VERSION", SCHEMA_VERSION + 1)
    with pytest.raises(StorageError, match="older"):
        open_current(world.work.folder)
    monkeypatch.setattr("monjyu_core.storage.manifest.SCHEMA_VERSION", 0)
    with pytest.raises(StorageError, match="Upgrade Monjyu"):
        open_current(world.work.folder)


def test_what_is_being_written_is_not_collected(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of a backfill has put a part and not yet named it in HEAD when another process publishes and collects."""
    folder, shard = world.work.folder, shard_of("a")
    write_records(world.papers, {"a": "Another text of the first record."})
    collecting: list[threading.Thread] = []
    changing = PartStore._changing

    def late(store: PartStore, asset: str, shard: str) -> AbstractContextManager[Head]:
        collecting.append(threading.Thread(target=collect, args=(folder, 5)))
        collecting[-1].start()
        collecting[-1].join(1)
        return changing(store, asset, shard)

    with monkeypatch.context() as patched:
        patched.setattr(PartStore, "_changing", late)
        write_manifest(world.work, (shard,), allow_deletes=True)
    collecting[0].join()
    head = world.work.parts.head("manifest", shard)
    assert head is not None and head.path.is_file()


def garble(path: Path) -> None:
    path.write_bytes(os.urandom(path.stat().st_size))


def lose_vectors(folder: CollectionFolder) -> None:
    for path in folder.search.iterdir():
        path.unlink()


DAMAGE: dict[str, Callable[[CollectionFolder, Path], None]] = {
    "database": lambda folder, snapshot: garble(snapshot / "index.duckdb"),
    "database gone": lambda folder, snapshot: (snapshot / "index.duckdb").unlink(),
    "vectors": lambda folder, snapshot: garble(next(folder.search.iterdir())),
    "vectors gone": lambda folder, snapshot: lose_vectors(folder),
    "manifest": lambda folder, snapshot: (snapshot / "manifest.json").write_text("{"),
    "CURRENT": lambda folder, snapshot: folder.current.write_text("../../../etc\n") and None,
}


@pytest.mark.parametrize(
    ("name", "changed"), [*((name, False) for name in DAMAGE), ("database", True), ("vectors gone", True)]
)
def test_a_damaged_snapshot_is_built_again_from_the_parts(world: World, name: str, changed: bool) -> None:
    """By the next publish, whether there is something new or not; what was damaged goes."""
    folder = world.work.folder
    before = str(read_current(folder))
    DAMAGE[name](folder, folder.snapshot(before))
    if changed:
        write_records(world.papers, TEXTS | {"new": "A new record."})
        world.build()
    else:
        assert not publishing.is_published(world.work, 0)
        world.publish()
    assert verify_all(folder, None) == {now: [] for now in published(folder)}
    assert read_current(folder) == published(folder)[-1]
    assert Searcher(world.data, "c").search(SearchRequest(query="provenance", collection="c")).hits
    assert before not in published(folder) or name == "CURRENT"


def test_a_snapshot_of_another_version_is_not_taken_for_damaged(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = str(read_current(world.work.folder))
    for module in (manifest, candidate, snapshot_build):
        monkeypatch.setattr(module, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    world.publish()
    assert before in published(world.work.folder)
    assert read_current(world.work.folder) != before
