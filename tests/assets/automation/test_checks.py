"""Checks that look at change: drift between two snapshots, freshness of the published one, the user's questions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from monjyu_assets.definitions import defs
from monjyu_assets.indexing.requests import index_collection
from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.orchestration.jobs import freshness, freshness_of
from monjyu_assets.orchestration.resources import DataFolderResource
from monjyu_assets.orchestration.watching import watch_collection, watched_collections
from monjyu_assets.publishing.drift import drift
from monjyu_assets.work.work import no_progress, no_warning
from monjyu_core.errors import IndexBuildError
from monjyu_core.settings.settings import CheckSettings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.manifest import read_manifest
from monjyu_core.storage.snapshot import published, read_current

TOPICS = ("graph pruning", "score fusion", "reader leases", "shard sizes", "noun phrases", "page boxes")


def write(folder: Path, number: int, topic: str) -> Path:
    path = folder / f"n{number}.txt"
    path.write_text(
        f"Notes on {topic}\n\nThe {topic} of an index decides how {topic} behaves in experiment {number}.\n"
    )
    os.utime(path, (1_700_000_000 + number, 1_700_000_000))
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataFolder]:
    """A published collection of six notes, and a question about each."""
    root = tmp_path_factory.mktemp("data")
    (root / "q.jsonl").write_text("\n".join(json.dumps({"id": str(n), "text": t}) for n, t in enumerate(TOPICS)))
    found = DataFolder(root)
    papers = found.papers / "notes"
    papers.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MONJYU_DATA", str(root))
        patch.delenv("DAGSTER_HOME", raising=False)
        for number, topic in enumerate(TOPICS):
            write(papers, number, topic)
        index(found)
        yield found


def index(data: DataFolder) -> None:
    index_collection(data, data.papers / "notes", progress=no_progress, say=no_warning)


def test_the_sources_are_watched_and_freshness_says_what_waits(
    data: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers = data.papers / "notes"
    assert watched_collections(data) == ["notes"]
    assert watch_collection(data, "notes").state == "same"
    assert freshness_of(data, "notes").passed
    first = watch_collection(data, "notes")
    path = write(papers, 9, "leases")
    seen = watch_collection(data, "notes")
    assert (seen.state, seen.message) == ("changed", "Papers: 1 added")
    assert seen.key == watch_collection(data, "notes").key != first.key
    assert freshness_of(data, "notes").passed  # published a moment ago
    monkeypatch.setenv("MONJYU_CHECKS__FRESH_HOURS", "0")
    assert not freshness_of(data, "notes").passed
    os.utime(path)
    assert watch_collection(data, "notes").state == "settling"
    path.unlink()
    away = papers.rename(data.papers / "away")
    gone = watch_collection(data, "notes")
    assert gone.state == "stopped"
    assert "cannot be read" in gone.message
    away.rename(papers)
    (data.papers / "Not A Name").mkdir()
    (data.papers / "other").mkdir()
    write(data.papers / "other", 1, "new folders")
    assert watched_collections(data) == ["notes", "other"]


def test_the_freshness_sensor_runs_the_check_where_the_answer_is_another(
    data: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = dg.AssetCheckKey(dg.AssetKey("index_snapshot"), "snapshot_fresh")
    resource = DataFolderResource(root=str(data.root))
    with open_instance(data) as instance:

        def tick(cursor: str | None) -> tuple[list[str | None], str | None]:
            answer = freshness(dg.build_sensor_context(instance=instance, cursor=cursor), data=resource)
            assert isinstance(answer, dg.SensorResult)
            return [request.partition_key for request in answer.run_requests or []], answer.cursor

        def results() -> list[str]:
            history = instance.event_log_storage.get_asset_check_execution_history(key, limit=9)
            return [record.status.value for record in history if record.partition == "notes"]

        asked, cursor = tick(None)
        assert asked == ["notes"]
        assert tick(cursor) == ([], cursor)
        before = len(results())
        job = defs.resolve_job_def("look_at_sources")
        for _ in range(2):  # each result stays
            assert job.execute_in_process(instance=instance, partition_key="notes").success
        assert results()[:2] == ["SUCCEEDED", "SUCCEEDED"]
        assert len(results()) == before + 2
        newest = instance.event_log_storage.get_asset_check_execution_history(key, limit=1)[0].event
        assert newest is not None
        assert newest.dagster_event is not None
        told = newest.dagster_event.asset_check_evaluation_data.metadata
        assert told["sources"].value == "as published"
        assert isinstance(told["hours_since_published"].value, float)
        write(data.papers / "notes", 8, "late news")
        monkeypatch.setenv("MONJYU_CHECKS__FRESH_HOURS", "0")
        assert tick(cursor)[0] == ["notes"]
        (data.papers / "notes" / "n8.txt").unlink()


def test_a_source_that_lost_too_much_stops_a_build_with_the_reason(data: DataFolder) -> None:
    moved = [path.rename(data.root / path.name) for path in (data.papers / "notes").glob("*.txt")]
    before = read_current(data.collection("notes"))
    with open_instance(data) as instance:
        done = defs.resolve_job_def("level_1").execute_in_process(
            instance=instance, partition_key="notes", raise_on_error=False
        )
    failure = done.failure_data_for_node("paper_manifest")
    assert failure is not None and "6 of 6 papers are no longer in the sources" in str(failure.user_failure_data)
    assert read_current(data.collection("notes")) == before
    for path in moved:
        path.rename(data.papers / "notes" / path.name)


@pytest.mark.slow
def test_questions_that_find_less_than_asked_keep_a_snapshot_from_readers(
    data: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = data.collection("notes")
    before, ids = read_current(folder), published(folder)
    monkeypatch.setenv("MONJYU_CHECKS__QUESTIONS", "q.jsonl")
    monkeypatch.setenv("MONJYU_CHECKS__QRELS", "r.tsv")
    monkeypatch.setenv("MONJYU_CHECKS__RETRIEVAL_BLOCKS", "true")
    names = {path.stem: paper for paper, path in _papers(data)}
    for number in range(10, 22):
        write(data.papers / "notes", number, "another topic")
    right = [f"{n}\t{names[f'n{n}']}\t1" for n in range(len(TOPICS))]
    (data.root / "r.tsv").write_text("query_id\tdoc_id\tscore\n" + "\n".join(line.replace("n", "x") for line in right))
    with pytest.raises(IndexBuildError, match=r"Not published: retrieval_kept .*nDCG@10 is 0.000, not 0.500"):
        index(data)
    assert (read_current(folder), published(folder)) == (before, ids)
    (data.root / "r.tsv").write_text("query_id\tdoc_id\tscore\n" + "\n".join(right))
    index(data)
    assert read_current(folder) not in (before, None)
    found = {one.name: one for one in drift(folder, read_manifest(folder, published(folder)[-1]), CheckSettings())}
    assert {name: one.passed for name, one in found.items()} == {
        "sizes_steady": False,
        "graph_steady": True,
        "failures_steady": True,
        "languages_steady": True,
    }
    assert found["sizes_steady"].value == 2.0  # from 6 to 18
    assert drift(folder, read_manifest(folder, ids[0]), CheckSettings()) == []


def _papers(data: DataFolder) -> list[tuple[str, Path]]:
    from monjyu_assets.stages.paper_manifest import current_manifest
    from monjyu_assets.work.work import Work

    rows = current_manifest(Work(data, "notes")).to_pylist()
    return [(row["paper_id"], Path(row["source_path"])) for row in rows]
