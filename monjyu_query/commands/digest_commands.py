"""`monjyu summarize`, `monjyu compare` and `monjyu survey`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from monjyu_query.asking.request import Filters, SearchQuestion
from monjyu_query.commands.options import (
    QuestionCommand,
    collection_option,
    given,
    json_option,
    options_of,
    print_json,
)
from monjyu_query.commands.searching import collection_searcher, printable

if TYPE_CHECKING:
    from monjyu_query.digests.digest_result import Digest


@click.command()
@click.argument("paper", metavar="PAPER_ID")
@collection_option
@click.option("--focus", default="", metavar="QUESTION", help="A question to answer from the paper first.")
@click.option(
    "--length",
    type=click.Choice(("short", "medium", "long")),
    default="medium",
    show_default=True,
    help="Length of the summary.",
)
@click.option("--section", default="", metavar="S", help="Only this section: its number, type or words of its heading.")
@json_option
def summarize(paper: str, collection: str | None, focus: str, length: str, section: str, as_json: bool) -> None:
    """Summarize a paper in its own, cited sentences.

    PAPER_ID is an id (`monjyu papers list`), a DOI, words of its title, or its first author and year.
    """
    from monjyu_query.digests.summary import summarize

    _print(
        summarize(collection_searcher(collection), printable(paper), printable(focus), length, printable(section)),
        as_json,
    )


@click.command()
@click.argument("papers", metavar="PAPER_ID PAPER_ID...", nargs=-1, required=True)
@collection_option
@click.option("--aspect", "aspects", multiple=True, metavar="A", help="Aspect to compare, in words (repeatable).")
@json_option
def compare(papers: tuple[str, ...], collection: str | None, aspects: tuple[str, ...], as_json: bool) -> None:
    """Compare papers aspect by aspect, in their own, cited sentences.

    Two to six, each named by its id (`monjyu papers list`), its DOI, words of its title, or its first author and year.
    """
    from monjyu_query.digests.comparison import compare

    _print(compare(collection_searcher(collection), [*map(printable, papers)], [*map(printable, aspects)]), as_json)


@click.command(cls=QuestionCommand)
@click.argument("topic")
@collection_option
@click.option("--papers", type=int, default=10, show_default=True, metavar="N", help="Number of papers, 1 to 30.")
@options_of(
    SearchQuestion,
    "budget",
    help="Find the papers by lazy search with this number of relevance tests: z100, z500, z1500 or a number.",
)
@options_of(Filters)
@json_option
def survey(topic: str, collection: str | None, papers: int, budget: Any, as_json: bool, **filters: Any) -> None:
    """Survey a topic: what each paper says about it, by theme."""
    from monjyu_query.asking.request import make_request
    from monjyu_query.digests.survey import survey

    searcher = collection_searcher(collection)
    request = make_request(query=topic, collection=searcher.collection, filters=given(Filters, filters))
    _print(survey(searcher, request.query, papers, budget, request.filters), as_json)


def _print(digest: Digest, as_json: bool) -> None:
    if as_json:
        print_json(digest.model_dump(mode="json"))
        return
    from monjyu_query.digests.render_digest import print_digest

    print_digest(digest)
