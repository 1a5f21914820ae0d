"""Queries and judgements read from files, and the summary of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from monjyu_core.errors import ConfigurationError
from monjyu_query.evaluation.retrieval_quality import (
    JudgedQuery,
    Run,
    judged,
    read_qrels,
    read_queries,
    run_queries,
    summary,
    write_run,
)

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(content: str) -> Path:
        path = tmp_path / "file"
        path.write_text(content, encoding="utf-8")
        return path

    return to_file


def test_reads_queries(write: Write) -> None:
    path = write('\ufeff{"id": 1, "text": "one", "extra": 0}\r\n\n{"id": "b", "text": "two\u2028lines"}\n')
    assert read_queries(path) == {"1": "one", "b": "two\u2028lines"}


@pytest.mark.parametrize(
    "line", ["no json", "[]", '{"id": "1"}', '{"id": "1", "text": ""}', '{"id": "1", "text": 5}', "[" * 100_000]
)
def test_wrong_queries_name_the_line(write: Write, line: str) -> None:
    with pytest.raises(ConfigurationError, match="line 2"):
        read_queries(write(f'{{"id": "0", "text": "fine"}}\n{line}\n'))


def test_a_query_id_stands_once(write: Write) -> None:
    with pytest.raises(ConfigurationError, match="twice"):
        read_queries(write('{"id": "0", "text": "a"}\n{"id": "0", "text": "b"}\n'))


def test_reads_qrels_with_and_without_header(write: Write) -> None:
    expected = {"1": {"d 1": 2.0, "d2": 0.0}, "2": {"d1": 1.0}}
    rows = "1\td 1\t2\n1\td2\t0\n2\td1\t1\n"
    assert read_qrels(write("query_id\tdoc_id\tscore\n" + rows)) == expected
    assert read_qrels(write(rows)) == expected


def test_wrong_qrels_name_the_line(write: Write) -> None:
    with pytest.raises(ConfigurationError, match="line 2"):
        read_qrels(write("query_id\tdoc_id\tscore\n1 d1 1\n"))


def test_queries_without_a_relevant_document_do_not_count() -> None:
    found = judged({"1": "a", "2": "b", "3": "c"}, {"1": {"d": 1.0}, "2": {"d": 0.0}})
    assert [query.query_id for query in found] == ["1"]
    with pytest.raises(ConfigurationError, match="ids"):
        judged({"1": "a"}, {"2": {"d": 1.0}})


def test_summary_and_run_file(tmp_path: Path) -> None:
    queries = [JudgedQuery("1", "a", {"d1": 1.0}), JudgedQuery("2", "b", {"d1": 1.0})]
    answers = {"a": [("d1", 2.0), ("d2", 1.0)], "b": [("d2", 0.5), ("d1", 0.25)]}
    runs = list(run_queries(answers.__getitem__, queries))
    found = summary("hybrid", runs)
    assert list(found) == ["mode", "queries", "ndcg@10", "recall@10", "recall@100", "mrr@10", "p50_ms", "p95_ms"]
    assert (found["queries"], found["mrr@10"], found["recall@10"]) == (2, 0.75, 1.0)
    assert found["ndcg@10"] == pytest.approx((1 + 0.630930) / 2, abs=1e-5)
    write_run(tmp_path / "run.tsv", runs, top_k=1)
    assert (tmp_path / "run.tsv").read_text() == "1\td1\t1\t2.000000\n2\td2\t1\t0.500000\n"


def test_latency_in_milliseconds() -> None:
    runs = [Run(JudgedQuery(str(n), "", {"d": 1.0}), [], n / 1000) for n in range(1, 102)]
    found = summary("vector", runs)
    assert (found["p50_ms"], found["p95_ms"]) == (51.0, 96.0)
