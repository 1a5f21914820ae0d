"""The full text in memory gives the scores of Lance, whatever is asked, and goes with its snapshot."""

from __future__ import annotations

import gc
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

from monjyu_core.storage.folders import DataFolder
from monjyu_query.ranking import retrieval
from monjyu_query.ranking.lance_loop import now
from monjyu_query.ranking.retrieval import ASKED_BEFORE, KeywordIndex
from monjyu_query.ranking.vector_store import LocalStore
from monjyu_query.search.open_index import OpenIndex, open_index
from monjyu_query.search.searcher import Searcher

ODD = [
    *("", "?", "the", "x" * 200, "learning learn learned", "zebraing caches", "naïve Übung café"),
    *("日本語の検索", "2重のDNA型を標準化", "cache 索引 early-cutoff", '"early cutoff" AND NOT (cache)^2 ~1'),
]


@pytest.fixture
def index(sample_data: Path) -> OpenIndex:
    """English and Japanese papers; opened anew, so that nothing is in memory yet."""
    return open_index(Searcher(DataFolder(sample_data), "samples").current().snapshot)


def _questions(index: OpenIndex) -> list[str]:
    """Some words, or some characters, of every fourth chunk, beside odd ones."""
    texts = [row[0] for row in index.snapshot.cursor().execute("SELECT text FROM chunks ORDER BY chunk_id").fetchall()]
    return [*ODD, *(" ".join(text.split()[2:9])[:60] for text in texts[::4])]


def test_scores_are_those_of_lance_to_the_last_bit(index: OpenIndex) -> None:
    questions, keywords = _questions(index), index.keywords
    expected = [now(keywords._scores(question)) for question in questions]
    assert keywords.hold()
    found = [keywords.scores(question).result() for question in questions]
    for question, one, other in zip(questions, found, expected, strict=True):
        assert one.dtype == other.dtype == np.float32
        assert np.array_equal(one, other), question
    assert sum(scores.any() for scores in found) > len(questions) // 2


def test_what_is_asked_often_is_read_into_memory_and_lance_is_not_asked_again(
    index: OpenIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    keywords = index.keywords
    expected = keywords.scores("early cutoff").result()
    for _ in range(ASKED_BEFORE - 2):
        keywords.scores("early cutoff").result()
    assert not keywords._held
    keywords.scores("索引").result()
    for _ in range(200):
        if keywords._held:
            break
        time.sleep(0.1)
    monkeypatch.setattr(KeywordIndex, "_match", None)
    assert np.array_equal(keywords.scores("early cutoff").result(), expected)


def test_a_large_collection_is_not_held(index: OpenIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "IN_MEMORY", len(index.corpus) - 1)
    assert not index.keywords.hold() and not index.keywords._held


def test_scores_that_differ_from_those_of_lance_are_not_used(
    index: OpenIndex, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As they would with another version of Lance, or another tokenizer."""
    index.keywords.scores("early cutoff").result()
    monkeypatch.setattr("monjyu_query.ranking.bm25._B", np.float32(0.5))
    assert not index.keywords.hold() and not index.keywords._held
    assert "Lance goes on being asked" in caplog.text


def test_it_goes_with_the_index(index: OpenIndex) -> None:
    assert index.keywords.hold()
    held = weakref.ref(index.keywords._held["search_text"])
    keywords = KeywordIndex(index.keywords._table, index.corpus)
    copy = OpenIndex(index.snapshot, index.corpus, keywords, LocalStore(index.corpus, keywords), index.wide)
    assert not copy.keywords._held
    object.__setattr__(index, "keywords", copy.keywords)
    object.__setattr__(index, "store", copy.store)
    gc.collect()
    assert held() is None
