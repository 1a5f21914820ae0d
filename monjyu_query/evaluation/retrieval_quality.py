"""Measures retrieval: reads judged queries, runs them, and averages the measures."""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path

import numpy as np

from monjyu_core.errors import ConfigurationError
from monjyu_core.user_files.bounded_reading import MEBIBYTE, parse_json, read_text
from monjyu_core.values import Values

# Measures of a ranked list against graded judgements, averaged over queries by the caller. `ranked` contains distinct
# document ids, best first; `grades` the grades of judged documents, which are relevant if the grade is above 0. Queries
# without a relevant document must be left out.
Grades = Mapping[str, float]


def ndcg(ranked: Sequence[str], grades: Grades, depth: int) -> float:
    """Return the normalised discounted cumulative gain: `sum(gain_i / log2(i + 1))` over ranks i from 1, divided by the
    same sum for the ideal order.

    Järvelin and Kekäläinen 2002; linear gains and the ideal cut at the same depth, as `ndcg_cut` of trec_eval.
    """
    gains = [max(grades.get(document, 0.0), 0.0) for document in ranked[:depth]]
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth]
    return _discounted(gains) / _discounted(ideal) if ideal else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def recall(ranked: Sequence[str], grades: Grades, depth: int) -> float:
    """Return the share of the relevant documents that are among the first `depth` ranked ones."""
    relevant = {document for document, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:depth])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranked: Sequence[str], grades: Grades, depth: int) -> float:
    """1 / rank of the first relevant document in the first `depth`, else 0 (Voorhees 1999; its mean is MRR)."""
    return next((1.0 / rank for rank, document in enumerate(ranked[:depth], 1) if grades.get(document, 0.0) > 0), 0.0)


def percentile(values: Sequence[float], share: float) -> float:
    """The value at `share` (0 to 1) of the sorted values, interpolated linearly; 0 without values."""
    return float(np.quantile(values, share)) if values else 0.0


DEPTH = 100
"""The number of papers to rank for each query, even if fewer are printed."""

Qrels = Mapping[str, Mapping[str, float]]
Ranked = list[tuple[str, float]]
_LARGEST = 256 * MEBIBYTE
"""The maximum size in bytes of a file of queries or judgements."""
_QUERY_LINE = 'A line is {"id": "q1", "text": "…"}.'
_JUDGEMENT_LINE = "A line is query_id<TAB>doc_id<TAB>score."
MOST_VALUES = 1_000_000
"""The maximum number of values in a line of JSON."""


@dataclass(frozen=True)
class JudgedQuery:
    query_id: str
    text: str
    grades: Mapping[str, float]


@dataclass(frozen=True)
class Run:
    """The papers ranked for one query with their scores, and the seconds that the search took."""

    query: JudgedQuery
    ranked: Ranked
    seconds: float


def read_queries(path: Path) -> dict[str, str]:
    """Read queries, one `{"id", "text"}` a line, as texts by id. Raises ConfigurationError for an invalid line."""
    queries: dict[str, str] = {}
    for number, line in numbered_lines(path):
        try:
            record = parse_json(line, MOST_VALUES)
            query_id, text = str(record["id"]), record["text"]
        except (ValueError, TypeError, KeyError):
            raise ConfigurationError(f"{path}, line {number} is not a query.", _QUERY_LINE) from None
        if not isinstance(text, str) or not text.strip():
            raise ConfigurationError(f"{path}, line {number}: `text` is empty or not a string.", _QUERY_LINE)
        if query_id in queries:
            raise ConfigurationError(
                f"{path}, line {number}: query {query_id!r} occurs twice.", "Give each its own id."
            )
        queries[query_id] = text
    return queries


def read_qrels(path: Path) -> dict[str, dict[str, float]]:
    """Read judgements, one `query_id<TAB>doc_id<TAB>score` per line after a header, as grades by query and document.
    Raises ConfigurationError naming the invalid line."""
    qrels: dict[str, dict[str, float]] = {}
    for number, line in numbered_lines(path):
        fields = line.split("\t")
        try:
            query_id, document, grade = fields[0], fields[1], float(fields[2])
        except (ValueError, IndexError):
            if number == 1:
                continue  # the header
            raise ConfigurationError(f"{path}, line {number} is not a judgement.", _JUDGEMENT_LINE) from None
        qrels.setdefault(query_id, {})[document] = grade
    return qrels


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The non-blank lines, each with its number. Raises ConfigurationError if the file cannot be read."""
    text, number, at = read_text(path, _LARGEST), 1, 0
    for line in re.finditer(r"[^\n]+", text):  # a list of blank lines would take eight times their bytes
        number, at = number + text.count("\n", at, line.start()), line.start()
        if line[0].strip():
            yield number, line[0].rstrip("\r")


def judged(queries: Mapping[str, str], qrels: Qrels) -> list[JudgedQuery]:
    """Return the queries with a relevant document, as trec_eval does. Raises ConfigurationError if no query has one."""
    found = [
        JudgedQuery(query_id, text, qrels[query_id])
        for query_id, text in queries.items()
        if any(grade > 0 for grade in qrels.get(query_id, {}).values())
    ]
    if not found:
        raise ConfigurationError("No query has a relevant document.", "Check that both files use the same query ids.")
    return found


def run_queries(search: Callable[[str], Ranked], queries: Iterable[JudgedQuery]) -> Iterator[Run]:
    """Run one query after another, timing each."""
    for query in queries:
        started = time.perf_counter()
        ranked = search(query.text)
        yield Run(query, ranked, time.perf_counter() - started)


def summary(mode: str, runs: Sequence[Run]) -> Values:
    """The means over all queries and the latencies in milliseconds."""
    pairs = [([paper_id for paper_id, _ in run.ranked], run.query.grades) for run in runs]
    seconds = [run.seconds for run in runs]

    def mean(values: Iterable[float]) -> float:
        return round(sum(values) / len(runs), 6) if runs else 0.0

    return {
        "mode": mode,
        "queries": len(runs),
        "ndcg@10": mean(ndcg(ranked, grades, 10) for ranked, grades in pairs),
        "recall@10": mean(recall(ranked, grades, 10) for ranked, grades in pairs),
        "recall@100": mean(recall(ranked, grades, 100) for ranked, grades in pairs),
        "mrr@10": mean(reciprocal_rank(ranked, grades, 10) for ranked, grades in pairs),
        "p50_ms": round(percentile(seconds, 0.5) * 1000, 3),
        "p95_ms": round(percentile(seconds, 0.95) * 1000, 3),
    }


def write_run(path: Path, runs: Iterable[Run], top_k: int) -> None:
    """Write the best `top_k` papers of each query, one `query_id<TAB>paper_id<TAB>rank<TAB>score` per line, without a
    header. Raises ConfigurationError if the file cannot be written."""
    lines = [
        f"{run.query.query_id}\t{paper_id}\t{rank}\t{score:.6f}"
        for run in runs
        for rank, (paper_id, score) in enumerate(run.ranked[:top_k], start=1)
    ]
    write_lines(path, lines)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a text file. Raises ConfigurationError if that fails."""
    try:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be written: {error.strerror or error}.", "Name another file."
        ) from error
