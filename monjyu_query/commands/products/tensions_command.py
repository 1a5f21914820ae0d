"""`monjyu tensions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from monjyu_core.wording import counted
from monjyu_query.commands.options import collection_option, collection_searcher, json_option, print_json, printable

if TYPE_CHECKING:
    from monjyu_query.asking.result import Citation
    from monjyu_query.tensions.tension_list import Tension, TensionSide


@click.command()
@collection_option
@click.option("--concept", metavar="WORDS", help="Only statements that contain all of these words.")
@click.option("--most", type=click.IntRange(1, 200), default=50, show_default=True, help="Limit of pairs.")
@json_option
def tensions(collection: str | None, concept: str | None, most: int, as_json: bool) -> None:
    """Show contradictions between papers, with both sides quoted.

    The model of roles.verify judges the most similar pairs of statements; without a model none are shown. Read both
    quotes before you call it a contradiction.
    """
    asked = None if concept is None else printable(concept)
    found = collection_searcher(collection).tensions(asked, most)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    quotes = {one.n: one for one in found.citations}
    for tension in found.tensions:
        click.echo("\n".join(_shown(tension, quotes)))
    if found.built and not found.tensions:
        about = f" about {concept}" if concept else ""
        click.echo(
            f"{counted(found.read, 'pair')} of statements{about} were read; none is called contradictory.", err=True
        )
    for warning in found.warnings:
        click.echo(warning, err=True)


def _shown(tension: Tension, quotes: dict[int, Citation]) -> list[str]:
    from monjyu_query.answers.render import safe

    head = f"{safe(tension.concept)}: {safe(tension.reason)}" if tension.reason else safe(tension.concept)
    return [head, *_side(tension.first, quotes), *_side(tension.second, quotes), ""]


def _side(side: TensionSide, quotes: dict[int, Citation]) -> list[str]:
    from monjyu_query.answers.render import safe

    citation = quotes[side.citation]
    where = f", page {citation.page}" if citation.page else ""
    year = f" ({side.year})" if side.year else ""
    quote, paper = safe(" ".join(citation.quote.split())), safe(side.paper_title or side.paper_id)
    return [f"  “{quote}”", f"    {paper}{year}{where}"]
