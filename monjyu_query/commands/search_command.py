"""`monjyu search`, and `monjyu trace`, which shows how a result was found."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from monjyu_core.errors import QueryError
from monjyu_query.asking.request import PASSAGES, Filters, SearchRequest, make_filters, make_request
from monjyu_query.commands.options import (
    JSON_FILE,
    QuestionCommand,
    chosen,
    collection_searcher,
    given,
    interrupt,
    json_option,
    options_of,
    print_json,
    printable,
    read_json_file,
    show,
)


# `monjyu trace`.
@click.group()
def trace() -> None:
    """Show the trace of a search."""


@trace.command("show")
@click.argument("trace_id")
@json_option
def trace_show(trace_id: str, as_json: bool) -> None:
    """Show request, results, time by phase and the steps of a lazy search.

    TRACE_ID is the `trace_id` of a result. Texts are those of the published snapshot.
    """
    from monjyu_core.storage.folders import DataFolder
    from monjyu_core.storage.snapshot import reading
    from monjyu_core.storage.state_store import StateStore
    from monjyu_query.asking.which_collection import require_collection
    from monjyu_query.search.shown_trace import show_trace, trace_lines
    from monjyu_query.search.traces import read_trace

    data = DataFolder.default()
    wanted = printable(trace_id)
    kept = read_trace(StateStore(data.state), wanted)
    with reading(require_collection(data, kept["collection"])) as snapshot:
        shown = show_trace(snapshot, wanted, kept)
    show(shown, as_json, lambda: "\n".join(trace_lines(shown)))


# `monjyu search --vector`: the passages nearest to a vector.
TAKES = ("top_k", "min_score", "filters", "answer")
"""The fields of a question that also apply to a vector."""


def print_nearest(path: Path, collection: str | None, values: Mapping[str, Any], as_json: bool) -> None:
    """Print the passages nearest to a vector. Raises QueryError if the file has no list of numbers or they do not fit
    the collection's model; raises UsageError for other options."""
    given = sorted(name for name, value in values.items() if name not in TAKES and value != "vector")
    if given:
        raise click.UsageError(
            f"--vector can be combined with --top-k, --min-score and filters, not with {', '.join(given)}."
        )
    vector = read_vector(path)
    from monjyu_query.answers.render import print_result
    from monjyu_query.api.vector_search import search_by_vector

    filters = make_filters(values.get("filters", {}))
    top_k, min_score = values.get("top_k"), values.get("min_score")
    found = search_by_vector(collection_searcher(collection), vector, top_k, min_score, filters)
    show(found, as_json, lambda: print_result(found))


def read_vector(path: Path) -> list[float]:
    """Return the numbers in a file, which is a JSON list or an object with the list as `vector`."""
    try:
        told = read_json_file(path)
    except (OSError, ValueError) as error:
        raise QueryError(f"--vector {path}: cannot be read: {error}.") from error
    vector = told.get("vector") if isinstance(told, dict) else told
    if not isinstance(vector, list) or not all(type(one) in (int, float) for one in vector):
        raise QueryError(f"--vector {path} is not a list of numbers.", "`POST /embed` and Monjyu.embed return one.")
    return vector


OTHERWISE = ("query", "collection", "filters", "history", "style")
"""Fields of a question that are passed differently: as arguments, within `--response-type`, or from a file."""


@click.command(cls=QuestionCommand)
@click.argument("query", required=False)
@click.option(
    *("-c", "-i", "--collection"),
    metavar="NAME",
    help="The collection; optional if there is only one.",
)
@click.option(
    "--vector",
    type=JSON_FILE,
    metavar="FILE",
    help="Instead of QUERY: find the passages nearest to a vector, a JSON list of numbers; - is stdin.",
)
@options_of(SearchRequest, without=OTHERWISE)
@options_of(Filters)
@click.option(
    "--history",
    type=JSON_FILE,
    metavar="FILE",
    help="The previous conversation: a JSON list of {role, content}; - is stdin.",
)
@click.option("--explain", is_flag=True, help="Show why each passage was found, and the steps of a lazy search.")
@click.option(
    "-s", "--stream", is_flag=True, help="Stream the answer; with --json one event per line, the result last."
)
@json_option
def search(
    query: str | None,
    collection: str | None,
    vector: Path | None,
    history: Path | None,
    explain: bool,
    stream: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Ask a collection a question."""
    if (query is None) == (vector is None):
        raise click.UsageError("Give either a QUERY or a file with --vector.")
    values = given(SearchRequest, options) | ({"filters": filters} if (filters := given(Filters, options)) else {})
    if vector is not None:
        others = {"history": history, "explain": explain, "stream": stream}
        print_nearest(vector, collection, values | {name: value for name, value in others.items() if value}, as_json)
        return
    from monjyu_query.asking.events import last_events

    _, name = chosen(collection)
    text_only = "context" in values and not as_json
    values |= ({"history": read_history(history)} if history else {}) | ({"answer": False} if text_only else {})
    request = make_request(query=query, collection=name, **values)

    listener = (print_json if as_json else _print_event) if stream else None
    result = collection_searcher(name).search(request, listener, None if request.mode in PASSAGES else interrupt())
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
    """Return the turns in a JSON file: a list, or an object with the list as `history` or `messages`. Raises QueryError
    for any other content."""
    shape = (
        'It must contain a JSON list: [{"role": "user", "content": "..."}, {"role": "assistant", "content": "..."}].'
    )
    try:
        turns = read_json_file(path)
    except (OSError, ValueError) as error:
        raise QueryError(f"--history {path}: cannot be read: {error}.", shape) from error
    if isinstance(turns, dict):
        turns = turns.get("history", turns.get("messages"))
    if not isinstance(turns, list):
        raise QueryError(f"--history {path} is not a list of turns.", shape)
    return turns


def _print_event(event: Mapping[str, Any] | list[Any]) -> None:
    """Print each sentence of a model's answer once it is written and checked; steps of a lazy search go to stderr."""
    from monjyu_query.answers.render import quotable, safe
    from monjyu_query.answers.segments import markdown
    from monjyu_query.asking.result import Segment

    if not isinstance(event, dict):
        return
    if event["event"] == "answer":
        click.echo(markdown((Segment.model_validate(one) for one in event["segments"]), quotable).strip())
    elif event["event"] == "subquery":
        click.echo(f"? {safe(event['text'])}", err=True)
    elif event["event"] == "budget":
        click.echo(f"{event['used']} of {event['total']} tests", err=True)
