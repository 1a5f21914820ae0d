"""`monjyu tensions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from monjyu_query.commands.options import collection_option, json_option, print_json
from monjyu_query.commands.searching import collection_searcher, printable

if TYPE_CHECKING:
    from monjyu_query.search.result import Citation
    from monjyu_query.tensions.tension_list import Tension, Tensions, TensionSide


@click.command()
@collection_option
@click.option("--concept", metavar="WORDS", help="Only those about this; all of its words must be there.")
@click.option("--most", type=click.IntRange(1, 200), default=50, show_default=True, help="Pairs at most.")
@json_option
def tensions(collection: str | None, concept: str | None, most: int, as_json: bool) -> None:
    """Show where papers contradict each other, both sides quoted.

    Opposite directions, statements that deny each other, and numbers of one measure that lie apart; the plainest first.
    They are candidates by rules: read both quotes before you call it a contradiction. They need level 4.
    """
    from monjyu_query.tensions.tension_list import tensions_of

    asked = None if concept is None else printable(concept)
    found = tensions_of(collection_searcher(collection).current(), asked, most)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    quotes = {one.n: one for one in found.citations}
    for tension in found.tensions:
        click.echo("\n".join(_shown(tension, quotes)))
    if not found.tensions:
        click.echo(_none(found, concept), err=True)


def _shown(tension: Tension, quotes: dict[int, Citation]) -> list[str]:
    from monjyu_query.answers.render import safe

    head = f"{safe(tension.concept)} ({tension.kind}, {tension.score:.2f})"
    return [head, *_side(tension.first, quotes), *_side(tension.second, quotes), ""]


def _side(side: TensionSide, quotes: dict[int, Citation]) -> list[str]:
    from monjyu_query.answers.render import safe

    citation = quotes[side.citation]
    where = f", page {citation.page}" if citation.page else ""
    year = f" ({side.year})" if side.year else ""
    quote, paper = safe(" ".join(citation.quote.split())), safe(side.paper_title or side.paper_id)
    return [f"  {safe(side.cue)}: “{quote}”", f"    {paper}{year}{where}"]


def _none(found: Tensions, concept: str | None) -> str:
    if not found.built:
        why = "was built by a version that knew none" if found.level >= 4 else f"is at level {found.level}"
        again = f"index -c {found.collection}" if found.level >= 4 else f"upgrade {found.collection} --level 4"
        return f"The index has no tensions: it {why}. `monjyu {again}` finds them."
    return "No papers were found to contradict each other" + (f" about {concept}." if concept else ".")
