"""An instance of version 0.2, whose assets of papers have events by shard: no page is empty, nothing else changes."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest

from monjyu_assets.automation.maintenance_jobs import tidy
from monjyu_assets.orchestration.instance import open_instance, prepare_home, repository_origin
from monjyu_assets.orchestration.migration import OLD_COMMAND_TAG, adopt_collections
from monjyu_assets.work.closed_set import RESTS_ON, asset_version, by_shard, primary
from monjyu_core.storage.schemas import COLLECTION_SHARD, SHARDS
from tests.assets.changes import built_world
from tests.assets.worlds import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))
    return built_world(tmp_path, 3, 1)


def files(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_what_was_built_is_reported_once_under_the_new_partitions(world: World) -> None:
    of_papers = [asset for asset in filter(by_shard, RESTS_ON) if world.work.parts.heads(primary(asset))]
    with open_instance(world.data) as instance:
        instance.add_dynamic_partitions("collections", ["c"])
        for asset in of_papers:
            for shard in SHARDS:
                event = dg.AssetMaterialization(asset, partition=f"c|{shard}", metadata={"papers_total": 1})
                instance.report_runless_asset_event(event)
        killed = instance.create_run_for_job(tidy, tags={OLD_COMMAND_TAG: "c"}, status=dg.DagsterRunStatus.STARTED)
        before = files(world.data.index)

        assert adopt_collections(instance, world.data) == []
        for asset in of_papers:
            wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=["c"])
            (record,) = instance.fetch_materializations(wanted, limit=9).records
            assert record.asset_materialization is not None
            version = (record.asset_materialization.tags or {})["dagster/data_version"]
            assert version == asset_version(world.work.parts, asset, COLLECTION_SHARD)
        ended = instance.get_run_by_id(killed.run_id)
        assert ended is not None and ended.status == dg.DagsterRunStatus.FAILURE
        count = len(instance.fetch_materializations(dg.AssetKey("chunks"), limit=99).records)
        adopt_collections(instance, world.data)
        assert len(instance.fetch_materializations(dg.AssetKey("chunks"), limit=99).records) == count == 17
    assert files(world.data.index) == before, "the data folder is not touched"


def test_the_state_of_a_sensor_that_is_no_more_goes(world: World) -> None:
    from dagster._core.definitions.run_request import InstigatorType
    from dagster._core.scheduler.instigation import InstigatorState, InstigatorStatus, SensorInstigatorData

    origin = repository_origin().get_instigator_origin("follow_changes")
    state = InstigatorState(origin, InstigatorType.SENSOR, InstigatorStatus.RUNNING, SensorInstigatorData())
    with open_instance(world.data) as instance:
        instance.add_instigator_state(state)
        adopt_collections(instance, world.data)
        assert instance.all_instigator_state() == []


def test_an_instance_file_that_nobody_edited_is_brought_up_to_date(world: World) -> None:
    home = prepare_home(world.data)
    template = (home / "dagster.yaml").read_bytes()
    (home / "dagster.yaml").write_text("# mine\n")
    assert (prepare_home(world.data) / "dagster.yaml").read_text() == "# mine\n"
    assert b"max_concurrent_runs: 6" in template
