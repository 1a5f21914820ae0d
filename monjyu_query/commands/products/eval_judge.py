"""`monjyu eval judge`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from monjyu_query.asking.request import SearchQuestion
from monjyu_query.commands.options import collection_option, json_option, options_of, print_json

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False, readable=True)


@click.command("judge")
@collection_option
@click.option("--questions", type=_FILE, required=True, help='JSON Lines with {"id", "text"}.')
@options_of(SearchQuestion, "budget")
@options_of(SearchQuestion, "mode", default="lazy", help="Mode to judge.")
@click.option("--baseline", default="hybrid", show_default=True, help="The mode that it is compared with.")
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
    from monjyu_query.commands.searching import collection_searcher
    from monjyu_query.evaluation.judged_answers import AnswerJudge, compare_modes, summary
    from monjyu_query.evaluation.retrieval_quality import read_queries

    wanted = list(read_queries(questions).values())[::every]
    searcher = collection_searcher(collection).untraced()
    model = AnswerJudge(searcher).model
    pairs = compare_modes(searcher, wanted, mode, baseline, budget)
    with click.progressbar(pairs, len(wanted), "pairs", file=sys.stderr) as waiting:
        judged = list(waiting)
    found = {"mode": mode, "budget": budget, "baseline": baseline, "judge": model} | summary(judged)
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
