"""For real, with server and daemon: a PDF dropped into a folder is searchable without a hand, and gone with it; and
the nightly schedule, by the switch of the UI, looks at all again and publishes nothing where nothing changed."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from monjyu_assets.automation.switch import SENSORS, switch, switched
from monjyu_assets.orchestration.instance import open_instance
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import open_current, read_current
from monjyu_query.asking.request import make_request
from monjyu_query.search.searcher import Searcher
from tests.conftest import SAMPLES
from tests.test_up import ask, running_up

pytestmark = pytest.mark.slow

TEXT = "Lease renewal\n\nA reader renews its lease of a snapshot every ten seconds, and a collector waits for more.\n"
DROPPED = SAMPLES / "relevance-budget.pdf"
SWITCH_ON = """mutation {
  startSchedule(scheduleSelector: {
    repositoryLocationName: "monjyu", repositoryName: "__repository__", scheduleName: "nightly"
  }) { __typename ... on ScheduleStateResult { scheduleState { status } } }
}"""


def seconds_until(done: Callable[[], bool], within: float, log: Path) -> float:
    began = time.monotonic()
    while not done():
        assert time.monotonic() - began < within, log.read_text()[-6000:]
        time.sleep(0.5)
    return time.monotonic() - began


def found_papers(data: DataFolder, question: str) -> set[str]:
    """The files that a search answers with."""
    folder = data.collection("notes")
    if read_current(folder) is None:
        return set()
    snapshot = open_current(folder)
    try:
        rows = snapshot.cursor().execute("SELECT paper_id, source_path FROM manifest").fetchall()
    finally:
        snapshot.close()
    names = {paper_id: Path(path).name for paper_id, path in rows}
    request = make_request(query=question, collection="notes", mode="keyword", answer=False)
    hits = Searcher(data, "notes").search(request).hits
    return {names[hit.paper_id] for hit in hits if hit.paper_id in names}


def nights(data: DataFolder, since: float) -> list[float]:
    """The ticks of the schedule since then that have ended."""
    with open_instance(data) as instance:
        state = next(one for one in instance.all_instigator_state() if one.instigator_name == "nightly")
        ticks = instance.get_ticks(state.instigator_origin_id, state.selector_id)
    return [tick.timestamp for tick in ticks if tick.timestamp > since and tick.end_timestamp]


def test_a_dropped_pdf_is_searchable_a_removed_one_is_gone_and_a_night_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.setenv("MONJYU_AUTOMATION__INTERVAL_SECONDS", "2")
    monkeypatch.setenv("MONJYU_AUTOMATION__SETTLE_SECONDS", "0.5")
    monkeypatch.setenv("MONJYU_AUTOMATION__NIGHTLY", "* * * * *")
    data = DataFolder(tmp_path / "data")
    papers = data.papers / "notes"
    papers.mkdir(parents=True)
    with open_instance(data) as instance:
        switch(instance, True, SENSORS)
    log = tmp_path / "log"
    with running_up(data.root, log) as port:
        (papers / "leases.txt").write_text(TEXT)
        shutil.copyfile(DROPPED, papers / DROPPED.name)
        question = "relevance budget of a search"
        added = seconds_until(lambda: DROPPED.name in found_papers(data, question), 180, log)
        assert found_papers(data, "lease of a reader") >= {"leases.txt"}
        (papers / DROPPED.name).unlink()
        removed = seconds_until(lambda: not found_papers(data, question), 180, log)
        # Only now: a tick between the removal and the sensor's would start the run itself, which is right, too.
        answer = ask(port, SWITCH_ON)["startSchedule"]
        assert answer["scheduleState"]["status"] == "RUNNING", answer
        published, since = read_current(data.collection("notes")), time.time()
        night = seconds_until(lambda: bool(nights(data, since)), 180, log)
    with open_instance(data) as instance:
        jobs = Counter(run.job_name for run in instance.get_runs())
        on = {one.name for one in switched(instance) if one.on}
    assert read_current(data.collection("notes")) == published, "a night in which nothing changed published"
    assert jobs.keys() == {"level_0", "level_1"} and jobs["level_0"] == 1
    assert jobs["level_1"] <= 2, "something ran that need not"  # one where the paper went before level 1 was begun
    assert on == {*SENSORS, "nightly"}
    times = {"searchable": added, "gone": removed, "looked at in the night": night}
    for what, seconds in times.items():
        record_property(f"seconds until {what}", round(seconds, 1))
    print({what: round(seconds, 1) for what, seconds in times.items()})
