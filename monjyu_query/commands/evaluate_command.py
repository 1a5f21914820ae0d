"""`monjyu eval`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from monjyu_core.values import Values
from monjyu_query.asking.request import PASSAGES, SearchQuestion
from monjyu_query.commands.options import (
    FILE,
    NEW_FILE,
    chosen,
    collection_option,
    collection_searcher,
    json_option,
    options_of,
    print_json,
    show,
)
from monjyu_query.evaluation import KINDS, Kind

# `monjyu eval judge`.


@click.command("judge")
@collection_option
@click.option("--questions", type=FILE, required=True, help='JSON Lines with {"id", "text"}.')
@options_of(SearchQuestion, "budget")
@options_of(SearchQuestion, "mode", default="lazy", help="Mode to judge.")
@click.option("--baseline", default="hybrid", show_default=True, help="Mode with which it is compared.")
@click.option("--every", type=click.IntRange(min=1), default=1, show_default=True, help="Ask every n-th question only.")
@json_option
def judge(
    collection: str | None,
    questions: Path,
    mode: str,
    budget: str | int | None,
    baseline: str,
    every: int,
    as_json: bool,
) -> None:
    """Let a strong model (roles.judge, off by default) compare the answers of two modes.

    Each pair is judged in both orders: an answer wins a criterion if it wins both times, otherwise it is a tie.
    This costs two calls per question in addition to those of the modes.
    """
    from monjyu_query.evaluation.judged_answers import AnswerJudge, compare_modes, summary
    from monjyu_query.evaluation.retrieval_quality import read_queries

    wanted = list(read_queries(questions).values())[::every]
    searcher = collection_searcher(collection).untraced()
    model = AnswerJudge(searcher).model
    pairs = compare_modes(searcher, wanted, mode, baseline, budget)
    with click.progressbar(pairs, len(wanted), "pairs", file=sys.stderr) as waiting:
        judged = list(waiting)
    about: Values = {"mode": mode, "budget": budget, "baseline": baseline, "judge": model}
    found = about | summary(judged)
    for warning in found["warnings"]:
        click.echo(f"Note: {warning}", err=True)
    if as_json:
        print_json(found)
        return
    click.echo(f"{mode} against {baseline}, {found['questions']} questions, judged by {model}")
    for name, one in found["criteria"].items():
        counts = "  ".join(f"{one[word]} {word}" for word in ("wins", "ties", "losses"))
        click.echo(f"{name:18} {one['win_rate']:.2f}  [{one['interval'][0]}, {one['interval'][1]}]  {counts}")
    click.echo(f"Both orders agree on {found['orders_agree']}; {found['failed']} pairs failed.")
    for why in sorted({one.failure for one in judged if one.failure})[:3]:
        click.echo(f"Failed: {why}", err=True)


@click.group("eval")
def evaluate() -> None:
    """Measure retrieval and answers."""


evaluate.add_command(judge)


@evaluate.command("retrieval")
@collection_option
@click.option("--queries", type=FILE, required=True, help='JSON Lines with {"id", "text"}.')
@click.option("--qrels", type=FILE, required=True, help="TSV with a header: query_id, doc_id, score.")
@click.option("--mode", type=click.Choice(("auto", *PASSAGES)), default="auto", show_default=True)
@click.option("--top-k", type=click.IntRange(1, 1000), default=100, show_default=True, help="Papers per query.")
@click.option("--run-out", type=NEW_FILE, help="Write the ranked papers here (TSV).")
@click.option("--snapshot", "snapshot_id", help="Measure this snapshot instead of the published one.")
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
    """Rank the papers for each judged query by their best passage; measure nDCG, recall, MRR and latency."""
    from monjyu_query.evaluation import retrieval_quality as measure

    judged = measure.judged(measure.read_queries(queries), measure.read_qrels(qrels))
    searcher = collection_searcher(collection, snapshot_id, leaves_traces=False)
    settled = searcher.settings.search.mode
    used = mode if mode != "auto" else settled if settled in PASSAGES else "hybrid"
    depth = max(top_k, measure.DEPTH)

    def ranked(query: str) -> measure.Ranked:
        return searcher.rank_papers(query, used, depth)

    searcher.prepare(used)
    ranked(judged[0].text)  # warms up: users of a running service do not wait for the first search of a process
    with click.progressbar(judged, label=f"{used} queries", file=sys.stderr) as waiting:
        runs = list(measure.run_queries(ranked, waiting))
    if run_out is not None:
        measure.write_run(run_out, runs, top_k)
    found = measure.summary(used, runs)
    show(found, as_json, lambda: "\n".join(f"{name:11} {value}" for name, value in found.items()))


@evaluate.command("lazy")
@collection_option
@click.option(
    "--questions", type=FILE, required=True, help='JSON Lines with {"id", "text", "gold"} or {… "doc", "answers"}.'
)
@click.option("--paraphrased", is_flag=True, help="Use the alternative wording of generated questions.")
@click.option("--within-paper", is_flag=True, help="Ask only the paper that answers, if the question names it.")
@click.option("--every", type=click.IntRange(min=1), default=1, show_default=True, help="Ask every n-th question only.")
@click.option("--budgets", default="0,25,50,100,200,500", show_default=True, help="Numbers of relevance tests.")
@click.option("--plot", type=NEW_FILE, help="Plot evidence recall by budget into this file (.png, .svg, .pdf).")
@click.option("--report", type=NEW_FILE, help="Write recall by question type, with intervals, to this file (JSON).")
@json_option
def lazy(
    collection: str | None,
    questions: Path,
    paraphrased: bool,
    within_paper: bool,
    every: int,
    budgets: str,
    plot: Path | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Measure how much of the gold evidence lazy search finds with each budget, and its cost.

    For comparison, hybrid search returns the number of passages in which 100 tests found evidence; all sentences of
    these passages count.
    """
    from monjyu_query.evaluation import lazy_quality as measure
    from monjyu_query.evaluation import lazy_summary as figures
    from monjyu_query.evaluation.retrieval_quality import write_lines

    wanted = _numbers(budgets)
    searcher = collection_searcher(collection, leaves_traces=False)
    gold = measure.read_questions(questions, searcher.current().snapshot, paraphrased=paraphrased)[::every]
    searcher.prepare()
    evidence = measure.Evidence(searcher.current().snapshot)
    asked = len(gold) * (len(wanted) + 1)
    runs_of = measure.run(searcher, evidence, gold, wanted, within_paper=within_paper)
    with click.progressbar(runs_of, asked, "searches", file=sys.stderr) as runs:
        done = list(runs)
    found = figures.summary(done, wanted)
    kinds, answerable = figures.by_kind(done, wanted), figures.with_gold(gold)
    click.echo(figures.table(kinds, answerable), err=as_json)
    if plot is not None:
        figures.draw(kinds, answerable, plot)
    if report is not None:
        write_lines(report, [json.dumps(found | {"kinds": [kind.as_dict() for kind in kinds]}, indent=1)])
    if as_json:
        print_json(found)
        return
    for label, row in [*((str(row["budget"]), row) for row in found["budgets"]), ("hybrid", found["hybrid"])]:
        values = (f"{key} {value:g}" for key, value in row.items() if key != "budget")
        click.echo(f"{label:>7}  {'  '.join(values)}")


@evaluate.command("answers")
@collection_option
@click.option(
    "--questions",
    type=FILE,
    required=True,
    help='JSON Lines with {"id", "text", "doc", "answers": [{"text", "start"}]}.',
)
@options_of(SearchQuestion, "mode", "budget")
@click.option(
    "--without-source", is_flag=True, help="Exclude the paper that answers, to measure how often the answer abstains."
)
@click.option("--every", type=click.IntRange(min=1), default=1, show_default=True, help="Ask every n-th question only.")
@json_option
def answers(
    collection: str | None,
    questions: Path,
    mode: str,
    budget: str | int | None,
    without_source: bool,
    every: int,
    as_json: bool,
) -> None:
    """Ask questions whose answering text is known; measure how often it is quoted, in how many words, and how fast.

    A quote counts if it covers half of the gold span, or if eight tenths of the quote are inside the span. Questions
    without `answers` have no answer in the collection.
    """
    from monjyu_query.evaluation import answer_quality as measure
    from monjyu_query.evaluation.gold_answers import read_gold

    wanted = read_gold(questions)[::every]
    searcher = collection_searcher(collection, leaves_traces=False)
    searcher.prepare()
    asked = measure.run(searcher, wanted, mode, budget, without_source=without_source)
    with click.progressbar(asked, len(wanted), "answers", file=sys.stderr) as waiting:
        found = measure.summary(list(waiting))
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        if name != "intervals":
            low, high = found["intervals"].get(name, ("", ""))
            click.echo(f"{name:18} {'-' if value is None else value}" + (f"  [{low}, {high}]" if low != "" else ""))


@evaluate.command("questions")
@collection_option
@click.option("-o", "--out", type=NEW_FILE, required=True, help="Write the questions here (JSONL).")
@click.option("--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Only this type (repeatable).")
@click.option("--count", type=click.IntRange(1, 10_000), default=40, show_default=True, help="Maximum number per type.")
@click.option("--seed", type=int, default=0, show_default=True, help="Random seed of the questions.")
@json_option
def questions(collection: str | None, out: Path, kinds: tuple[Kind, ...], count: int, seed: int, as_json: bool) -> None:
    """Generate questions with gold sentences from a collection's sentences, graph and citations (level 1)."""
    from collections import Counter

    from monjyu_core.storage.snapshot import reading
    from monjyu_query.asking.which_collection import require_collection
    from monjyu_query.evaluation.question_generation import generate
    from monjyu_query.evaluation.question_structure import Structure
    from monjyu_query.evaluation.retrieval_quality import write_lines

    with reading(require_collection(*chosen(collection))) as snapshot:
        made = generate(Structure.of(snapshot), kinds or KINDS, count, seed)
    write_lines(out, [json.dumps(question, ensure_ascii=False) for question in made])
    counts = Counter(question["kind"] for question in made)
    told = {"questions": len(made), "kinds": dict(counts)}
    show(told, as_json, lambda: "\n".join(f"{counts[kind]:5} {kind}" for kind in kinds or KINDS))


@evaluate.command("replay")
@click.argument("trace_id")
@json_option
def replay(trace_id: str, as_json: bool) -> None:
    """Ask the question of a trace again, with its settings, and show what differs."""
    from dataclasses import asdict

    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.evaluation.answer_quality import replay as again

    found = again(DataFolder.default(), trace_id)
    text = f"Differences: {', '.join(found.differs)}." if found.differs else "No differences."
    show(asdict(found), as_json, lambda: text)


def _numbers(text: str) -> list[int]:
    try:
        wanted = sorted({int(number) for number in text.split(",")})
    except ValueError:
        wanted = [-1]
    if wanted[0] < 0:
        raise click.BadParameter("expected numbers of 0 or more, separated by commas", param_hint="--budgets")
    return wanted
