"""`monjyu eval`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from monjyu_query.commands.options import collection_option, json_option, print_json

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False, readable=True)

_MOST_PASSAGES = 100
"""Shown of one lazy search, so that all that it found is counted."""


@click.group("eval")
def evaluate() -> None:
    """Measure retrieval against judged queries."""


@evaluate.command("retrieval")
@collection_option
@click.option("--queries", type=_FILE, required=True, help='JSONL, {"id", "text"} a line.')
@click.option("--qrels", type=_FILE, required=True, help="TSV with a header: query_id, doc_id, score.")
@click.option("--mode", type=click.Choice(("auto", "vector", "keyword", "hybrid")), default="auto", show_default=True)
@click.option("--top-k", type=click.IntRange(1, 1000), default=100, show_default=True, help="Papers in RUN.tsv.")
@click.option("--run-out", type=click.Path(path_type=Path, dir_okay=False), help="Write the ranked papers here (TSV).")
@click.option("--snapshot", "snapshot_id", help="Measure this snapshot; by default the one that is published.")
@json_option
def retrieval(
    collection: str | None,
    queries: Path,
    qrels: Path,
    mode: str,
    top_k: int,
    run_out: Path | None,
    snapshot_id: str | None,
    as_json: bool,
) -> None:
    """Rank the papers for each judged query by their best passage: nDCG, recall, MRR and latency."""
    from monjyu_core.folders import DataFolder
    from monjyu_query import evaluate as measure
    from monjyu_query.search import Searcher
    from monjyu_query.which_collection import chosen_collection

    judged = measure.judged(measure.read_queries(queries), measure.read_qrels(qrels))
    data = DataFolder.default()
    searcher = Searcher(data, chosen_collection(data, collection), snapshot_id=snapshot_id)
    used = searcher.settings.search.mode if mode == "auto" else mode
    depth = max(top_k, measure.DEPTH)

    def ranked(query: str) -> measure.Ranked:
        return searcher.rank_papers(query, used, depth)

    searcher.prepare(used)
    ranked(judged[0].text)  # the first search of a process is not what a user of a running one waits for
    with click.progressbar(judged, label=f"{used} queries", file=sys.stderr) as waiting:
        runs = list(measure.run_queries(ranked, waiting))
    if run_out is not None:
        measure.write_run(run_out, runs, top_k)
    found = measure.summary(used, runs)
    if as_json:
        print_json(found)
    else:
        click.echo("\n".join(f"{name:11} {value}" for name, value in found.items()))


@evaluate.command("lazy")
@collection_option
@click.option("--questions", type=_FILE, required=True, help='JSONL, {"id", "text", "gold"} a line.')
@click.option("--budgets", default="0,25,50,100,200,500", show_default=True, help="Numbers of relevance tests.")
@json_option
def lazy(collection: str | None, questions: Path, budgets: str, as_json: bool) -> None:
    """Ask each question with each budget: how much of the gold evidence lazy search finds, and what it takes."""
    from monjyu_core.folders import DataFolder
    from monjyu_query import evaluate_lazy as measure
    from monjyu_query.request import make_request
    from monjyu_query.result import SearchResult
    from monjyu_query.search import Searcher
    from monjyu_query.which_collection import chosen_collection

    try:
        wanted = sorted({int(budget) for budget in budgets.split(",")})
    except ValueError:
        raise click.BadParameter("numbers with commas between them", param_hint="--budgets") from None
    gold = measure.read_questions(questions)
    data = DataFolder.default()
    name = chosen_collection(data, collection)
    searcher = Searcher(data, name)
    searcher.prepare()

    def ask(query: str, mode: str, number: int) -> SearchResult:
        counted = {"budget": number, "top_k": _MOST_PASSAGES} if mode == "lazy" else {"top_k": min(number, 1000)}
        return searcher.search(make_request(query=query, collection=name, mode=mode, **counted))

    found = measure.measure(ask, gold, wanted)
    if as_json:
        print_json(found)
        return
    for label, row in [*((str(row["budget"]), row) for row in found["budgets"]), ("hybrid", found["hybrid"])]:
        figures = (f"{key} {value:g}" for key, value in row.items() if key != "budget")
        click.echo(f"{label:>7}  {'  '.join(figures)}")
