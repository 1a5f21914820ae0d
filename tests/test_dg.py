"""`dg` in a checkout, as docs/dagster.md shows it: definitions are valid and listed, assets and jobs launched, and the
selections of the page take what they say."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from monjyu_assets.definitions import defs
from monjyu_assets.work.closed_set import RESTS_ON
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import current_manifest
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "dagster.md").read_text(encoding="utf-8")


def lines() -> list[str]:
    """The commands of `dg` that the page shows for a checkout."""
    section = PAGE.partition("## `dg` in a checkout")[2].partition("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("dg ")]


@pytest.fixture(scope="module")
def data(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples at level 0 with an instance of their own that knows them."""
    folder = tmp_path_factory.mktemp("dg") / "data"
    shutil.copytree(sample_data, folder, ignore=shutil.ignore_patterns("state"))
    home = folder / "state" / "dagster"
    home.mkdir(parents=True)
    shutil.copy(ROOT / "dagster.yaml", home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(home))  # where dagster.yaml has its files
        with dg.DagsterInstance.from_config(str(home)) as instance:
            instance.add_dynamic_partitions("collections", ["samples"])
    return folder


def shell(command: str, data: Path) -> subprocess.CompletedProcess[str]:
    own = {
        "MONJYU_DATA": str(data),
        "DAGSTER_HOME": str(data / "state" / "dagster"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        command, shell=True, cwd=ROOT, env=os.environ | own, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_definitions_are_valid_and_listed(data: Path) -> None:
    assert {"dg check defs", "dg list defs --json"} < set(lines())
    shell("dg check defs", data)
    listed = json.loads(shell("dg list defs --json", data).stdout)
    assert {asset["asset_key"] for asset in listed["assets"]} >= {"papers_folder", "index_snapshot", "query_service"}
    assert {job["name"] for job in listed["jobs"]} >= {f"level_{level}" for level in range(5)}
    resources = {resource["key"] if "key" in resource else resource["name"] for resource in listed["resources"]}
    assert resources == {"build", "data", "snapshots", "search_files", "models", "monjyu_io"}


def test_what_the_page_launches_runs(data: Path) -> None:
    launched = [line for line in lines() if line.startswith("dg launch")]
    assert len(launched) == 3
    for line in launched:
        shell(line, data)
    assert current_manifest(DataFolder(data).collection("samples")).level == 1


def test_each_selection_of_the_page_takes_assets() -> None:
    graph = defs.resolve_asset_graph()
    rows = re.findall(r"^\| `([^|]+)` \| ", PAGE.partition("| selection | takes |")[2], flags=re.MULTILINE)
    rows += re.findall(r"--assets '([^']+)'", PAGE)
    assert len(rows) == 10
    taken = {row: dg.AssetSelection.from_string(row).resolve(graph) for row in rows}
    assert all(taken.values())
    beyond = {dg.AssetKey("saved_answers")}  # tells of what the snapshot answers
    assert taken['+key:"index_snapshot"'] == graph.materializable_asset_keys - beyond
    assert {key.path[-1] for key in taken['1+key:"communities"']} == {"communities", *RESTS_ON["communities"]}
