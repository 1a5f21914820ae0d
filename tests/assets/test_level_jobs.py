"""Jobs `level_N`, as the UI starts them: the launch form, its errors, upgrade and downgrade; and what a run says of
itself: the cause of a failure, that it publishes nothing, when a table was computed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest
from filelock import FileLock, Timeout

from monjyu_assets.definitions import defs
from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.orchestration.partitions import CHANGE_TAG, COLLECTION_TAG
from monjyu_core.storage.collection import known_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import current_manifest, read_current
from tests.assets.changes import paper_text


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    """A data folder of which nobody knows anything but that papers were put into its place for them."""
    monkeypatch.setenv("DAGSTER_HOME", "")
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))
    folder = DataFolder(tmp_path / "data")
    put(folder.papers / "c", 11)
    return folder


@pytest.fixture
def instance(data: DataFolder) -> Iterator[dg.DagsterInstance]:
    with open_instance(data) as opened:
        yield opened


def put(folder: Path, number: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"p{number}.md").write_text(paper_text(number))


def press(instance: dg.DagsterInstance, job: str, collection: str = "c", **form: Any) -> dg.ExecuteInProcessResult:
    """Launch the job for a collection, which *Add a partition* has named, with this form of the resource `build`."""
    if not instance.has_dynamic_partition("collections", collection):
        instance.add_dynamic_partitions("collections", [collection])
    config = {"resources": {"build": {"config": form}}} if form else {}
    return defs.resolve_job_def(job).execute_in_process(
        instance=instance, run_config=config, partition_key=collection, raise_on_error=False
    )


def said(result: dg.ExecuteInProcessResult) -> tuple[str, str]:
    """The description of the failure as the UI shows it first, and the metadata beside it."""
    (event,) = [event for event in result.all_events if event.event_type_value == "STEP_FAILURE"]
    failed = event.step_failure_data.user_failure_data
    assert failed is not None and failed.description
    way = failed.metadata.get("what_to_do")
    return failed.description, str(way.value) if way else ""


def log(instance: dg.DagsterInstance, result: dg.ExecuteInProcessResult) -> str:
    return "\n".join(record.user_message for record in instance.all_logs(result.run_id))


def metadata(instance: dg.DagsterInstance, asset: str, partition: str) -> dict[str, Any]:
    wanted = dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=[partition])
    event = instance.fetch_materializations(wanted, limit=1).records[0].asset_materialization
    assert event is not None
    return {name: value.value for name, value in event.metadata.items()}


def test_a_run_brings_the_collection_to_the_level(data: DataFolder, instance: dg.DagsterInstance) -> None:
    """From an empty data folder up, then down again; a press that would lower it by mistake is refused. Nothing counts
    as out of date meanwhile: the external folder, which has no versions, must not make what is scanned of it look
    old."""
    done = press(instance, "level_1")
    assert done.success
    assert (current_manifest(data.collection("c")).level, known_record(data, "c").level) == (1, 1)
    (run,) = instance.get_runs()
    assert run.tags[COLLECTION_TAG] == "c" and run.tags[CHANGE_TAG]
    steps = {event.step_key for event in done.all_events if event.event_type_value == "STEP_SUCCESS"}
    assert {"paper_manifest", "noun_graph", "index_snapshot"} < steps and "snapshot_fresh" not in " ".join(
        map(str, steps)
    )
    resolver = CachingStaleStatusResolver(instance, defs.resolve_asset_graph(), LoadingContextForTest(instance))
    for asset in ("paper_manifest", "parsed_papers", "chunks", "noun_phrases", "communities", "index_snapshot"):
        assert resolver.get_status(dg.AssetKey(asset), "c") == StaleStatus.FRESH, asset

    before = read_current(data.collection("c"))
    assert press(instance, "level_1").success and read_current(data.collection("c")) == before

    description, way = said(press(instance, "level_0"))
    assert description.startswith("c is at level 1, above level 0; nothing was done.")
    assert "job level_1 updates it" in way and "`downgrade: true`" in way
    assert press(instance, "level_0", downgrade=True).success
    assert (current_manifest(data.collection("c")).level, known_record(data, "c").level) == (0, 0)


@pytest.mark.parametrize(
    ("collection", "form", "words"),
    [
        ("d", {}, "Collection 'd' is not known"),
        ("A b", {}, "'A b'"),
        ("d", {"sources": ["/nowhere/papers"]}, "/nowhere/papers does not exist."),
    ],
)
def test_what_cannot_be_meant_ends_at_once_and_says_why(
    data: DataFolder, instance: dg.DagsterInstance, collection: str, form: dict[str, Any], words: str
) -> None:
    description, _ = said(press(instance, "level_2", collection, **form))
    assert words in description
    assert data.collections() == [] and not data.collection("d").root.exists()


class Busy(FileLock):
    """A lock that another process has at the first look."""

    def acquire(self, timeout: float | None = None, **how: Any) -> Any:
        if timeout == 0:
            raise Timeout(str(self.lock_file))
        return super().acquire(timeout, **how)


def test_a_run_takes_the_sources_of_its_form_and_waits_for_the_lock_of_its_collection(
    data: DataFolder, instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock keeps two builds of a collection apart, whoever started them."""
    monkeypatch.setattr("monjyu_assets.planning.targets.FileLock", Busy)
    put(tmp_path / "Elsewhere", 24)
    done = press(instance, "level_0", "elsewhere", sources=[str(tmp_path / "Elsewhere")])
    assert done.success and "Another build of elsewhere is running; waiting for it." in log(instance, done)
    record = known_record(data, "elsewhere")
    assert (record.sources, record.level) == ([str(tmp_path / "Elsewhere")], 0)


def materialise(instance: dg.DagsterInstance, *assets: str) -> dg.ExecuteInProcessResult:
    """*Materialize* on a selection in the lineage."""
    job = defs.resolve_implicit_global_asset_job_def()
    selected = [dg.AssetKey(asset) for asset in assets]
    return job.execute_in_process(instance=instance, asset_selection=selected, partition_key="c", raise_on_error=False)


def test_level_1_without_level_0_fails_at_once_with_what_to_do(data: DataFolder, instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("collections", ["c"])
    for asset, needs in (("noun_phrases", "chunks"), ("communities", "noun_graph"), ("index_snapshot", "")):
        description, way = said(materialise(instance, asset))
        if needs:
            assert description.startswith(f"{asset} needs {needs}, which c does not have. Launch the job level_1")
            assert way.startswith("Launch the job level_1: it builds the missing parts")
        else:
            assert description.startswith("Level 0 of c is incomplete") and "monjyu index" in way


@pytest.mark.slow
def test_what_publishes_nothing_says_so_once_and_names_the_job_that_does(
    data: DataFolder, instance: dg.DagsterInstance
) -> None:
    instance.add_dynamic_partitions("collections", ["c"])
    papers = materialise(instance, "paper_manifest", "parsed_papers", "chunks", "chunk_embeddings")
    note = "This run publishes nothing: readers keep the snapshot they have. The job level_0 builds what is missing"
    assert papers.success and log(instance, papers).count(note) == 1
    tables = ("paper_identity", "citation_network", "scholarly_metadata")
    alone = materialise(instance, *tables)
    assert alone.success and log(instance, alone).count(note) == 1
    whole = materialise(instance, *tables, "index_snapshot")
    assert whole.success and "publishes nothing" not in log(instance, whole)
    put(data.papers / "c", 24)
    assert "publishes nothing" not in log(instance, press(instance, "level_1"))
    specs = {spec.key.path[-1]: spec for spec in defs.resolve_all_asset_specs()}
    assert str(specs["communities"].metadata["published"]).startswith(
        "Materialising this asset alone publishes nothing: run the job level_1,"
    )


@pytest.mark.slow
def test_what_the_last_computation_took_outlives_runs_that_find_all_as_it_was(
    data: DataFolder, instance: dg.DagsterInstance
) -> None:
    put(data.papers / "c", 24)
    assert press(instance, "level_1").success
    first = {asset: metadata(instance, asset, "c") for asset in ("chunks", "noun_graph", "index_snapshot")}
    for asset, found in first.items():
        assert found["computed_seconds"] > 0 and found["computed_at"] and found["computed_by"], asset
        assert found["computed_seconds"] == found["seconds"]
    for _ in range(2):
        assert materialise(instance, "chunks").success
        assert materialise(instance, "noun_graph", "index_snapshot").success
    for asset, found in first.items():
        again = metadata(instance, asset, "c")
        assert again["seconds"] != found["seconds"]
        assert {key: again[key] for key in again if key.startswith("computed_")} == {
            key: found[key] for key in found if key.startswith("computed_")
        }
    put(data.papers / "c", 25)
    assert press(instance, "level_1").success
    assert metadata(instance, "index_snapshot", "c")["computed_by"] != first["index_snapshot"]["computed_by"]


def test_the_folder_stands_before_and_the_service_after(data: DataFolder, instance: dg.DagsterInstance) -> None:
    graph = defs.resolve_asset_graph()
    folder, service = dg.AssetKey("papers_folder"), dg.AssetKey("query_service")
    assert graph.external_asset_keys == {folder, service}
    assert graph.get(folder).child_keys == {dg.AssetKey("paper_manifest")}
    assert graph.get(service).parent_keys == {dg.AssetKey("index_snapshot")}


def test_every_job_is_one_that_a_person_may_start() -> None:
    jobs = {job.name: job for job in defs.resolve_all_job_defs() if not job.name.startswith("__")}
    assert sorted(jobs) == [
        "delete_collection",
        *(f"level_{level}" for level in range(5)),
        "look_at_sources",
        "release",
        "rollback",
        "tidy",
        "verify_rebuild",
    ]
    for level in range(5):
        assert (jobs[f"level_{level}"].description or "").startswith(f"Build a collection up to level {level} ")
