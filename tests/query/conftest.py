"""Fixtures of the reader's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from monjyu_query.ranking import passage_readings
from tests.copies import copy_data
from tests.core.models.fake_server import FakeModels
from tests.prepared import OF_READINGS, home, prepared
from tests.query import knowledge
from tests.query.readings import KeptReadings


@pytest.fixture(autouse=True, scope="session")
def _readings_of_other_workers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passage_readings, "_kept", KeptReadings(home("readings", OF_READINGS) / "readings.sqlite"))
        yield


@pytest.fixture(scope="session")
def known_data(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample papers at level 4, with rows written by hand. Its state is this process's own."""
    made = prepared("known", lambda data: knowledge.build(sample_data, data))
    return copy_data(made, tmp_path_factory.mktemp("known") / "data")


@pytest.fixture(scope="session")
def whole_data(level_1_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, with the noun graph and communities of level 1, which assets made. Its state is this process's own."""
    made = prepared("whole", lambda data: knowledge.build(level_1_data, data))
    return copy_data(made, tmp_path_factory.mktemp("whole") / "data")


@pytest.fixture
def answer_model(sample_data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModels]:
    """A server whose model writes the answers over the samples, for objects that are made in the test."""
    with FakeModels() as fake:
        monkeypatch.setenv("MONJYU_DATA", str(sample_data))
        for name, value in fake.environment("ANSWER", CACHE__ENABLED="false").items():
            monkeypatch.setenv(name, value)
        yield fake
