"""Structured logs and OpenTelemetry: what is told is what happened, to a collector that really listens."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from monjyu_assets.orchestration.reporting.run_log import asset_done, papers_done
from monjyu_assets.work.work import ShardReport, Work
from monjyu_core import observability
from monjyu_core.errors import QueryError
from monjyu_core.observability import set_up_logs, set_up_observability
from monjyu_core.settings.operations import LogSettings, TelemetrySettings
from monjyu_core.settings.settings import Settings
from monjyu_core.storage.folders import DataFolder
from monjyu_query.asking.request import make_request
from monjyu_query.search.searcher import Searcher

REPORT = ShardReport("7", total=3, reused=1, recomputed=2, failed=1, recomputed_ids=["a", "b"])


class Collector(ThreadingHTTPServer):
    """An OTLP collector: keeps what it was sent, by path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Receive)
        self.received: list[tuple[str, bytes]] = []


class _Receive(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    with Collector() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(observability, "_current", None)
        monkeypatch.setattr(observability, "_made_with", None)
        yield server
        server.shutdown()


def work(folder: Path) -> Work:
    data = DataFolder(folder)
    (data.papers / "notes").mkdir(parents=True, exist_ok=True)  # a collection that was never indexed
    return Work(data, "notes", run_id="run-1")


def test_spans_and_metrics_reach_the_collector(tmp_path: Path, collector: Collector) -> None:
    trace_service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    metric_service = pytest.importorskip("opentelemetry.proto.collector.metrics.v1.metrics_service_pb2")
    endpoint = f"http://127.0.0.1:{collector.server_address[1]}"
    set_up_observability(Settings(telemetry=TelemetrySettings(endpoint=endpoint)))
    with observability.span("index", collection="notes", level=1):
        asset_done(work(tmp_path), "chunks", 2.5, rows=12, tokens=40, cost_usd=0.5)
        papers_done(work(tmp_path), "chunks", [REPORT], {})
    sink = observability.telemetry()
    assert sink is not None
    sink.close()
    bodies = dict(collector.received)
    spans = trace_service.ExportTraceServiceRequest.FromString(bodies["/v1/traces"]).resource_spans[0].scope_spans[0]
    asset, index = sorted(spans.spans, key=lambda one: one.name)
    assert (asset.name, index.name) == ("asset chunks", "index")
    assert asset.parent_span_id == index.span_id
    assert (asset.end_time_unix_nano - asset.start_time_unix_nano) == pytest.approx(2.5e9)
    names = {item.key: item.value.string_value for item in asset.attributes}
    assert (names["collection"], names["run"]) == ("notes", "run-1")
    metrics = metric_service.ExportMetricsServiceRequest.FromString(bodies["/v1/metrics"]).resource_metrics[0]
    found = {metric.name: metric for metric in metrics.scope_metrics[0].metrics}
    assert found["monjyu.tokens"].sum.data_points[0].as_int == 40
    outcomes = {
        next(item.value.string_value for item in point.attributes if item.key == "outcome"): point.as_int
        for point in found["monjyu.papers"].sum.data_points
    }
    assert outcomes == {"reused": 1, "recomputed": 2, "failed": 1}


def test_events_are_json_lines_with_run_collection_shard_and_paper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        set_up_logs(LogSettings(format="json"))
        set_up_logs(LogSettings(format="json"))  # again: no line twice
        papers_done(work(tmp_path), "parsed_papers", [REPORT], {"b": "EncryptedDocument"})
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    finally:
        set_up_logs(LogSettings())
    assert [line["message"] for line in lines] == ["papers done", "paper failed"]
    where = {"run": "run-1", "collection": "notes", "asset": "parsed_papers"}
    assert all(line.items() >= where.items() for line in lines)
    assert (lines[1]["paper"], lines[1]["cause"], lines[1]["level"]) == ("b", "EncryptedDocument", "warning")
    papers_done(work(tmp_path), "parsed_papers", [REPORT], {})
    assert capsys.readouterr().err == ""


def test_a_search_is_a_span_a_log_line_and_a_metric_and_none_has_its_words(
    sample_data: Path, collector: Collector, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace_service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    monkeypatch.setenv("MONJYU_TELEMETRY__ENDPOINT", f"http://127.0.0.1:{collector.server_address[1]}")
    monkeypatch.setenv("MONJYU_LOG__FORMAT", "json")
    try:
        searcher = Searcher(DataFolder(sample_data), "samples")
        request = make_request(query="zebrafish budget", collection="samples", mode="keyword", answer=False)
        result = searcher.search(request)
        with pytest.raises(QueryError):
            searcher.search(request.model_copy(update={"mode": "global"}))
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    finally:
        set_up_logs(LogSettings())
    sink = observability.telemetry()
    assert sink is not None
    sink.close()
    bodies = dict(collector.received)
    done, failed = (
        trace_service.ExportTraceServiceRequest.FromString(bodies["/v1/traces"]).resource_spans[0].scope_spans[0].spans
    )
    facts = {item.key: item.value.string_value or item.value.int_value for item in done.attributes}
    assert done.name == "search"
    assert facts.items() >= {"collection": "samples", "mode": "keyword", "status": "complete"}.items()
    assert (facts["trace"], facts["hits"]) == (result.trace_id, len(result.hits))
    assert {item.key: item.value.string_value for item in failed.attributes}["error.type"] == "QueryError"
    assert not failed.events, "an exception's message may hold words of the question"
    assert [line["message"] for line in lines] == ["search done"]
    assert (
        lines[0].items()
        >= {"collection": "samples", "trace": result.trace_id, "index_level": 0, "level": "info"}.items()
    )
    assert b"monjyu.search.seconds" in bodies["/v1/metrics"]
    assert not any(b"zebrafish" in body for body in (*bodies.values(), json.dumps(lines).encode()))


def test_nothing_is_sent_unless_an_endpoint_is_named(collector: Collector, tmp_path: Path) -> None:
    set_up_observability(Settings())
    asset_done(work(tmp_path), "chunks", 1.0, rows=1)
    assert observability.telemetry() is None
    assert collector.received == []
