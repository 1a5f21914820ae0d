"""`Indexer`: what its docstrings and docs/python.md show, in a data folder of its own."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from monjyu_assets import Indexer
from monjyu_assets.indexing import indexer
from monjyu_core.errors import ConfigurationError
from monjyu_core.storage.folders import DataFolder
from tests.assets.changes import paper_text
from tests.conftest import ROOT, call_monjyu

HEAVY = ("dagster", "duckdb", "lancedb", "numpy", "openvino", "pyarrow", "pydantic", "spacy")


def write_papers(folder: Path, *numbers: int) -> Path:
    folder.mkdir(parents=True)
    for number in numbers:
        (folder / f"p{number}.md").write_text(paper_text(number))
    return folder


def test_a_bare_text_is_chunked_like_a_section(tmp_path: Path) -> None:
    text = " ".join(f"Sentence {n} speaks of reader leases and of how long they hold." for n in range(60))
    [chunks, none] = Indexer(tmp_path).chunk([text, ""])
    assert len(chunks) > 2 and none == []
    assert chunks[0].start == 0 and chunks[-1].end == len(text) and all(c.text == text[c.start : c.end] for c in chunks)


def test_another_data_folder_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers/a.md").write_text("# A paper\n\nLeases expire after a minute, and readers renew them.\n")
    done = call_monjyu(tmp_path / "data", "index", tmp_path / "papers", "-o", tmp_path / "out", "-l", "0")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/index/papers/CURRENT").exists() and not (tmp_path / "data").exists()


def test_importing_it_loads_nothing_heavy() -> None:
    script = "import sys; from monjyu_assets import Indexer; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {name.split(".")[0] for name in done.stdout.split()} & set(HEAVY)


@pytest.mark.slow
def test_the_examples_in_its_docstrings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    names = {"data": tmp_path / "data", "papers": write_papers(tmp_path / "papers", 11, 24)}
    failed, tried = doctest.testmod(indexer, extraglobs=names)
    assert tried >= 6
    assert not failed
    assert "DAGSTER_HOME" not in os.environ, "the next data folder would have the instance of this one"


@pytest.mark.slow
def test_the_example_of_the_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    write_papers(tmp_path / "papers" / "2023", 11)
    write_papers(tmp_path / "papers" / "2024", 24)
    write_papers(tmp_path / "papers" / "2024" / "drafts", 31)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    (block,) = (one for one in blocks if "Indexer" in one)
    exec(compile(block, "docs/python.md", "exec"), {})
    said = capsys.readouterr().out.splitlines()
    assert any(re.fullmatch(r"1 2 \d+ \[\]", line) for line in said), said
    assert "scan 2 of 2" in said and "parse 2 of 2" in said
    assert int(said[-1]) > 0
    assert DataFolder.default().collections() == ["mine"]


def test_it_refuses_in_words_that_a_program_understands(tmp_path: Path) -> None:
    one = Indexer(tmp_path / "data")
    for arguments in ((), ([tmp_path, tmp_path],)):
        with pytest.raises(ConfigurationError, match="collection= in Python"):
            one.index(*arguments)
    with pytest.raises(ConfigurationError, match="not known"):
        one.upgrade("mine", 1)
    with pytest.raises(ConfigurationError, match="not known"):
        one.sources("mine")
    assert not (tmp_path / "data").exists(), "a refused call has made something"
