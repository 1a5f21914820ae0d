"""Answers of the samples, asked once, and the data folder that they were asked of."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_query.answer_packages.asked_answer import AskedAnswer, asked_now
from monjyu_query.answer_packages.package import package_of
from monjyu_query.asking.request import make_request
from tests.copies import copy_data

QUESTION = "How does search under a relevance budget test the passages of communities?"


@pytest.fixture(scope="session")
def asked_data(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the samples, for asking leaves traces."""
    return copy_data(sample_data, tmp_path_factory.mktemp("asked") / "data")


@pytest.fixture(scope="session")
def asked(asked_data: Path) -> AskedAnswer:
    answer = asked_now(DataFolder(asked_data), make_request(query=QUESTION, collection="samples"))
    assert answer.result.status == "complete" and any(one.page for one in answer.result.citations)
    return answer


@pytest.fixture(scope="session")
def package(asked: AskedAnswer) -> dict[str, bytes]:
    return package_of(asked)
