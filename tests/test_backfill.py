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

from monjyu_assets.work.closed_set import asset_version
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import COLLECTION_SHARD, TABLES
from monjyu_core.storage.snapshot import open_current
from monjyu_core.storage.state_store import StateStore
from monjyu_query.service.access.keys import create_key
from tests.conftest import SAMPLES, call_monjyu
from tests.test_up import ask, running_up

pytestmark = pytest.mark.slow

PAPERS = ("noun-phrase-graphs.pdf", "incremental-indexes.txt", "reader-leases.docx", "shard-sizes.pptx")
"""In English: the larger model, which Japanese takes, is most of what the samples take."""

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


def launch(data: Path, log: str, collection: str = "samples") -> dict[str, Any]:
    """POST /admin/upgrade at the service that runs beside the web server: the backfill that it has begun."""
    found = re.search(r"The page is at (http://127.0.0.1:\d+)", log)
    assert found is not None
    key, _ = create_key(StateStore(data / "state"), "test", "admin")
    headers = {"Authorization": f"Bearer {key}"}
    asked = {"collection": collection, "level": 1}
    answer = httpx2.post(f"{found[1]}/admin/upgrade", json=asked, headers=headers, timeout=600)
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


def versions(data: Path, collection: str = "samples") -> dict[tuple[str, str], str]:
    parts = PartStore(DataFolder(data).collection(collection).parts)
    return {(part.table, part.shard): part.data_version for table in TABLES for part in parts.heads(table)}


def test_a_backfill_gives_the_tables_of_monjyu_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    by_ui, by_command = tmp_path / "ui", tmp_path / "command"
    papers = by_ui / "papers" / "samples"
    papers.mkdir(parents=True)
    for name in PAPERS:
        shutil.copy(SAMPLES / name, papers)
    with running_up(by_ui, tmp_path / "log") as port:
        launched = launch(by_ui, (tmp_path / "log").read_text())
        assert launched["level"] == 1 and launched["url"].startswith(f"http://127.0.0.1:{port}/runs/b/")
        done = wait_for_backfill(port, launched["backfill_id"], 600)
        assert done["status"] == "COMPLETED_SUCCESS", (tmp_path / "log").read_text()[-4000:]
        node = ask(port, EVENTS % ("chunks", "samples"))["assetNodeOrError"]
    assert node["groupName"] == "level_0_baseline"
    assert set(node["kinds"]) == {"parquet", "python"}
    event = node["assetMaterializations"][0]
    assert {"papers_reused", "papers_recomputed", "preview", "seconds"} <= {
        e["label"] for e in event["metadataEntries"]
    }
    data_version = {tag["key"]: tag["value"] for tag in event["tags"]}["dagster/data_version"]
    parts = PartStore(DataFolder(by_ui).collection("samples").parts)
    assert asset_version(parts, "chunks", COLLECTION_SHARD) == data_version

    assert call_monjyu(by_command, "index", papers, "-c", "samples").returncode == 0
    assert versions(by_ui) == versions(by_command)
    rows = [open_current(DataFolder(data).collection("samples")).manifest.rows for data in (by_ui, by_command)]
    assert rows[0] == rows[1] and rows[0]["chunks"] > 0
