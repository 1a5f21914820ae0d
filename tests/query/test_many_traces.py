"""Two hundred megabytes of traces: a search does not feel them, one can be replayed, and they are trimmed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from monjyu_core.settings.operations import TraceSettings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.state_store import StateStore
from monjyu_query.asking.request import make_request
from monjyu_query.evaluation.answer_quality import replay
from monjyu_query.search.searcher import Searcher
from monjyu_query.search.traces import NAMESPACE, TraceLog
from tests.copies import copy_data

pytestmark = pytest.mark.slow

TRACES, TRACE_BYTES = 1000, 200_000
FEW = 8 << 20
"""Bytes: far less than the traces, more than a search reads besides."""
REQUEST = make_request(query="reader leases", collection="samples", mode="keyword", answer=False)


def bytes_read(work: Callable[[], object]) -> int:
    """The bytes that the process reads for a piece of work; the smallest of three, because other threads read too."""
    counts = []
    for _ in range(3):
        before = _read_so_far()
        work()
        counts.append(_read_so_far() - before)
    return min(counts)


def _read_so_far() -> int:
    return int(Path("/proc/self/io").read_text().split()[1])


def test_a_search_does_not_feel_two_hundred_megabytes(sample_data: Path, tmp_path: Path) -> None:
    data = DataFolder(copy_data(sample_data, tmp_path / "data"))
    store = StateStore(data.state)
    log = TraceLog(store)
    searcher = Searcher(data, "samples", log)
    first = searcher.search(REQUEST).trace_id
    alone = bytes_read(lambda: searcher.search(REQUEST))
    log.flush()

    trace = store.get(NAMESPACE, first)
    events = [{"event": "test", "n": number, "chunk_id": "c" * 40} for number in range(TRACE_BYTES // 85)]
    for start in range(0, TRACES, 100):
        store.put_many(NAMESPACE, {f"t{number}": trace | {"events": events} for number in range(start, start + 100)})
    assert sum(path.stat().st_size for path in data.state.glob("state.sqlite*")) > 190 << 20

    assert bytes_read(lambda: searcher.search(REQUEST)) < alone + FEW
    assert bytes_read(lambda: Searcher(data, "samples", TraceLog(store))) < FEW, "a start reads none of them"
    assert not replay(data, first).differs
    assert bytes_read(lambda: store.get(NAMESPACE, "t500")) < TRACE_BYTES + FEW
    log.flush()

    trimmed = TraceLog(store)
    trimmed.write("newest", {"collection": "samples"}, TraceSettings(newest=10))
    trimmed.flush()
    assert len(store.keys(NAMESPACE)) == 10 and "newest" in store.keys(NAMESPACE)
