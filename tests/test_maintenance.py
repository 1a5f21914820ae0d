"""Snapshots listed, compared, verified, rolled back; papers purged; collections deleted."""

from __future__ import annotations

import gc
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from monjyu_assets.commands.snapshots_command import collections, purge, snapshots
from monjyu_assets.commands.sources_command import sources
from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.publishing.publish import is_published
from monjyu_core.core_commands import status
from monjyu_core.errors import ConfigurationError
from monjyu_core.models.ledger import Entry, Ledger, Scope
from monjyu_core.models.ledger_totals import CallFilter, usage_of
from monjyu_core.models.response_cache import labels_of, open_cache
from monjyu_core.models.types import TokenUsage
from monjyu_core.settings.models import CacheSettings
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.collection import save_record
from monjyu_core.storage.snapshot import Snapshot, SnapshotReader, is_leased, open_current, published, read_current
from monjyu_core.storage.state_store import StateStore
from monjyu_query.asking.request import make_request
from monjyu_query.ranking.open_index import OpenIndex, open_index
from monjyu_query.search.searcher import Searcher
from tests.assets.worlds import World, keep, put_back, write_records

TEXTS = {str(number): f"This is record {number}. It speaks of graphs and of provenance." for number in range(6)}
SECRET = "Zyzzyvaword is a library that shows better results than Python in this paper alone."


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three snapshots: six records, one more, and the first one's text changed; kept beside what tests change."""
    root = tmp_path_factory.mktemp("maintenance")
    made = World(root / "live" / "data", root / "live" / "papers")
    for texts in (TEXTS, TEXTS | {"secret": SECRET}, TEXTS | {"secret": SECRET, "0": "Another text. It is new."}):
        write_records(made.papers, texts)
        made.build()
    keep(root)
    return root


@pytest.fixture
def world(built: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Those snapshots as they were built, at the paths that they were built at."""
    made = put_back(built)
    monkeypatch.setenv("MONJYU_DATA", str(built / "live" / "data"))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    return made


def run(command: Any, *arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments, "--json"], catch_exceptions=False)


def asked(command: Any, *arguments: str) -> dict[str, Any]:
    result = run(command, *arguments)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_list_and_diff(world: World) -> None:
    rows = asked(snapshots, "list", "-c", "c")["snapshots"]
    assert [row["papers"] for row in rows] == [6, 7, 7]
    assert [row["current"] for row in rows] == [False, False, True]
    found = asked(snapshots, "diff", rows[0]["snapshot_id"], rows[2]["snapshot_id"], "-c", "c")
    assert (found["added"], found["changed"], found["deleted"]) == (["secret"], ["0"], [])
    assert found["rows"]["papers"] == [6, 7]


def test_what_only_reads_takes_the_only_collection(world: World) -> None:
    named = asked(snapshots, "list", "-c", "c")
    assert asked(snapshots, "list") == named and named["collection"] == "c"
    assert asked(snapshots, "verify")["collection"] == asked(sources, "list")["collection"] == "c"
    (world.data.index / "d").mkdir()
    for name in ("CURRENT", "collection.json"):
        (world.data.index / "d" / name).write_text('{"name": "d"}')
    with pytest.raises(ConfigurationError, match="Name one with -c: c, d"):
        run(snapshots, "list")


def test_a_rollback_holds_until_it_is_released(world: World) -> None:
    reader = SnapshotReader(world.work.folder)
    newest = reader.current().id
    older = asked(snapshots, "rollback", "-c", "c")["snapshot_id"]
    assert older < newest
    assert reader.current().id == older
    write_records(world.papers, TEXTS | {"1": "A new text for the second record."})
    world.build()
    assert reader.current().id == older
    released = asked(snapshots, "rollback", "--release", "-c", "c")["snapshot_id"]
    assert reader.current().id == released > newest


def test_dagster_is_told_which_snapshot_is_served(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_HOME", "")
    asked(snapshots, "rollback", "-c", "c")  # a collection that Dagster does not know: nothing to tell
    with open_instance(world.data) as instance:
        instance.add_dynamic_partitions("collections", ["c"])

    def newest() -> dg.AssetMaterialization:
        with open_instance(world.data) as instance:
            chosen = dg.AssetRecordsFilter(asset_key=dg.AssetKey("index_snapshot"), asset_partitions=["c"])
            event = instance.fetch_materializations(chosen, limit=1).records[0].asset_materialization
        assert event is not None
        return event

    older = asked(snapshots, "rollback", "-c", "c")["snapshot_id"]
    held = newest()
    assert held.metadata["snapshot_id"].value == older
    assert "held by a rollback" in str(held.metadata["served"].value)
    released = asked(snapshots, "rollback", "--release", "-c", "c")["snapshot_id"]
    assert (newest().metadata["snapshot_id"].value, newest().metadata["served"].value) == (released, "this snapshot")
    assert newest().tags != held.tags, "another data version"


def files(world: World) -> Iterator[Path]:
    """The files that the current snapshot lists, one of each kind."""
    folder = world.work.folder
    snapshot = open_current(folder)
    yield snapshot.folder / "manifest.json"
    yield snapshot.database
    for table in ("papers", "sentences", "chunk_embeddings"):
        entry = next(e for e in snapshot.manifest.parts if e.table == table and e.rows)
        yield world.work.parts.path(entry.table, entry.shard, entry.version)
    yield from (folder.search / entry.name for entry in snapshot.manifest.search[-2:])
    yield from (folder.tables(snapshot.id) / file.path for file in snapshot.manifest.lance[:2])
    yield folder.current
    snapshot.close()


def test_a_flipped_byte_in_any_file_is_found(world: World) -> None:
    assert run(snapshots, "verify", "-c", "c").exit_code == 0
    chance = random.Random(3)
    for path in list(files(world)):
        content = path.read_bytes()
        place = chance.randrange(len(content) - 1)
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x01]) + content[place + 1 :])
        assert run(snapshots, "verify", "-c", "c").exit_code == 1, path
        path.write_bytes(content)
    assert run(snapshots, "verify", "-c", "c").exit_code == 0


def test_a_purge_leaves_no_trace(world: World) -> None:
    world.build(level=4)
    record = world.work.record
    record.level = 4
    save_record(world.work.folder, record)
    assert "Zyzzyvaword" in json.dumps([world.tables()[name] for name in ("claims", "entity_mentions")])
    traces = StateStore(world.data.state)
    for name, collection in (("mine", "c"), ("other", "d")):
        traces.put("traces", name, {"collection": collection, "query": SECRET})
    done = asked(purge, "secret", "-c", "c")
    assert (traces.get("traces", "mine"), traces.get("traces", "other")) == (None, {"collection": "d", "query": SECRET})
    assert done["snapshots_removed"]
    assert published(world.work.folder) == [read_current(world.work.folder)]
    for path in filter(Path.is_file, world.work.folder.root.rglob("*")):
        text = (
            str(pq.read_table(path).to_pydict()) if path.suffix == ".parquet" else path.read_bytes().decode("latin-1")
        )
        assert "Zyzzyvaword" not in text, path
    assert "Zyzzyvaword" not in json.dumps(world.tables())
    assert open_current(world.work.folder).manifest.level == 4
    world.build()
    assert "secret" not in [row["paper_id"] for row in world.tables()["papers"]]


def test_calls_of_models_are_counted_in_status_and_their_answers_go_with_the_papers(world: World) -> None:
    none = {"llm_calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
    assert asked(status, "c")["collections"][0]["usage"] == {"0": none}
    ledger = Ledger(world.data)
    for collection, tokens in (("c", 5), ("c", 6), ("d", 100)):
        scope = Scope("asset", "claims", 4, collection)
        ledger.record(Entry(scope, "extract", "m", "fake", TokenUsage(tokens, 1), cost_usd=0.5))
    used = {"llm_calls": 2, "prompt_tokens": 11, "completion_tokens": 2, "cost_usd": 1.0}
    assert asked(status, "c")["collections"][0]["usage"] == {"0": none, "4": used}
    assert "level 4 took 2 model calls, 11 + 2 tokens, $1.0000" in CliRunner().invoke(status, ["c"]).output

    cache = open_cache(CacheSettings(), world.data)
    assert cache is not None
    cache.put_many({"secret": SECRET.encode()}, labels_of("c", ["secret", "0"]))
    cache.put_many({"other paper": b"1"}, labels_of("c", ["0"]))
    cache.put_many({"other collection": b"2"}, labels_of("d", ["secret"]))
    asked(purge, "secret", "-c", "c")
    assert cache.has_many(["secret", "other paper", "other collection"]) == {"other paper", "other collection"}
    assert not any(SECRET.encode() in path.read_bytes() for path in world.data.state.glob("model_cache*"))
    asked(collections, "delete", "c", "--yes")
    assert cache.has_many(["other paper", "other collection"]) == {"other collection"}
    assert usage_of(world.data, CallFilter(collection="c")).llm_calls == 2, "what was spent stays on the ledger"


def test_a_snapshot_in_use_is_not_collected(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_PUBLISH__KEEP_SNAPSHOTS", "1")
    reader = open_current(world.work.folder)
    write_records(world.papers, TEXTS | {"1": "Another text of the second record."})
    world.build()
    assert reader.id in published(world.work.folder)
    assert reader.cursor().execute("SELECT count(*) FROM papers").fetchall() == [(7,)]
    reader.close()
    write_records(world.papers, TEXTS)
    world.build()
    assert published(world.work.folder) == [read_current(world.work.folder)]


def test_a_deleted_collection_is_gone_and_its_sources_stay(world: World) -> None:
    assert [row["collection"] for row in asked(collections, "list")["collections"]] == ["c"]
    with pytest.raises(ConfigurationError, match="Known: c"):  # before anything is asked
        run(collections, "delete", "d")
    assert asked(collections, "delete", "c", "--yes")["bytes"] > 0
    assert asked(collections, "list")["collections"] == []
    assert (world.papers / "records.jsonl").is_file()


def test_a_partition_without_an_index_can_be_removed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a typing error in the UI's dialog leaves it."""
    monkeypatch.setenv("DAGSTER_HOME", "")
    with open_instance(world.data) as instance:
        instance.add_dynamic_partitions("collections", ["typo2", "c"])
    assert asked(collections, "delete", "typo2") == {"collection": "typo2", "deleted": True, "bytes": 0}
    with open_instance(world.data) as instance:
        assert instance.get_dynamic_partitions("collections") == ["c"]
    with pytest.raises(ConfigurationError, match="Known: c"):
        run(collections, "delete", "typo2")


def test_without_a_terminal_the_option_that_answers_is_named(world: World) -> None:
    with pytest.raises(ConfigurationError, match=r"no terminal to confirm at\. Pass --yes\."):
        run(collections, "delete", "c")
    assert read_current(world.work.folder) is not None


def test_a_purge_while_the_sources_are_away_takes_that_paper_alone(world: World) -> None:
    world.papers.rename(world.papers.with_name("unmounted"))
    asked(purge, "secret", "-c", "c")
    assert {row["paper_id"] for row in world.tables()["papers"]} == TEXTS.keys()
    assert "Zyzzyvaword" not in json.dumps(world.tables())


def test_a_deletion_that_was_killed_is_done_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before the folder is taken away it is a collection still, after that its rest goes with the next one."""
    monkeypatch.setattr("monjyu_assets.indexing.index_operations.remove_folder", _killed)
    with pytest.raises(Killed):
        asked(collections, "delete", "c", "--yes")
    monkeypatch.undo()
    monkeypatch.setenv("MONJYU_DATA", str(world.data.root))
    monkeypatch.setattr("monjyu_core.storage.folders.shutil.rmtree", _killed)
    with pytest.raises(Killed):
        asked(collections, "delete", "c", "--yes")
    monkeypatch.undo()
    monkeypatch.setenv("MONJYU_DATA", str(world.data.root))
    assert [path.name[:6] for path in world.data.index.iterdir()] == [".gone-"]
    assert asked(collections, "list")["collections"] == []
    assert asked(collections, "delete", "c", "--yes")["deleted"]
    assert list(world.data.index.iterdir()) == []
    with pytest.raises(ConfigurationError, match="has no index"):
        run(collections, "delete", "typo", "--yes")


class Killed(BaseException):
    """Not caught by what cleans up: what follows a SIGKILL does not run."""


def _killed(*_: object) -> None:
    raise Killed


def test_a_rollback_that_was_killed_half_way_is_finished_by_the_next_publish(world: World) -> None:
    folder, ids = world.work.folder, published(world.work.folder)
    folder.hold.write_text(f"{ids[0]}\n")  # its first step; the second would set CURRENT
    assert read_current(folder) == ids[2]
    assert not is_published(world.work, 0)
    world.publish()
    assert read_current(folder) == ids[0]
    folder.hold.write_text("gone\n")
    world.publish()
    assert read_current(folder) == ids[2], "a snapshot that is not there is not served"


def test_a_purge_between_opening_a_snapshot_and_reading_it_is_not_noticed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def late(snapshot: Snapshot, settings: Settings) -> OpenIndex:
        opened.append(snapshot.id)
        if len(opened) == 1:
            asked(purge, "secret", "-c", "c")
        return open_index(snapshot, settings)

    monkeypatch.setattr("monjyu_query.search.searcher.open_index", late)
    request = make_request(query="graphs and provenance", collection="c", mode="keyword", answer=False)
    result = Searcher(world.data, "c").search(request)
    assert len(opened) == 2
    assert result.snapshot_id == opened[1] == read_current(world.work.folder)


def test_a_request_keeps_its_snapshot_though_a_later_one_is_asked(world: World) -> None:
    searcher = Searcher(world.data, "c")
    snapshot = searcher.current().snapshot
    write_records(world.papers, TEXTS)
    world.build()
    assert searcher.current().snapshot is not snapshot
    folder = snapshot.folder
    assert is_leased(folder)
    assert snapshot.cursor().execute("SELECT count(*) FROM papers").fetchall() == [(7,)]
    del snapshot
    gc.collect()
    assert not is_leased(folder)
