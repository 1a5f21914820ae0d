"""Fixtures of the reader's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import once
from tests.copies import copy_data
from tests.core.models import fake_server
from tests.core.models.fake_server import FakeModels
from tests.query import knowledge


@pytest.fixture(scope="session")
def known_data(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample papers at level 4, with rows written by hand. Its state is this process's own."""
    made = once(tmp_path_factory, "known", lambda data: knowledge.build(sample_data, data))
    return copy_data(made, tmp_path_factory.mktemp("known") / "data")


@pytest.fixture
def answer_model(sample_data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModels]:
    """A server whose model writes the answers over the samples, for objects that are made in the test."""
    with FakeModels() as fake:
        values = {
            "MODELS__DEFAULT__MODEL": "fake-model-1",
            "MODELS__DEFAULT__BASE_URL": fake.openai,
            "MODELS__DEFAULT__API_KEY": fake_server.KEY,
            "ROLES__ANSWER__ENGINE": "llm",
            "ROLES__ANSWER__RETRIES": "0",
            "CACHE__ENABLED": "false",
        }
        monkeypatch.setenv("MONJYU_DATA", str(sample_data))
        for name, value in values.items():
            monkeypatch.setenv(f"MONJYU_{name}", value)
        yield fake
