"""For real, with server and daemon: a file dropped into a folder is searchable without a hand, and gone with it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from monjyu_assets.automation.switch import switch
from monjyu_assets.instance import open_instance
from monjyu_core.folders import DataFolder
from monjyu_core.snapshot import open_current, read_current
from monjyu_query.request import make_request
from monjyu_query.search import Searcher
from tests.test_up import running_up

TEXT = (
    "Lease renewal\n\nA reader renews its lease of a snapshot every {0} seconds, and a collector waits for {0} more.\n"
)


def seconds_until(done: Callable[[], bool], within: float, log: Path) -> float:
    began = time.monotonic()
    while not done():
        assert time.monotonic() - began < within, log.read_text()[-6000:]
        time.sleep(0.2)
    return time.monotonic() - began


def found_papers(data: DataFolder) -> set[str]:
    """The files that a search for leases answers with."""
    folder = data.collection("notes")
    if read_current(folder) is None:
        return set()
    snapshot = open_current(folder)
    try:
        rows = snapshot.cursor().execute("SELECT paper_id, source_path FROM manifest").fetchall()
    finally:
        snapshot.close()
    names = {paper_id: Path(path).name for paper_id, path in rows}
    request = make_request(query="lease of a reader", collection="notes", mode="keyword", answer=False)
    hits = Searcher(data, "notes").search(request).hits
    return {names[hit.paper_id] for hit in hits if hit.paper_id in names}


def test_a_dropped_file_is_searchable_and_a_removed_one_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv("MONJYU_AUTOMATION__INTERVAL_SECONDS", "2")
    monkeypatch.setenv("MONJYU_AUTOMATION__SETTLE_SECONDS", "0.5")
    data = DataFolder(tmp_path / "data")
    papers = data.papers / "notes"
    papers.mkdir(parents=True)
    with open_instance(data) as instance:
        switch(instance, True)
    log = tmp_path / "log"
    with running_up(data.root, log):
        for number in (10, 20):
            (papers / f"n{number}.txt").write_text(TEXT.format(number))
        added = seconds_until(lambda: found_papers(data) == {"n10.txt", "n20.txt"}, 120, log)
        (papers / "n20.txt").unlink()
        removed = seconds_until(lambda: found_papers(data) == {"n10.txt"}, 120, log)
    with open_instance(data) as instance:
        jobs = Counter(run.job_name for run in instance.get_runs())
    assert jobs == {"reindex": 2, "level_0_papers": 2, "level_0_collection": 2}, "something ran that need not"
    record_property("seconds until searchable", round(added, 1))
    record_property("seconds until gone", round(removed, 1))
    print(f"searchable after {added:.1f} s, gone after {removed:.1f} s")
