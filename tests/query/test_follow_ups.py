"""Questions that an answer leads on to."""

from __future__ import annotations

from pathlib import Path

import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_query.asking.request import make_request
from monjyu_query.search.searcher import Searcher

QUESTION = "How is a relevance budget spent?"


@pytest.fixture(scope="module")
def searcher(level_1_data: Path) -> Searcher:
    return Searcher(DataFolder(level_1_data), "samples")


def test_they_are_new_and_are_answered(searcher: Searcher) -> None:
    result = searcher.search(make_request(query=QUESTION, collection="samples"))
    assert 1 <= len(result.follow_ups) <= 3 and len(set(result.follow_ups)) == len(result.follow_ups)
    assert not any("budget" in question.lower() for question in result.follow_ups)
    for question in result.follow_ups:
        assert searcher.search(make_request(query=question, collection="samples", mode="hybrid")).status == "complete"
    again = searcher.search(make_request(query=QUESTION, collection="samples"))
    assert again.follow_ups == result.follow_ups


def test_none_is_offered_where_nothing_was_answered(searcher: Searcher, sample_data: Path) -> None:
    assert searcher.search(make_request(query="best pizza recipe", collection="samples")).follow_ups == []
    assert searcher.search(make_request(query=QUESTION, collection="samples", answer=False)).follow_ups == []
    flat = Searcher(DataFolder(sample_data), "samples")
    assert flat.search(make_request(query=QUESTION, collection="samples")).follow_ups == [], "no noun graph"


def test_they_are_in_the_language_of_the_question(searcher: Searcher) -> None:
    result = searcher.search(make_request(query="リース Leiden Louvain とは何ですか。", collection="samples"))
    assert all("。" in question for question in result.follow_ups)
