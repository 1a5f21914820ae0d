"""`monjyu models try`: a model that answers well, one that answers nothing, and one that is not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from monjyu_query.commands.models_command import models
from tests.core.models.conformance import competent
from tests.core.models.fake_server import FakeModels, Provider, say


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONJYU_DATA", str(tmp_path))


def tried(fake: FakeModels, monkeypatch: pytest.MonkeyPatch, *more: str) -> Result:
    for name, value in fake.environment().items():
        monkeypatch.setenv(name, value)
    return CliRunner().invoke(models, ["try", "default", *more])


def test_a_good_model_and_what_its_server_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    refuses = {"response_format": (400, "This response_format type is unavailable now")}
    with FakeModels(provider=Provider(refuses=refuses)) as fake:
        fake.default = competent
        result = tried(fake, monkeypatch, "--json")
    assert result.exit_code == 0
    found: dict[str, Any] = json.loads(result.stdout)
    assert {one["verdict"] for one in found["roles"]} == {"good"} and len(found["tasks"]) == 12
    assert "parameters that the server refuses, which are omitted: response_format" in found["facts"]
    assert "models.default.native_schema: false" in found["settings"]


def test_a_model_that_agrees_to_everything_is_no_verifier(monkeypatch: pytest.MonkeyPatch) -> None:
    agreed = {"verdicts": [{"statement": n, "verdict": "supported", "reason": ""} for n in (1, 2, 3)]}
    with FakeModels() as fake:
        fake.default = lambda request: (
            json.dumps(agreed) if "SentenceVerdict" in json.dumps(request.body) else competent(request)
        )
        result = tried(fake, monkeypatch)
    assert result.exit_code == 0 and "roles.verify.engine: extractive" in result.output


def test_an_empty_model_is_good_for_nothing_and_no_server_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeModels() as fake:
        fake.default = say("")
        result = tried(fake, monkeypatch)
    assert result.exit_code == 1 and "its reply is empty" in result.output
    gone = tried(fake, monkeypatch)
    assert gone.exit_code == 1 and "Is it running?" in gone.output
