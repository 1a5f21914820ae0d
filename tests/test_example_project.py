"""The project in `examples/analytics`: its corpora are indexed and its own assets materialised, for real."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import duckdb
import pytest
import yaml

from monjyu_assets.orchestration.instance import open_instance
from monjyu_assets.work import work as declarations
from monjyu_core.storage.collection import load_record
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import current_manifest
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples" / "analytics"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_instance: None) -> Iterator[DataFolder]:
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("ANALYTICS_DATABASE", str(tmp_path / "analytics.duckdb"))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.syspath_prepend(str(EXAMPLE / "src"))
    monkeypatch.setattr(declarations, "_declared", {})
    yield DataFolder(tmp_path / "data")
    for name in [name for name in sys.modules if name.partition(".")[0] == "analytics"]:
        del sys.modules[name]


def test_a_corpus_is_indexed_and_the_projects_own_assets_follow(data: DataFolder, tmp_path: Path) -> None:
    defs = dg.load_from_defs_folder(path_within_project=EXAMPLE)
    with open_instance(data) as instance:
        assert defs.resolve_job_def("index_notes").execute_in_process(instance=instance).success
        both = defs.resolve_implicit_global_asset_job_def().get_subset(
            asset_selection={dg.AssetKey("reading_list"), dg.AssetKey("paper_likeness")}
        )
        for _ in range(2):  # a second time changes nothing
            assert both.execute_in_process(instance=instance, partition_key="notes").success
    record, manifest = load_record(data.collection("notes")), current_manifest(data.collection("notes"))
    assert record is not None and record.declared == str(EXAMPLE / "src" / "analytics" / "defs" / "notes" / "defs.yaml")
    assert manifest.settings["chunking.strategy"] == "paragraph"
    with duckdb.connect(str(tmp_path / "analytics.duckdb"), read_only=True) as database:
        rows = database.sql("SELECT collection, paper_id, tokens FROM reading_list").fetchall()
    assert len(rows) == manifest.rows["papers"] == 3
    assert {name for name, _, _ in rows} == {"notes"} and all(tokens > 100 for _, _, tokens in rows)
    assert (tmp_path / "likeness-notes.png").read_bytes().startswith(PNG)


def test_the_ten_lines_of_the_page_are_a_corpus(data: DataFolder, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "dagster.md").read_text(encoding="utf-8")
    (lines,) = [
        block for block in re.findall(r"```yaml\n(.*?)```", page, flags=re.DOTALL) if "CorpusComponent" in block
    ]
    project = tmp_path / "project"
    shutil.copytree(EXAMPLE, project)
    (project / "src" / "analytics" / "defs" / "handbook").mkdir()
    (project / "src" / "analytics" / "defs" / "handbook" / "defs.yaml").write_text(lines)
    sys.path.insert(0, str(project / "src"))
    try:
        defs = dg.load_from_defs_folder(path_within_project=project)
    finally:
        sys.path.remove(str(project / "src"))
    assert len(lines.splitlines()) <= 12
    name = yaml.safe_load(lines)["attributes"]["name"]
    jobs = {job.name for job in defs.resolve_all_job_defs()}
    assert {f"index_{name}", "index_notes", "index_methods"} <= jobs
    assert name in declarations.declared_names(data)


def test_dg_lists_scaffolds_checks_and_launches(data: DataFolder, tmp_path: Path) -> None:
    project = tmp_path / "examples" / "analytics"
    shutil.copytree(EXAMPLE, project)
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "one.md").write_text("# A paper\n\n## Introduction\n\nGraphs join what texts hold.\n")
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(ROOT / "dagster.yaml", home)
    variables = os.environ | {
        "DAGSTER_HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{project / 'src'}",
    }

    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    listed = {component["key"] for component in json.loads(run("dg", "list", "components", "--json"))["items"]}
    assert {"monjyu_assets.CorpusComponent", "monjyu_assets.ZoteroLibraryComponent"} <= listed
    corpus = ("dg", "scaffold", "defs", "monjyu_assets.CorpusComponent", "my_corpus")
    run(*corpus, "--sources", "../../papers", "--level", "1")
    made = yaml.safe_load((project / "src" / "analytics" / "defs" / "my_corpus" / "defs.yaml").read_text())
    assert made == {
        "type": "monjyu_assets.CorpusComponent",
        "attributes": {"name": "my_corpus", "sources": ["../../papers"], "level": 1},
    }
    run("dg", "scaffold", "defs", "monjyu_assets.ZoteroLibraryComponent", "my_library", "--library", "Zotero")
    run("dg", "check", "yaml")
    run("dg", "check", "defs")
    found = json.loads(run("dg", "list", "defs", "--json"))
    assert {"index_my_corpus", "index_my_library", "index_notes"} <= {job["name"] for job in found["jobs"]}
    assert {"data", "snapshots", "search_files", "models", "monjyu_io"} <= {one["name"] for one in found["resources"]}
    assert not data.root.exists(), "listing and checking write nothing"
    run("dg", "launch", "--job", "index_my_corpus")
    assert current_manifest(data.collection("my_corpus")).level == 1
    run("dg", "launch", "--assets", "reading_list", "--partition", "my_corpus")
    with duckdb.connect(str(tmp_path / "analytics.duckdb"), read_only=True) as database:
        assert database.sql("SELECT collection, title FROM reading_list").fetchall() == [("my_corpus", "A paper")]
