"""`monjyu locate`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from monjyu_query.commands.options import collection_option, collection_searcher, json_option, print_json, printable

if TYPE_CHECKING:
    from monjyu_query.quotes.locate import Place


@click.command()
@click.argument("quote")
@collection_option
@click.option("--most", type=click.IntRange(1, 50), default=5, show_default=True, help="Limit of places.")
@json_option
def locate(quote: str, collection: str | None, most: int, as_json: bool) -> None:
    """Find the paper, page and place of a pasted quote.

    QUOTE is the text, or - for stdin. Line ends, hyphens, spaces, punctuation and some words may differ. Exit code
    1 if there is no match.
    """
    from monjyu_query.quotes.locate import locate

    text = sys.stdin.read() if quote == "-" else quote
    found = locate(collection_searcher(collection).current(), printable(text), most)
    if as_json:
        print_json(found.model_dump(mode="json"))
    for place in () if as_json else found.places:
        click.echo(_shown(place))
    if not found.places:
        click.echo("Nothing in the collection matches this quote.", err=True)
        sys.exit(1)


def _shown(place: Place) -> str:
    where = f", page {place.page}" if place.page else ""
    how = "" if place.score == 1 else f" ({place.score:.0%} alike)"
    return f"{place.paper_title or place.paper_id}{where}{how}\n  {' '.join(place.text.split())}\n  {place.paper_id}\n"
