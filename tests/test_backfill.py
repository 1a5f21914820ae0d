"""Backfills, as the service and the Dagster UI launch them, give what `monjyu index` gives: level 0 of a collection,
all levels of several, and level by level."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from monjyu_assets.indexing.requests import index_collection
from monjyu_assets.publishing.closed_set import RESTS_ON, by_shard, level_of
from monjyu_core.storage.collection import known_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import SHARDS, TABLES
from monjyu_core.storage.snapshot import current_manifest, open_current
from monjyu_core.storage.state_store import StateStore
from monjyu_query.service.access.keys import create_key
from tests.assets.changes import paper_text
from tests.conftest import SAMPLES
from tests.test_up import ask, running_up

pytestmark = pytest.mark.slow

EVENTS = """{ assetNodeOrError(assetKey: {path: ["%s"]}) { ... on AssetNode { groupName kinds owners { __typename }
  assetMaterializations(partitions: ["%s"], limit: 1) {
    tags { key value } metadataEntries { label } } } } }"""

LAUNCH = """mutation LaunchPartitionBackfill($backfillParams: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $backfillParams) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
    ... on PartitionKeysNotFoundError { message }
    ... on UnauthorizedError { message }
  }
}"""
"""As the dialog *Launch backfill* of the UI words it."""
ADD = """mutation AddDynamicPartition($name: String!) {
  addDynamicPartition(partitionsDefName: "collections", partitionKey: $name, repositorySelector: {
    repositoryName: "__repository__", repositoryLocationName: "monjyu"
  }) { __typename }
}"""
FAILED = """query ($backfill: String!) {
  runsOrError(filter: {tags: [{key: "dagster/backfill", value: $backfill}], statuses: [FAILURE]}) {
    ... on Runs { results { jobName eventConnection { events {
      __typename ... on ExecutionStepFailureEvent { failureMetadata { description } }
    } } } }
  }
}"""
STEP_FAILURE = "ExecutionStepFailureEvent"


def launch(data: Path, log: str) -> dict[str, Any]:
    """POST /admin/index at the service that runs beside the web server: the backfill that it has begun."""
    found = re.search(r"The page is at (http://127.0.0.1:\d+)", log)
    assert found is not None
    key, _ = create_key(StateStore(data / "state"), "test", "admin")
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx2.post(f"{found[1]}/admin/index", json={"collection": "samples"}, headers=headers, timeout=120)
    assert answer.status_code == 202, answer.text
    launched: dict[str, Any] = answer.json()
    return launched


def wait_for_backfill(port: int, backfill: str, seconds: float) -> dict[str, Any]:
    query = f'{{ partitionBackfillOrError(backfillId: "{backfill}") {{ ... on PartitionBackfill {{ status }} }} }}'
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found: dict[str, Any] = ask(port, query)["partitionBackfillOrError"]
        if found["status"] not in ("REQUESTED", "CANCELING", "FAILING"):
            return found
        time.sleep(1)
    raise AssertionError("the backfill did not end in time")


def begun(port: int, assets: list[str], collections: list[str]) -> str:
    """The id of a backfill of assets over whole collections, asked for as the UI does: by the partitions of the first
    asset, from which Dagster maps the others'."""
    names = collections
    if assets[0] in RESTS_ON and by_shard(assets[0]):
        names = [f"{name}|{shard}" for name in collections for shard in SHARDS]
    asked = {"assetSelection": [{"path": [asset]} for asset in assets], "partitionNames": names, "fromFailure": False}
    answer = ask(port, LAUNCH, backfillParams=asked)["launchPartitionBackfill"]
    assert answer["__typename"] == "LaunchBackfillSuccess", answer
    return str(answer["backfillId"])


def of_levels(*levels: int) -> list[str]:
    """The assets of these levels' groups, in order."""
    return [asset for asset in RESTS_ON if level_of(asset) in levels]


def versions(data: Path, collection: str = "samples") -> dict[tuple[str, str], str]:
    parts = PartStore(DataFolder(data).collection(collection).parts)
    return {(part.table, part.shard): part.data_version for table in TABLES for part in parts.heads(table)}


def test_a_backfill_gives_the_tables_of_monjyu_index(
    tmp_path: Path, sample_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    by_ui = tmp_path / "ui"
    shutil.copytree(SAMPLES, by_ui / "papers" / "samples")
    with running_up(by_ui, tmp_path / "log") as port:
        launched = launch(by_ui, (tmp_path / "log").read_text())
        assert launched["level"] == 0 and launched["url"].startswith(f"http://127.0.0.1:{port}/runs/b/")
        done = wait_for_backfill(port, launched["backfill_id"], 240)
        assert done["status"] == "COMPLETED_SUCCESS", (tmp_path / "log").read_text()[-4000:]
        node = ask(port, EVENTS % ("chunks", "samples|3"))["assetNodeOrError"]
    assert node["groupName"] == "level_0_baseline"
    assert set(node["kinds"]) == {"parquet", "python"}
    event = node["assetMaterializations"][0]
    assert {"papers_reused", "papers_recomputed", "preview", "seconds"} <= {
        e["label"] for e in event["metadataEntries"]
    }
    data_version = {tag["key"]: tag["value"] for tag in event["tags"]}["dagster/data_version"]
    head = PartStore(DataFolder(by_ui).collection("samples").parts).head("chunks", "3")
    assert head is not None
    assert head.asset_version == data_version

    assert versions(by_ui) == versions(sample_data)
    rows = [open_current(DataFolder(data).collection("samples")).manifest.rows for data in (by_ui, sample_data)]
    assert rows[0] == rows[1] and rows[0]["chunks"] > 0


def test_backfills_of_every_level_give_the_tables_of_monjyu_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two collections with all assets at once; beside them a third one by levels, where a level too early says what to
    do. The daemon looks at backfills every 30 s, so it takes minutes and little of a core."""
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    by_ui, by_command = tmp_path / "ui", tmp_path / "command"
    numbers = {"a": (11, 24), "b": (31,), "c": (11, 31)}
    for name, papers in numbers.items():
        (by_ui / "papers" / name).mkdir(parents=True)
        for number in papers:
            (by_ui / "papers" / name / f"p{number}.md").write_text(paper_text(number))
    with running_up(by_ui, tmp_path / "log") as port:
        for name in numbers:
            assert ask(port, ADD, name=name)["addDynamicPartition"]["__typename"] == "AddDynamicPartitionSuccess"
        whole = begun(port, [*RESTS_ON, "index_snapshot"], ["a", "b"])
        early = begun(port, of_levels(1), ["c"])
        assert wait_for_backfill(port, early, 400)["status"] == "COMPLETED_FAILED"
        (run,) = ask(port, FAILED, backfill=early)["runsOrError"]["results"]
        (failed,) = [one for one in run["eventConnection"]["events"] if one["__typename"] == STEP_FAILURE]
        said = failed["failureMetadata"]["description"]
        assert said.startswith("noun_phrases needs chunks, which c does not have. Launch the job level_1")
        for levels in ((0,), (1,), (2, 3, 4)):
            done = wait_for_backfill(port, begun(port, of_levels(*levels), ["c"]), 400)
            assert done["status"] == "COMPLETED_SUCCESS", (tmp_path / "log").read_text()[-4000:]
            assert not (by_ui / "index" / "c" / "CURRENT").exists(), "a level alone publishes nothing"
        for last in (whole, begun(port, ["index_snapshot"], ["c"])):
            done = wait_for_backfill(port, last, 400)
            assert done["status"] == "COMPLETED_SUCCESS", (tmp_path / "log").read_text()[-4000:]

    monkeypatch.setenv("MONJYU_DATA", str(by_command))
    for name in numbers:
        built = index_collection(DataFolder(by_command), by_ui / "papers" / name, name, level=4)
        published = current_manifest(DataFolder(by_ui).collection(name))
        assert (published.level, published.rows) == (4, current_manifest(DataFolder(by_command).collection(name)).rows)
        assert (built.level, known_record(DataFolder(by_ui), name).level) == (4, 4)
        assert versions(by_ui, name) == versions(by_command, name)
