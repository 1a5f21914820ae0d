"""Fixtures of the searches over levels 2 to 4."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.query import knowledge


@pytest.fixture(scope="session")
def known_data(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample papers at level 4, with rows written by hand. Read only."""
    return knowledge.build(sample_data, tmp_path_factory.mktemp("known") / "data")
