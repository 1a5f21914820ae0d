"""Measures against values computed by hand."""

from __future__ import annotations

from math import log2

import pytest

from monjyu_query.evaluation.retrieval_quality import ndcg, percentile, recall, reciprocal_rank


def test_ndcg_of_graded_judgements() -> None:
    grades = {"a": 3.0, "b": 2.0, "c": 1.0}
    gained = 2 / log2(2) + 0 / log2(3) + 3 / log2(4)
    ideal = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert ndcg(["b", "x", "a"], grades, 10) == pytest.approx(gained / ideal)
    assert ndcg(["a", "b", "c"], grades, 10) == pytest.approx(1.0)


def test_ndcg_cuts_the_ideal_too() -> None:
    grades = {str(n): 1.0 for n in range(20)}
    assert ndcg([str(n) for n in range(10)], grades, 10) == pytest.approx(1.0)


def test_ndcg_ignores_grades_that_are_not_positive() -> None:
    assert ndcg(["bad", "good"], {"bad": -1.0, "good": 1.0, "none": 0.0}, 10) == pytest.approx(1 / log2(3))
    assert ndcg(["bad"], {"bad": 0.0}, 10) == 0.0


def test_recall() -> None:
    grades = {"a": 1.0, "b": 1.0, "c": 0.0}
    assert recall(["a", "c", "b"], grades, 2) == 0.5
    assert recall(["a", "c", "b"], grades, 3) == 1.0
    assert recall(["a"], {}, 10) == 0.0


def test_reciprocal_rank() -> None:
    grades = {"b": 1.0}
    assert reciprocal_rank(["a", "b"], grades, 10) == 0.5
    assert reciprocal_rank(["a", "b"], grades, 1) == 0.0


def test_percentile() -> None:
    assert percentile([], 0.5) == 0.0
    assert percentile([4, 1, 3, 2], 0.5) == 2.5
    assert percentile([1, 2, 3, 4, 5], 0.95) == pytest.approx(4.8)
