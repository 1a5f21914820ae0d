"""`monjyu doctor`: what is set up answers, what is not is off, what is wrong is said with what to do."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from monjyu_assets.maintenance.doctor import examine
from tests.assets.scholarly.fake_services import FakeServices, Fault, KnownWork
from tests.conftest import call_monjyu
from tests.core.models.conftest import fake
from tests.core.models.fake_server import KEY, FakeModels

__all__ = ["fake"]
AZURE_KEY = "azure-key-123456"
SEARCH = {
    "counters": {
        name: {"usage": 3, "quota": 15}
        for name in (
            *("documentCount", "indexesCount", "indexersCount", "dataSourcesCount", "storageSize", "synonymMaps"),
            *("skillsetCount", "vectorIndexSize"),
        )
    },
    "limits": {},
}
DETAILS = {"customDocumentModels": {"count": 2, "limit": 20000}}


@pytest.fixture
def azure() -> Iterator[str]:
    """The two services' cheapest questions, answered to who has the key."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known = {"/documentintelligence/info": DETAILS, "/servicestats": SEARCH, "/servicestats()": SEARCH}
            given = self.headers.get("api-key") or self.headers.get("ocp-apim-subscription-key")
            answer = known.get(self.path.partition("?")[0])
            status = 401 if given != AZURE_KEY else 404 if answer is None else 200
            body = json.dumps(answer if status == 200 else {"error": {"code": str(status), "message": "no"}}).encode()
            self.send_response(status if "api-version=" in self.path else 400)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def found(data: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    data.mkdir(exist_ok=True)
    (data / "monjyu.yaml").write_text(json.dumps(settings))
    monkeypatch.setenv("MONJYU_DATA", str(data))
    return {one.name: one for one in examine()}


def test_without_settings_nothing_is_wrong(tmp_path: Path) -> None:
    done = call_monjyu(tmp_path / "data", "doctor", "--json")
    seen = {one["name"]: one["state"] for one in json.loads(done.stdout)["findings"]}
    assert done.returncode == 0 and seen["data folder"] == seen["settings"] == "ok"
    assert seen["Azure AI Search"] == seen["Azure Document Intelligence"] == "off"


def test_every_service_is_asked_once(
    tmp_path: Path, azure: str, fake: FakeModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeServices([KnownWork("Attention is all you need", "10.5555/attention")]) as scholarly:
        service = {"endpoint": azure, "api_key": AZURE_KEY}
        settings = scholarly.settings("crossref", retries=0) | {
            "models": {"default": fake.models()["openai"]},
            "roles": {"answer": {"engine": "llm"}, "verify": {"engine": "llm"}},
            "azure": {"keys_in_file": True, "search": service, "document_intelligence": service},
        }
        seen = found(tmp_path / "data", settings, monkeypatch)
        assert {name: one.state for name, one in seen.items() if one.state == "wrong"} == {}
        assert len(fake.requests) == 1 and seen["model default"].detail == "fake-model-1 answers"
        assert "3 of 15 indexes" in seen["Azure AI Search"].detail
        assert "2 custom models" in seen["Azure Document Intelligence"].detail
        assert "1 works" in seen["Crossref"].detail

        fake.key, scholarly.faults = "another", [Fault(500)]
        wrong = {"endpoint": azure, "api_key": "wrong-key-99"}
        settings["azure"] |= {
            "search": wrong,
            "document_intelligence": {"endpoint": "http://127.0.0.1:1", "api_key": "x"},
        }
        seen = found(tmp_path / "data", settings, monkeypatch)
        assert {name for name, one in seen.items() if one.state == "wrong"} == {
            *("model default", "Crossref", "Azure AI Search", "Azure Document Intelligence"),
        }
        assert "401" in seen["Azure AI Search"].detail and "key" in seen["Azure AI Search"].hint
        shown = json.dumps([one.as_json() for one in seen.values()])
        assert not any(secret in shown for secret in ("wrong-key-99", KEY, AZURE_KEY))


def test_settings_that_cannot_be_read_end_it(tmp_path: Path) -> None:
    (tmp_path / "monjyu.yaml").write_text("serach: {}")
    done = call_monjyu(tmp_path, "doctor")
    assert done.returncode == 1 and "serach" in done.stdout and "1 of 2 are wrong" in done.stderr
