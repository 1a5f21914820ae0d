"""When a run is started by itself: once for a change, never for one that was cancelled, and never where nothing
changed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from monjyu_assets.automation.sensors import nightly_schedule, watch_sources
from monjyu_assets.definitions import defs
from monjyu_assets.indexing.requests import index_collection
from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.orchestration.partitions import CHANGE_TAG, COLLECTION_TAG
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.watching import watch_collection
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import read_current
from tests.assets.changes import paper_text
from tests.assets.worlds import keep

CANCELED, FAILED = dg.DagsterRunStatus.CANCELED, dg.DagsterRunStatus.FAILURE


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two papers, published at level 0; kept beside what tests change."""
    root = tmp_path_factory.mktemp("watched")
    made = DataFolder(root / "live")
    for number in (11, 24):
        put(made, number)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", "")
        patch.setenv("MONJYU_DATA", str(made.root))
        index_collection(made, made.papers / "c", level=0)
    keep(root)
    return root


@pytest.fixture
def data(built: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    """Those papers as they were published, at the same path."""
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.setenv("MONJYU_DATA", str(built / "live"))
    monkeypatch.setenv("MONJYU_AUTOMATION__SETTLE_SECONDS", "0")
    shutil.rmtree(built / "live")
    shutil.copytree(built / "kept", built / "live")
    return DataFolder(built / "live")


@pytest.fixture
def instance(data: DataFolder) -> Iterator[dg.DagsterInstance]:
    with open_instance(data) as opened:
        yield opened


def put(data: DataFolder, number: int, name: str = "c", seed: int | None = None) -> None:
    (data.papers / name).mkdir(parents=True, exist_ok=True)
    (data.papers / name / f"p{number}.md").write_text(paper_text(number if seed is None else seed))


def tick(instance: dg.DagsterInstance, data: DataFolder) -> tuple[list[dg.RunRequest], str]:
    """What a tick of the sensor asks for, or why it waits."""
    answer = watch_sources(dg.build_sensor_context(instance=instance), data=DataFolderResource(root=str(data.root)))
    if isinstance(answer, dg.SkipReason):
        return [], str(answer.skip_message)
    assert isinstance(answer, dg.SensorResult)
    return list(answer.run_requests or []), ""


def run_of(
    instance: dg.DagsterInstance, request: dg.RunRequest, status: dg.DagsterRunStatus, **tags: str
) -> dg.DagsterRun:
    """A run as the daemon makes it of the request, which has ended so."""
    own = {**request.tags, "dagster/partition": str(request.partition_key), **tags}
    return instance.create_run_for_job(defs.resolve_job_def(str(request.job_name)), tags=own, status=status)


def test_one_run_of_the_level_is_asked_for_and_none_while_it_goes_on(
    data: DataFolder, instance: dg.DagsterInstance
) -> None:
    assert tick(instance, data) == ([], "c: nothing changed")
    put(data, 31)
    (request,), _ = tick(instance, data)
    assert (request.job_name, request.partition_key, request.tags[COLLECTION_TAG]) == ("level_0", "c", "c")
    run_of(instance, request, dg.DagsterRunStatus.STARTED)
    asked, why = tick(instance, data)
    assert asked == [] and "is in progress" in why


@pytest.mark.parametrize("status", [CANCELED, FAILED])
def test_a_run_that_was_ended_is_not_started_again_until_something_changes(
    data: DataFolder, instance: dg.DagsterInstance, status: dg.DagsterRunStatus, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(data, 31)
    (first,), _ = tick(instance, data)
    run_of(instance, first, status)
    for _ in range(3):
        asked, why = tick(instance, data)
        assert asked == [] and "waiting for another change, nightly, or you" in why

    put(data, 31, seed=32)
    (second,), _ = tick(instance, data)
    run_of(instance, second, status)
    assert tick(instance, data)[0] == []
    put(data, 31)
    (back,), _ = tick(instance, data)  # going back is a change, too
    assert back.run_key != first.run_key, "a sensor never repeats a run key"
    run_of(instance, back, status)

    assert tick(instance, data)[0] == []
    monkeypatch.setenv("MONJYU_CHUNKING__SIZE_TOKENS", "100")
    assert len(tick(instance, data)[0]) == 1, "a setting changed"


def test_how_far_a_run_got_is_no_change(data: DataFolder, instance: dg.DagsterInstance) -> None:
    put(data, 31)
    (request,), _ = tick(instance, data)
    run_of(instance, request, CANCELED)
    before = watch_collection(data, "c").key
    selection = [dg.AssetKey("paper_manifest"), dg.AssetKey("parsed_papers"), dg.AssetKey("chunks")]
    job = defs.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as other:
        other.add_dynamic_partitions("collections", ["c"])
        assert job.execute_in_process(instance=other, asset_selection=selection, partition_key="c").success
    assert watch_collection(data, "c").key == before
    assert tick(instance, data)[0] == []


def test_a_run_of_a_persons_that_was_cancelled_early_is_not_taken_over(
    data: DataFolder, instance: dg.DagsterInstance
) -> None:
    """It ended before it had looked at the sources, so it has no key of a change."""
    put(data, 31)
    run = instance.create_run_for_job(
        defs.resolve_job_def("level_0"), tags={COLLECTION_TAG: "c", "dagster/partition": "c"}, status=CANCELED
    )
    assert tick(instance, data)[0] == []
    found = instance.get_run_by_id(run.run_id)
    assert found is not None and found.tags[CHANGE_TAG] == watch_collection(data, "c").key
    put(data, 32)
    assert len(tick(instance, data)[0]) == 1


def test_a_new_folder_is_published_at_level_0_first_and_then_at_its_level(
    data: DataFolder, instance: dg.DagsterInstance
) -> None:
    put(data, 24, "new")
    for level in (0, 1):
        (request,), _ = tick(instance, data)
        assert (request.partition_key, request.job_name) == ("new", f"level_{level}")
        done = defs.resolve_job_def(str(request.job_name)).execute_in_process(
            instance=instance, partition_key="new", tags={**request.tags, "dagster/sensor_name": "watch_sources"}
        )
        assert done.success and read_current(data.collection("new"))
    assert tick(instance, data)[0] == []


def test_nightly_builds_what_was_cancelled_and_nothing_where_nothing_changed(
    data: DataFolder, instance: dg.DagsterInstance
) -> None:
    def night() -> list[dg.RunRequest]:
        context = dg.build_schedule_context(instance, scheduled_execution_time=datetime(2026, 11, 22, 2, tzinfo=UTC))
        return list(nightly_schedule(load_settings().automation)(context, data=DataFolderResource(root=str(data.root))))

    assert night() == []
    put(data, 31)
    (request,), _ = tick(instance, data)
    run_of(instance, request, CANCELED)
    (asked,) = night()
    assert (asked.partition_key, asked.run_key) == ("c", "c-2026-11-22T02:00")
    selected = {key.path[-1] for key in asked.asset_selection or []}
    assert {"paper_manifest", "index_snapshot"} <= selected and "noun_graph" not in selected
