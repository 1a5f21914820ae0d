"""Measures answers to questions with gold spans: whether a span is quoted, and how long the answer is."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.state_store import StateStore
from monjyu_core.values import Values
from monjyu_query.answers.segments import plain
from monjyu_query.answers.selection import word_count
from monjyu_query.asking.request import Filters, make_request
from monjyu_query.asking.result import SearchResult
from monjyu_query.evaluation.gold_answers import Gold, PaperTexts, Quote, SpanQuestion
from monjyu_query.evaluation.lazy_summary import mean_and_interval
from monjyu_query.evaluation.retrieval_quality import percentile
from monjyu_query.search.searcher import Searcher
from monjyu_query.search.traces import TraceLog, read_trace, without_cost


# Repeats a search from its trace: with the same snapshot and settings the result is the same.
@dataclass(frozen=True)
class Replay:
    """The result of a repeated search. `differs` names the fields that differ from the trace."""

    trace_id: str
    again_id: str
    differs: tuple[str, ...]


def replay(data: DataFolder, trace_id: str) -> Replay:
    """Ask the request of a trace again, with its search and answer settings, and compare."""
    store = StateStore(data.state)
    before = read_trace(store, trace_id)
    request = make_request(**before["request"])
    log = TraceLog(store)
    searcher = Searcher(data, request.collection, log, before["settings"])
    again_id = searcher.search(request).trace_id
    log.flush()
    old, new = without_cost(before), without_cost(read_trace(store, again_id))
    return Replay(trace_id, again_id, tuple(name for name in old if old[name] != new[name]))


MEASURES = ("gold_in_citations", "gold_in_hits", "words", "quote_precision", "abstained", "partly")


@dataclass(frozen=True)
class AnswerRun:
    """The measures of one answer by name, and the seconds that it took. Measures that do not apply are missing: those
    of gold spans if the question has none, and precision if the answer has no quotes."""

    values: dict[str, float]
    seconds: float


def run(
    searcher: Searcher,
    questions: Iterable[SpanQuestion],
    mode: str = "auto",
    budget: str | int | None = None,
    *,
    without_source: bool = False,
) -> Iterator[AnswerRun]:
    """Ask one question after another and measure the answers. `without_source` excludes the paper that answers, so that
    a question that looks answerable is not."""
    papers = PaperTexts(searcher.current().snapshot.cursor())
    every = searcher.current().corpus.paper_ids
    for question in questions:
        others = [name for name in every if name != question.doc] if without_source else []
        given = {"query": question.text, "collection": searcher.collection, "filters": Filters(paper_ids=others)}
        request = make_request(**given, mode=mode, budget=budget)
        started = time.perf_counter()
        result = searcher.search(request)
        seconds = time.perf_counter() - started
        yield AnswerRun(_measured(result, Gold(question, papers)), seconds)


def _measured(result: SearchResult, gold: Gold) -> dict[str, float]:
    quotes = [Quote(citation.paper_id, citation.quote) for citation in result.citations]
    hits = [Quote(hit.paper_id, hit.text) for hit in result.hits]
    abstained = result.status == "abstained"
    values = {"abstained": float(abstained), "partly": float(result.status == "partial")}
    values["words"] = 0.0 if abstained else _words(result)
    if gold.known:
        values |= {"gold_in_citations": float(gold.is_found(quotes)), "gold_in_hits": float(gold.is_found(hits))}
        if quotes:
            values["quote_precision"] = float(np.mean([gold.is_evidence(quote) for quote in quotes]))
    return values


def _words(result: SearchResult) -> float:
    """Return the number of words of the answer, including the cells of its tables."""
    cells = (cell.text for table in result.tables for row in table.rows for cell in row)
    return word_count(plain(result.segments)) + sum(map(word_count, cells))


def summary(runs: Sequence[AnswerRun]) -> Values:
    """The mean of each measure over the answers that have it, with its 95 % interval (bootstrap), and the latencies in
    milliseconds. Measures that no answer has are null."""
    means: dict[str, float | None] = {}
    intervals: dict[str, tuple[float, float]] = {}
    for name in MEASURES:
        values = np.array([run.values[name] for run in runs if name in run.values])
        means[name] = None
        if len(values):
            means[name], intervals[name] = mean_and_interval(values)
    seconds = [run.seconds for run in runs]
    times = {"p50_ms": percentile(seconds, 0.5), "p95_ms": percentile(seconds, 0.95)}
    milliseconds = {name: round(1000 * value, 3) for name, value in times.items()}
    return {"questions": len(runs)} | means | milliseconds | {"intervals": intervals}
