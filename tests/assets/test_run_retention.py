"""What `tidy` deletes and what it keeps: simulated days with a change a day."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from monjyu_assets.automation.maintenance_jobs import tidy_instance
from monjyu_assets.orchestration.instance import open_instance
from monjyu_core.storage.folders import DataFolder, folder_bytes

collections = dg.DynamicPartitionsDefinition(name="collections")
KEEP = 5


CHECK = dg.AssetCheckSpec("looked_at", asset="built", partitions_def=collections)


@dg.asset(partitions_def=collections, check_specs=[CHECK])
def built(context: dg.AssetExecutionContext):  # type: ignore[no-untyped-def]  # Dagster reads the annotation
    result = dg.AssetCheckResult(check_name=CHECK.name, passed=True, metadata={"text": "x" * 20_000})
    return dg.MaterializeResult(metadata={"text": "x" * 20_000}, check_results=[result])


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path))
    return DataFolder(tmp_path)


def run(instance: dg.DagsterInstance, data: DataFolder, at: datetime, name: str) -> str:
    """A run of that day: Dagster takes the time from the clock, so it is put back in its books."""
    done = dg.materialize([built], instance=instance, partition_key=name)
    with sqlite3.connect(data.dagster / "history" / "runs.db") as books:
        books.execute(
            "UPDATE runs SET create_timestamp = ?, update_timestamp = ? WHERE run_id = ?",
            (at.strftime("%Y-%m-%d %H:%M:%S"), at.strftime("%Y-%m-%d %H:%M:%S"), done.run_id),
        )
    return done.run_id


def test_old_runs_go_and_the_last_event_of_a_partition_stays(data: DataFolder) -> None:
    today = datetime(2026, 1, 1, tzinfo=UTC)
    sizes: dict[int, int] = {}
    with open_instance(data) as instance:
        instance.add_dynamic_partitions("collections", ["daily", "once"])
        once = run(instance, data, today, "once")
        first = run(instance, data, today, "daily")
        for day in range(1, 15):
            now = today + timedelta(days=day)
            run(instance, data, now, "daily")
            tidy_instance(instance, KEEP, now + timedelta(hours=1))
            sizes[day] = folder_bytes(data.dagster)
        assert sizes[14] == pytest.approx(sizes[9], rel=0.1)
        assert len(instance.get_runs()) == KEEP + 1, "those of five days, and the one of the other collection"
        assert instance.get_run_by_id(once) and not instance.get_run_by_id(first)
        for name in ("daily", "once"):
            wanted = dg.AssetRecordsFilter(asset_key=built.key, asset_partitions=[name])
            assert instance.fetch_materializations(wanted, limit=1).records
        results = instance.event_log_storage.get_asset_check_execution_history(CHECK.key, limit=99)
        assert len(results) == KEEP + 1 and {one.partition for one in results} == {"daily", "once"}
    files = [path.name for path in (data.dagster / "history" / "runs").iterdir() if first in path.name]
    assert not files and not list((data.dagster / "storage").glob(f"{first}*"))
