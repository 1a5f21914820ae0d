"""Two machines and one object store: what either does to a collection, the other follows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monjyu_core.remote.object_store import open_objects
from monjyu_core.remote.state import RemoteState
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import DataFolder
from tests.conftest import call_monjyu
from tests.object_servers import make_bucket, moto, s3_settings

pytestmark = pytest.mark.slow

SECRET = "Zyzzyvaweevil"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with moto() as endpoint:
        make_bucket(endpoint, "bucket")
        more = {"MONJYU_STORAGE__FOLLOW_SECONDS": "0.05", "MONJYU_STORAGE__LEASE_SECONDS": "5"}
        for name, value in (s3_settings(endpoint, "bucket") | more).items():
            monkeypatch.setenv(name, value)
        yield endpoint


class Machine:
    def __init__(self, root: Path) -> None:
        self.data = root

    def do(self, *arguments: str | Path, code: int = 0) -> str:
        done = call_monjyu(self.data, *arguments)
        assert done.returncode == code, done.stderr
        return done.stdout

    def found(self, query: str) -> list[str]:
        told: dict[str, Any] = json.loads(self.do("search", query, "-c", "c", "-m", "keyword", "--no-answer", "--json"))
        return [hit["text"] for hit in told["hits"] if query.lower() in hit["text"].lower()]

    def tables(self) -> dict[str, bytes]:
        """The parts, by path."""
        root = DataFolder(self.data).collection("c").parts
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.glob("*/*/[!.]*")}


def test_what_one_machine_does_the_other_follows(tmp_path: Path, store: str) -> None:
    papers, a, b = tmp_path / "papers", Machine(tmp_path / "a"), Machine(tmp_path / "b")
    papers.mkdir()
    for number in range(4):
        text = f"# Note {number}\n\n## Results\n\nA lease of {number} days was measured.\n"
        (papers / f"n{number}.md").write_text(text)
    a.do("index", papers, "-c", "c")
    assert b.found("lease"), "a command asks the store first"
    assert not DataFolder(b.data).collection("c").parts.exists(), "who only asks needs no parts"

    (papers / "n1.md").write_text(f"# Note 1\n\n## Results\n\n{SECRET} was measured by a lease.\n")
    b.do("index", "-c", "c")
    assert a.found(SECRET)
    assert a.tables() == b.tables()

    a.do("snapshots", "rollback", "-c", "c")
    assert not b.found(SECRET)
    b.do("snapshots", "rollback", "--release", "-c", "c")
    assert a.found(SECRET)

    (papers / "n2.md").unlink()
    a.do("index", "-c", "c")
    rows = json.loads(b.do("papers", "list", "-c", "c", "--json"))
    ids = {row["title"]: row["paper_id"] for row in (rows["papers"] if isinstance(rows, dict) else rows)}
    assert set(ids) == {"Note 0", "Note 1", "Note 3"}

    b.do("purge", ids["Note 1"], "-c", "c")
    objects = open_objects(load_settings())
    assert objects is not None
    found = objects.read("index/c/state.json.gz")
    assert found is not None
    named = set(RemoteState.unpacked(found.content).files.values())
    assert {Path(one).name for one in objects.names("index/c/blobs") if not one.endswith(".lock")} == named
    a.do("storage", "pull", "c")
    for machine in (a, b):
        left = [path for path in machine.data.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
        assert left == []
        assert not machine.found(SECRET)
    assert json.loads(a.do("storage", "status", "--json")) == {"collections": [{"name": "c", "state": "same"}]}

    a.do("collections", "delete", "c", "--yes")
    b.do("storage", "pull")
    assert DataFolder(b.data).collections() == []
    assert "No collections" in b.do("storage", "status")
