"""What docs/dagster.md shows works as written; docs/tables.md says what a snapshot holds."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.parts import PartStore
from monjyu_core.storage.schemas import TABLES
from monjyu_core.storage.snapshot import open_current
from tests.conftest import ROOT

Run = Callable[..., subprocess.CompletedProcess[str]]


def blocks(language: str) -> list[str]:
    page = (ROOT / "docs" / "dagster.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)


@pytest.fixture
def data(sample_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(sample_data, tmp_path / "data", ignore=shutil.ignore_patterns("state"))
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def in_own_project(data: Path, tmp_path: Path) -> Run:
    """Commands in a project of one's own: the files that the page names, and an empty instance."""
    for block in blocks("python"):
        if named := re.match(r"# (\S+\.py)\n", block):
            path = tmp_path / named[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(block)
    (tmp_path / "home").mkdir()
    shutil.copy(ROOT / "dagster.yaml", tmp_path / "home")
    own = {"DAGSTER_HOME": str(tmp_path / "home"), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, shell=True, cwd=tmp_path, env=os.environ | own, capture_output=True, text=True, check=False
        )

    return run


@pytest.mark.slow
def test_an_asset_of_ones_own_follows_a_snapshot_in_an_instance_of_ones_own(in_own_project: Run, data: Path) -> None:
    (materialise,) = [line for block in blocks("sh") for line in block.splitlines() if "dg launch -m" in line]
    refused = in_own_project(materialise)
    assert refused.returncode != 0
    assert "Could not find a partition with key" in refused.stderr

    assert in_own_project("python register.py").stdout.strip() == "['samples']"
    assert in_own_project("python register.py").stdout.strip() == "[]"
    done = in_own_project(materialise)
    assert done.returncode == 0, done.stderr
    assert (data / "years-samples.csv").read_text().splitlines()[0] == "year,papers"


@pytest.mark.slow
def test_a_second_definitions_object_in_a_module_is_refused_as_the_page_says(
    in_own_project: Run, tmp_path: Path
) -> None:
    wrong = "import dagster as dg\nfrom monjyu_assets.definitions import defs as monjyu\n\ndefs = dg.Definitions()\n"
    (tmp_path / "wrong.py").write_text(wrong)
    assert in_own_project("dagster definitions validate -m analytics.definitions").returncode == 0
    refused = in_own_project("dagster definitions validate -m wrong")
    assert refused.returncode != 0
    said = "Cannot have more than one Definitions object defined at module scope"
    assert said in refused.stdout + refused.stderr
    assert said in (ROOT / "docs" / "dagster.md").read_text(encoding="utf-8")


def test_the_tables_open_in_duckdb_pandas_polars_and_arrow(data: Path) -> None:
    found: dict[str, Any] = {}
    exec("\n".join(block for block in blocks("python") if not block.startswith("# ")), found)
    assert found["papers"].shape[0] == found["snapshot"].manifest.rows["papers"]
    assert found["citations"].columns == ["citing_id", "cited_id"]
    assert found["sections"].num_rows == found["snapshot"].manifest.rows["sections"]
    assert len(found["nearest"]) == 5


def test_the_tables_are_inputs_of_ones_own_assets(data: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import dagster as dg

    from monjyu_assets.definitions import defs
    from monjyu_assets.orchestration.resources import DataFolderResource, resources_of

    found: dict[str, Any] = {}
    exec(next(block for block in blocks("python") if block.startswith("# tables.py")), found)
    own = [one for one in found.values() if isinstance(one, dg.AssetsDefinition)]
    assert len(own) == 3
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("collections", ["samples"])
        others = [one for one in defs.assets or [] if isinstance(one, dg.AssetsDefinition)]
        resources = resources_of(DataFolderResource(root=str(data)))
        assert dg.materialize(
            [*others, *own], selection=own, resources=resources, instance=instance, partition_key="samples"
        ).success
    assert "cited_id" in capfd.readouterr().out


def test_the_tables_open_in_the_command_line_of_duckdb(in_own_project: Run) -> None:
    """That of PyPI is of version 1; the snapshot is written by version 2."""
    (command,) = [block for block in blocks("sh") if "duckdb -readonly" in block]
    done = in_own_project(command)
    assert done.returncode == 0, done.stderr
    assert "noun-phrase-graphs-7d9c0d14" in done.stdout


def test_the_page_of_tables_is_that_of_the_schemas() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "tables_page.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "run `python docs/tables_page.py`"


def test_lancedb_opens_the_tables_as_the_page_says(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And they hold what the database holds, row by row."""
    monkeypatch.chdir(data.parent)
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "tables.md").read_text("utf-8"), flags=re.DOTALL)
    found: dict[str, Any] = {}
    exec(code, found)
    assert len(capsys.readouterr().out.splitlines()) == 3 and found["near"][0]["chunk_id"] == found["one"]["chunk_id"]
    snapshot = open_current(DataFolder(data).collection("samples"))
    names = TABLES["chunks"].schema.names
    held = snapshot.cursor().sql(f"SELECT {', '.join(names)} FROM chunks ORDER BY chunk_id").to_arrow_table()
    rows = found["chunks"].to_arrow().sort_by("chunk_id")
    assert rows.select(names).to_pylist() == held.to_pylist()
    parts = [PartStore(snapshot.collection.parts).listed(one) for one in snapshot.manifest.parts]
    vectors = {
        row["chunk_id"]: row["vector"]
        for part in parts
        if part.table == "chunk_embeddings"
        for row in part.read(["chunk_id", "vector"]).to_pylist()
    }
    assert dict(zip(rows["chunk_id"].to_pylist(), rows["vector"].to_pylist(), strict=True)) == vectors
    snapshot.close()


def test_the_page_of_tables_says_what_a_snapshot_holds(level_1_data: Path) -> None:
    sql_type = runpy.run_path(str(ROOT / "docs" / "tables_page.py"))["sql_type"]
    snapshot = open_current(DataFolder(level_1_data).collection("samples"))
    with duckdb.connect(str(snapshot.database), read_only=True) as database:
        for name, spec in TABLES.items():
            if not spec.served or spec.optional or spec.level > 1:  # without rows, an optional one is not there
                continue
            query = "SELECT column_name, data_type FROM duckdb_columns() WHERE NOT internal AND table_name = ?"
            found: dict[str, str] = dict(database.execute(query, [name]).fetchall())
            assert found.pop("shard", None) in ("VARCHAR", None)
            assert found == {field.name: sql_type(field.type) for field in spec.schema}, name
    snapshot.close()
