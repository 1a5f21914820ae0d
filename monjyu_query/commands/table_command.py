"""`monjyu table`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from monjyu_core.errors import QueryError
from monjyu_query.asking.request import Filters
from monjyu_query.commands.options import (
    QuestionCommand,
    collection_option,
    format_option,
    given,
    json_option,
    options_of,
    print_json,
    write_output,
)

if TYPE_CHECKING:
    from monjyu_query.digests.digest_result import Digest


@click.command(cls=QuestionCommand)
@collection_option
@click.option("--columns", multiple=True, metavar="A,B,…", help="Attributes to ask of each paper, in words.")
@click.option("--paper", "papers", multiple=True, metavar="PAPER", help="Only this paper (repeatable).")
@click.option("--about", default="", metavar="TOPIC", help="Only the papers that say most about this topic.")
@click.option("--papers", "most", type=int, metavar="N", help="Limit of papers, 1 to 200.  [default: 50]")
@options_of(Filters, without=("paper_ids", "section_types"))
@format_option("monjyu_query.digests.study_table.table_export", "table", "table")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
@click.option("--no-llm", is_flag=True, help="Quotes only, even if roles.answer is a model.")
@json_option
def table(
    collection: str | None,
    columns: tuple[str, ...],
    papers: tuple[str, ...],
    about: str,
    most: int | None,
    form: str,
    output: Path | None,
    no_llm: bool,
    as_json: bool,
    **filters: Any,
) -> None:
    """Compare papers in a table: one row per paper, one column per attribute, each cell with quote and page.

    Without --columns: question, method, sample, measure, result, limitation. A PAPER is an id (`monjyu papers list`),
    a DOI, words of a title, or first author and year.
    """
    from monjyu_query.asking.request import make_filters
    from monjyu_query.commands.searching import collection_searcher, interrupt, printable
    from monjyu_query.digests.study_table.study_table import study_table
    from monjyu_query.digests.study_table.table_export import FORMS

    form = "json" if as_json else form
    if output is None and form in FORMS and not FORMS[form].is_text:
        told = f"{FORMS[form].label} cannot be printed to a terminal."
        raise QueryError(told, f"Name a file: --output table.{FORMS[form].ending}")
    named = [printable(name) for group in columns for name in group.replace("、", ",").split(",")]
    digest = study_table(
        collection_searcher(collection),
        named,
        [*map(printable, papers)],
        about=printable(about),
        filters=make_filters(given(Filters, filters)),
        most=most,
        engine="extractive" if no_llm else None,
        emit=_progress,
        cancel=interrupt(),
    )
    _give(digest, form, output)


def _progress(event: dict[str, Any]) -> None:
    """Of tables that take a while, on a terminal."""
    if sys.stderr.isatty():
        done, total = event["done"], event["total"]
        click.echo(f"\r{done} of {total} papers" + ("\n" if done == total else ""), nl=False, err=True)


def _give(digest: Digest, form: str, output: Path | None) -> None:
    from monjyu_query.digests.study_table.table_export import FORMS

    if form == "table" and output is None:
        from monjyu_query.digests.render_digest import print_digest

        print_digest(digest)
        return
    if form == "json" and output is None:
        print_json(digest.model_dump(mode="json"))
        return
    content = FORMS["markdown" if form == "table" else form].write(digest)
    if output is None:
        click.echo(content.decode().rstrip("\n"))
        return
    write_output(output, content)
    click.echo(f"{len(digest.papers)} papers: {output}")
