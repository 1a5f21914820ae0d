"""`monjyu search`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from monjyu_core.errors import QueryError
from monjyu_query.commands.options import CONTROLLERS, MODES, json_option, print_json, read_json_file
from monjyu_query.commands.products.vector_command import print_nearest
from monjyu_query.commands.searching import interrupt

PLAIN = ("vector", "keyword", "hybrid")
"""Modes that are over before one could interrupt them."""


@click.command()
@click.argument("query", required=False)
@click.option(
    *("-c", "-i", "--collection"),
    metavar="NAME",
    help="The collection; may be left out where the data folder holds one.",
)
@click.option(
    "--vector",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="In place of QUERY: the passages nearest to a vector, a JSON list of numbers; - is stdin.",
)
@click.option(
    "-m", "--mode", type=click.Choice(MODES), default="auto", show_default=True, help="How passages are found."
)
@click.option("--modes", metavar="M,M", help="What mode multi joins, as hybrid,global.")
@click.option("-k", "--top-k", type=int, metavar="K", help="How many passages, 1 to 1000.")
@click.option("--controller", type=click.Choice(CONTROLLERS), default="unified", help="How modes are chosen.")
@click.option("--budget", metavar="B", help="Relevance tests of mode lazy: z100, z500, z1500 or a number.")
@click.option("--alpha", type=float, metavar="A", help="Weight of the vectors in hybrid, 0 to 1.")
@click.option("--min-score", type=float, metavar="X", help="Lowest score of a passage, on the mode's scale.")
@click.option("--expand", type=int, metavar="N", help="How many related terms to add (not lazy).")
@click.option(
    "--rerank/--no-rerank",
    default=None,
    help="Let the reader, or roles.rerank, order the best passages.",
)
@click.option(
    "--response-type",
    metavar="FORM",
    help="short, paragraphs, list, table or report; where a model answers, any words.",
)
@click.option(
    "--model", "models", multiple=True, metavar="ROLE=NAME", help="Another model, as answer=large (repeatable)."
)
@click.option("--system-prompt", metavar="TEXT", help="Goes before the prompt of the model that answers.")
@click.option("--max-level", type=int, metavar="N", help="Mode lazy: use nothing of levels above this.")
@click.option("--max-calls", type=int, metavar="N", help="Mode lazy: most calls of models.")
@click.option("--max-cost-usd", type=float, metavar="X", help="Mode lazy: most that models may cost.")
@click.option("--patience", type=int, metavar="N", help="Mode lazy: barren communities in a row before it goes down.")
@click.option(
    "--sufficiency", metavar="S", help="Mode lazy: what is enough: count, model, off or a number of sentences."
)
@click.option("--subqueries", type=int, metavar="N", help="Mode lazy: most subqueries, the question included.")
@click.option("--threshold", type=float, metavar="X", help="Mode lazy: score (0 to 10) of a relevant sentence.")
@click.option("--reasons", is_flag=True, help="Mode lazy: say why each sentence was judged relevant.")
@click.option("--year-from", type=int, metavar="YEAR", help="Only papers of this year or later.")
@click.option("--year-to", type=int, metavar="YEAR", help="Only papers of this year or earlier.")
@click.option("--author", "authors", multiple=True, metavar="NAME", help="Only papers by this author (repeatable).")
@click.option("--section-type", "section_types", multiple=True, metavar="TYPE", help="Only such sections (repeatable).")
@click.option("--paper", "paper_ids", multiple=True, metavar="PAPER_ID", help="Only this paper (repeatable).")
@click.option("--language", "languages", multiple=True, metavar="CODE", help="Only papers in it, as en (repeatable).")
@click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="Only papers with this tag of a library (repeatable)."
)
@click.option(
    "--shelf", "shelves", multiple=True, metavar="PATH", help="Only those of a library's collection (repeatable)."
)
@click.option(
    "--academic/--not-academic", default=None, help="Only what was judged an academic paper, or only the other files."
)
@click.option(
    "--history",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="The conversation before: a JSON list of {role, content}; - is stdin.",
)
@click.option(
    "--context",
    type=int,
    metavar="TOKENS",
    help="The passages as one text for a model of your own, of so many tokens at most; nothing else without --json.",
)
@click.option("--explain", is_flag=True, help="Say why each passage was found, and how a lazy search went.")
@click.option("--no-answer", is_flag=True, help="Passages only.")
@click.option("-s", "--stream", is_flag=True, help="As it happens: with --json one event a line, the result last.")
@json_option
def search(
    query: str | None,
    collection: str | None,
    vector: Path | None,
    history: Path | None,
    explain: bool,
    no_answer: bool,
    stream: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Ask a collection a question.

    The scale of --min-score is cosine similarity (-1 to 1) with mode vector, BM25 (0 and up) with keyword, standard
    deviations above the mean passage with hybrid, and 0 to 10 with lazy and global. Modes local and multi and the
    controllers progressive and hybrid join ranks and refuse it.
    """
    if (query is None) == (vector is None):
        raise click.UsageError("Ask a QUERY, or name a file with --vector.")
    if vector is not None:
        beside = {"history": history, "explain": explain, "stream": stream}
        print_nearest(vector, collection, _request_values(options) | beside, as_json)
        return
    from monjyu_core.storage.folders import DataFolder
    from monjyu_core.storage.state_store import StateStore
    from monjyu_query.search.events import last_events
    from monjyu_query.search.request import make_request
    from monjyu_query.search.which_collection import chosen_collection
    from monjyu_query.traces.traces import TraceLog

    data = DataFolder.default()
    name = chosen_collection(data, collection)
    values = _request_values(options) | ({"history": read_history(history)} if history else {})
    text_only = options["context"] is not None and not as_json
    request = make_request(query=query, collection=name, answer=not (no_answer or text_only), **values)

    from monjyu_query.search.searcher import Searcher

    listener = (print_json if as_json else _print_event) if stream else None
    searcher = Searcher(data, name, TraceLog(StateStore(data.state)))
    result = searcher.search(request, listener, None if request.mode in PLAIN else interrupt())
    found = result.model_dump(mode="json")
    if as_json and stream:
        for event in last_events(found):
            print_json(event)
    elif as_json:
        print_json(found)
    elif text_only and result.context is not None:
        from monjyu_query.answers.render import safe_lines

        click.echo(safe_lines(result.context.text))
    else:
        from monjyu_query.answers.render import print_result, safe

        if result.resolved_query:
            click.echo(f"Asked as: {safe(result.resolved_query)}")
        print_result(result)
        if explain:
            from monjyu_query.commands.explained import print_explanation

            print_explanation(result)


def read_history(path: Path) -> list[Any]:
    """The turns in a file, as `POST /search` takes them; QueryError for what is no list of them in JSON."""
    shape = 'It holds a JSON list: [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}].'
    try:
        turns = read_json_file(path)
    except (OSError, ValueError) as error:
        raise QueryError(f"--history {path}: cannot be read as JSON: {error}.", shape) from error
    if isinstance(turns, dict):
        turns = turns.get("history", turns.get("messages"))
    if not isinstance(turns, list):
        raise QueryError(f"--history {path}: holds no list of turns.", shape)
    return turns


def _print_event(event: Mapping[str, Any] | list[Any]) -> None:
    """A sentence of a model's answer as soon as it is written and checked; steps of a lazy search on stderr."""
    from monjyu_query.answers.render import quotable, safe
    from monjyu_query.answers.segments import markdown
    from monjyu_query.search.result import Segment

    if not isinstance(event, dict):
        return
    if event["event"] == "answer":
        click.echo(markdown((Segment.model_validate(one) for one in event["segments"]), quotable).strip())
    elif event["event"] == "subquery":
        click.echo(f"? {safe(event['text'])}", err=True)
    elif event["event"] == "budget":
        click.echo(f"{event['used']} of {event['total']} tests", err=True)


def _role_and_name(given: str) -> tuple[str, str]:
    role, _, name = given.partition("=")
    if not name:
        raise QueryError(f"--model {given}: names no model.", "Write a role and a name, as answer=large.")
    return role, name


def _number_or_word(value: str | None) -> str | int | None:
    return int(value) if value and value.lstrip("-").isdecimal() else value


def _request_values(options: dict[str, Any]) -> dict[str, Any]:
    filters = ["year_from", "year_to", "authors", "section_types", "paper_ids", "languages", "tags", "shelves"]
    filters += ["academic"]
    given = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}
    values = {name: value for name, value in given.items() if name not in filters}
    values |= {name: _number_or_word(options[name]) for name in ("budget", "sufficiency")}
    values["modes"] = options["modes"].split(",") if options["modes"] else None
    values["models"] = dict(_role_and_name(one) for one in options["models"])
    values["system_prompt"] = options["system_prompt"] or ""
    return values | {"filters": {name: given[name] for name in filters}}
