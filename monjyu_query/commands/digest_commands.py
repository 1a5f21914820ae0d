"""`monjyu summarize`, `monjyu compare`, `monjyu survey`, `monjyu table` and `monjyu tensions`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from monjyu_core.errors import QueryError, counted
from monjyu_query.asking.request import Filters, SearchQuestion, make_filters, make_request
from monjyu_query.commands.options import (
    QuestionCommand,
    collection_option,
    collection_searcher,
    format_option,
    given,
    interrupt,
    json_option,
    options_of,
    output_option,
    print_json,
    printable,
    show,
    show_progress,
    write_output,
)

if TYPE_CHECKING:
    from monjyu_query.asking.result import Citation
    from monjyu_query.digests.result import Digest
    from monjyu_query.questions.tension_list import Tension, TensionSide


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

    searcher = collection_searcher(collection)
    _print(summarize(searcher, printable(paper), printable(focus), length, printable(section)), as_json)


@click.command()
@click.argument("papers", metavar="PAPER_ID PAPER_ID...", nargs=-1, required=True)
@collection_option
@click.option("--aspect", "aspects", multiple=True, metavar="A", help="Aspect to compare, in words (repeatable).")
@json_option
def compare(papers: tuple[str, ...], collection: str | None, aspects: tuple[str, ...], as_json: bool) -> None:
    """Compare papers aspect by aspect, in their own, cited sentences.

    Name two to six papers, each by its id (`monjyu papers list`), DOI, words of its title, or first author and year.
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
    from monjyu_query.digests.survey import survey

    searcher = collection_searcher(collection)
    request = make_request(query=topic, collection=searcher.collection, filters=given(Filters, filters))
    _print(survey(searcher, request.query, papers, budget, request.filters)[0], as_json)


def _print(digest: Digest, as_json: bool) -> None:
    from monjyu_query.digests.printing import print_digest

    show(digest, as_json, lambda: print_digest(digest))


# `monjyu table`.
@click.command(cls=QuestionCommand)
@collection_option
@click.option("--columns", multiple=True, metavar="A,B,…", help="Attributes to ask of each paper, in words.")
@click.option("--paper", "papers", multiple=True, metavar="PAPER", help="Only this paper (repeatable).")
@click.option("--about", default="", metavar="TOPIC", help="Only the papers that say most about this topic.")
@click.option("--papers", "most", type=int, metavar="N", help="Maximum number of papers, 1 to 200.  [default: 50]")
@options_of(Filters, without=("paper_ids", "section_types"))
@format_option("monjyu_query.digests.table_export", "table", "table")
@output_option
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
    from monjyu_query.digests.study_table import study_table
    from monjyu_query.digests.table_export import FORMS

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
        emit=lambda event: show_progress(event["done"], event["total"]),
        cancel=interrupt(),
    )
    _give(digest, form, output)


def _give(digest: Digest, form: str, output: Path | None) -> None:
    from monjyu_query.digests.table_export import FORMS

    if output is None and form in ("table", "json"):
        _print(digest, form == "json")
        return
    content = FORMS["markdown" if form == "table" else form].write(digest)
    if output is None:
        click.echo(content.decode().rstrip("\n"))
        return
    write_output(output, content)
    click.echo(f"{len(digest.papers)} papers: {output}")


# `monjyu tensions`.
@click.command()
@collection_option
@click.option("--concept", metavar="WORDS", help="Only statements that contain all of these words.")
@click.option("--most", type=click.IntRange(1, 200), default=50, show_default=True, help="Maximum number of pairs.")
@json_option
def tensions(collection: str | None, concept: str | None, most: int, as_json: bool) -> None:
    """Show contradictions between papers, with both sides quoted.

    The model of roles.verify judges the most similar pairs of statements; read both quotes yourself. If none is found,
    or without a model, --concept shows what each paper says for comparison.
    """
    from monjyu_query.questions.tension_list import heading

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
        click.echo(f"{counted(found.read, 'pair')} of statements{about} read; none was judged contradictory.", err=True)
    if found.said:
        click.echo("\n".join([heading(found), *(line for side in found.said for line in _side(side, quotes))]))
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
