"""From end to end in one go, for `make quick`: two papers indexed, a question answered with a checked citation."""

from __future__ import annotations

import json
from pathlib import Path

from tests.assets.changes import paper_text
from tests.conftest import run_monjyu


def test_index_and_search(tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    for number in range(2):
        (papers / f"p{number}.md").write_text(paper_text(number))
    (papers / "own.md").write_text("# Ravens\n\n## Results\n\nThe ravens of the harbour count up to seven stones.\n")
    data = tmp_path / "data"
    indexed = run_monjyu(data, "index", papers, "-c", "c", "--json")
    assert indexed.returncode == 0, indexed.stderr
    assert json.loads(indexed.stdout)["papers"]["total"] == 3
    found = run_monjyu(data, "search", "How many stones do ravens count?", "--json")
    assert found.returncode == 0, found.stderr
    result = json.loads(found.stdout)
    assert result["verified"]
    assert "seven stones" in result["citations"][0]["quote"]
