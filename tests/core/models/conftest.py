"""The fake server as a fixture."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.core.models.fake_server import FakeModels


@pytest.fixture
def fake() -> Iterator[FakeModels]:
    with FakeModels() as server:
        yield server
