"""`monjyu doctor`: what is set up answers, what is not is off, what is wrong is said with what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from monjyu_assets.indexing.doctor import examine
from tests.assets.analysis.fake_intelligence import KEY as INTELLIGENCE_KEY
from tests.assets.analysis.fake_intelligence import FakeIntelligence
from tests.assets.scholarly.fake_services import FakeServices, Fault, KnownWork
from tests.conftest import call_monjyu
from tests.core.models.conftest import fake
from tests.core.models.fake_server import KEY, FakeModels
from tests.query.fake_search import FakeSearch

__all__ = ["fake"]


def found(data: Path, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    data.mkdir(exist_ok=True)
    (data / "monjyu.yaml").write_text(json.dumps(settings))
    monkeypatch.setenv("MONJYU_DATA", str(data))
    return {one.name: one for one in examine()}


def test_without_settings_nothing_is_wrong(tmp_path: Path) -> None:
    done = call_monjyu(tmp_path / "data", "doctor", "--json")
    seen = {one["name"]: one["state"] for one in json.loads(done.stdout)["findings"]}
    assert done.returncode == 0 and seen["data folder"] == seen["settings"] == "ok"


@pytest.fixture
def intelligence() -> Iterator[FakeIntelligence]:
    service = FakeIntelligence()
    yield service
    service.close()


@pytest.fixture
def search() -> Iterator[FakeSearch]:
    service = FakeSearch()
    yield service
    service.close()


def test_every_service_is_asked_once(
    tmp_path: Path,
    fake: FakeModels,
    intelligence: FakeIntelligence,
    search: FakeSearch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FakeServices([KnownWork("Attention is all you need", "10.5555/attention")]) as scholarly:
        settings = scholarly.settings("crossref", retries=0) | {
            "models": {"default": fake.models()["openai"]},
            "roles": {"answer": {"engine": "llm"}, "verify": {"engine": "llm"}},
            "azure": {
                "keys_in_file": True,
                "document_intelligence": intelligence.settings(),
                "search": search.settings(),
            },
        }
        seen = found(tmp_path / "data", settings, monkeypatch)
        assert {name: one.state for name, one in seen.items() if one.state == "wrong"} == {}
        assert len(fake.requests) == 1 and seen["model default"].detail == "fake-model-1 answers"
        assert "1 works" in seen["Crossref"].detail
        assert "2 custom models" in seen["Azure Document Intelligence"].detail
        assert "0 of 15 indexes" in seen["Azure AI Search"].detail

        fake.key, scholarly.faults = "another", [Fault(500)]
        settings["azure"] |= {"document_intelligence": intelligence.settings(api_key="wrong-key-99")}
        settings["azure"] |= {"search": {"endpoint": "http://127.0.0.1:1", "api_key": "wrong-key-98"}}
        seen = found(tmp_path / "data", settings, monkeypatch)
        assert {name for name, one in seen.items() if one.state == "wrong"} == {
            *("model default", "Crossref", "Azure Document Intelligence", "Azure AI Search"),
        }
        assert "wrong" in seen["Azure Document Intelligence"].hint
        assert "401" in seen["model default"].detail and "api_key" in seen["model default"].hint
        shown = json.dumps([asdict(one) for one in seen.values()])
        assert not any(secret in shown for secret in ("wrong-key-99", "wrong-key-98", KEY, INTELLIGENCE_KEY))


def test_settings_that_cannot_be_read_end_it(tmp_path: Path) -> None:
    (tmp_path / "monjyu.yaml").write_text("serach: {}")
    done = call_monjyu(tmp_path, "doctor")
    assert done.returncode == 1 and "serach" in done.stdout and "1 of 2 checks found a fault" in done.stderr
