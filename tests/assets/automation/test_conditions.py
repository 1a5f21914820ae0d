"""Which assets follow a change made upstream: tried by telling an instance of materialisations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import dagster as dg
import pytest
from dagster._core.definitions.declarative_automation.serialized_objects import AutomationConditionCursor

from monjyu_assets.definitions import defs
from monjyu_assets.orchestration.partitions import shard_key
from monjyu_assets.publishing.closed_set import RESTS_ON, by_shard, level_of
from monjyu_core.storage.collection import CollectionRecord, save_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import ASSET_TABLES, SHARDS, empty

NAME = "notes"
DOWNSTREAM = ("chunks", "chunk_embeddings", "noun_phrases")
OF_PAPERS = ("paper_identity", "citation_network", "scholarly_metadata")
BY_SHARD = {asset for asset in RESTS_ON if by_shard(asset)}
ASSETS = [asset for asset in RESTS_ON if level_of(asset) <= 1]


class Instance:
    """An instance of a collection at level 1, and what its conditions ask for tick by tick."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance = instance
        self.cursor: AutomationConditionCursor | None = None
        instance.add_dynamic_partitions("collections", [NAME])
        # Which a tick asks for some thousand times, and a daemon reads once a tick.
        instance.get_dynamic_partitions = lambda partitions_def_name: [NAME]  # type: ignore[method-assign]

    def made(self, assets: Iterable[str], version: str, shards: Iterable[str] = SHARDS) -> None:
        for asset in assets:
            for key in [str(shard_key(NAME, shard)) for shard in shards] if asset in BY_SHARD else [NAME]:
                event = dg.AssetMaterialization(asset, partition=key, tags={"dagster/data_version": version})
                self.instance.report_runless_asset_event(event)

    def tick(self) -> dict[str, set[str]]:
        answer = dg.evaluate_automation_conditions(defs, self.instance, cursor=self.cursor)
        self.cursor = answer.cursor
        keys = defs.resolve_all_asset_keys()
        asked = {key.path[-1]: answer.get_requested_partitions(key) for key in keys}
        return {asset: {str(key).split("|")[-1] for key in found} for asset, found in asked.items() if found}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    return DataFolder(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def told(data: DataFolder) -> Iterator[Instance]:
    save_record(data.collection(NAME), CollectionRecord(name=NAME, level=1))
    with dg.DagsterInstance.ephemeral() as instance:
        found = Instance(instance)
        found.made([*ASSETS, "index_snapshot"], "1")
        yield found


@pytest.fixture
def notes(told: Instance, data: DataFolder, monkeypatch: pytest.MonkeyPatch) -> Instance:
    """All is made, and no tick asks for anything. The tests share it, since telling it takes seconds."""
    monkeypatch.setenv("MONJYU_DATA", str(data.root))
    save_record(data.collection(NAME), CollectionRecord(name=NAME, level=1))
    told.cursor = None
    assert told.tick() == {}
    assert told.tick() == {}
    return told


def test_three_changed_shards_ask_for_themselves_then_for_one_graph_and_one_snapshot(notes: Instance) -> None:
    notes.made(["parsed_papers"], "2", "159")
    assert notes.tick() == {asset: {"1", "5", "9"} for asset in DOWNSTREAM} | {asset: {NAME} for asset in OF_PAPERS}
    notes.made([*DOWNSTREAM, *OF_PAPERS], "2", "159")
    assert notes.tick() == {asset: {NAME} for asset in ("noun_graph", "communities", "index_snapshot")}
    notes.made(["noun_graph", "communities", "index_snapshot"], "2")
    assert notes.tick() == {}


def test_an_equal_result_ends_the_cascade(notes: Instance) -> None:
    notes.made(["parsed_papers"], "1", "34")
    assert notes.tick() == {}
    notes.made(["parsed_papers"], "3", "7")
    assert notes.tick() == {asset: {"7"} for asset in DOWNSTREAM} | {asset: {NAME} for asset in OF_PAPERS}
    notes.made(DOWNSTREAM, "1", "7")  # made again with the same result
    notes.made(OF_PAPERS, "2")
    assert set(notes.tick()) == {"index_snapshot"}


def test_a_collection_kept_at_level_0_does_not_climb_and_is_published(notes: Instance) -> None:
    save_record(DataFolder.default().collection(NAME), CollectionRecord(name=NAME, level=0))
    notes.made(["chunk_embeddings"], "2", "4")
    assert notes.tick() == {"index_snapshot": {NAME}}
    notes.made(["chunks"], "2", "4")
    assert set(notes.tick()) == {"chunk_embeddings"}


def test_nothing_that_is_missing_is_filled(notes: Instance) -> None:
    notes.instance.add_dynamic_partitions("collections", ["other"])
    assert notes.tick() == {}


def test_levels_beyond_1_follow_where_allowed_and_built_and_nowhere_else(
    notes: Instance, data: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_record(data.collection(NAME), CollectionRecord(name=NAME, level=2))
    notes.made(["extracted_entities"], "1")
    notes.tick()
    notes.made(["noun_graph"], "other")
    assert set(notes.tick()) == {"communities", "index_snapshot"}
    monkeypatch.setenv("MONJYU_AUTOMATION__AUTO_REFRESH_LEVELS", "[2]")
    assert "extracted_entities" not in notes.tick(), "nobody has built it"
    tables = {table: empty(table) for table in ASSET_TABLES["extracted_entities"]}
    PartStore(data.collection(NAME).parts).write("extracted_entities", "0", tables, inputs={}, code_version="1")
    assert notes.tick()["extracted_entities"] == set(SHARDS)
