"""`monjyu citations`, `monjyu locate` and `monjyu check-citations`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from monjyu_core.errors import QueryError
from monjyu_core.user_files.bounded_reading import read_bytes
from monjyu_query.commands.options import (
    CITATIONS,
    FILE,
    JSON_FILE,
    FormChoice,
    collection_option,
    collection_searcher,
    json_option,
    output_option,
    print_json,
    printable,
    read_json_file,
    show,
    write_output,
)
from monjyu_query.commands.papers_command import open_chosen

if TYPE_CHECKING:
    from monjyu_core.storage.snapshot import Snapshot
    from monjyu_query.papers.quotes import Place


@click.command()
@click.argument("paper_id", required=False, callback=lambda ctx, param, name: name and printable(name))
@collection_option
@click.option("--depth", type=click.IntRange(1, 10), default=1, show_default=True, help="Number of steps to follow.")
@click.option("--co-cited", is_flag=True, help="Add papers that are cited together with this one.")
@click.option("--coupled", is_flag=True, help="Add papers that cite the same works.")
@click.option(
    "--min-count",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="With --co-cited or --coupled: minimum number of shared papers or works.",
)
@click.option(
    "--export",
    "form",
    type=FormChoice(CITATIONS, "graphml"),
    help="Write the network, or PAPER_ID's references, in this format.",
)
@click.option(
    "--answer",
    type=JSON_FILE,
    metavar="FILE",
    help="With --export: the papers that an answer cites, from `monjyu search --json`; - is stdin.",
)
@output_option
@json_option
def citations(
    paper_id: str | None,
    collection: str | None,
    depth: int,
    co_cited: bool,
    coupled: bool,
    min_count: int,
    form: str | None,
    answer: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Show the papers of the collection that a paper cites, and those that cite it.

    --export graphml writes the whole network; bibtex, ris or csl (JSON) the references of PAPER_ID, the papers that
    an answer cites (--answer), or all papers.
    """
    if answer is not None and (form in (None, "graphml") or paper_id is not None):
        raise click.UsageError("--answer requires --export bibtex, ris or csl, and no paper.")
    if form is None and paper_id is None:
        raise click.UsageError("Name a paper (`monjyu papers list` shows them), or use --export.")
    if output is not None and form is None:
        raise click.UsageError("-o requires --export.")
    with open_chosen(collection) as snapshot:
        if form is not None:
            _write(_exported(snapshot, form, paper_id, answer), output)
            return
        from monjyu_query.citations.view import citations_of

        view = citations_of(snapshot, paper_id or "", depth, min_count)
    from monjyu_query.citations.missing_works import print_citations

    show(view, as_json, lambda: print_citations(view, co_cited=co_cited, coupled=coupled))


def _exported(snapshot: Snapshot, form: str, paper_id: str | None, answer: Path | None) -> str:
    from monjyu_query.citations.export import FORMS, entries, entries_of, graphml

    if form == "graphml":
        return graphml(snapshot)
    found = entries(snapshot, paper_id) if answer is None else entries_of(snapshot, _cited_in(answer))
    return FORMS[form].write(found).decode()


def _cited_in(answer: Path) -> list[str]:
    try:
        return [str(one["paper_id"]) for one in read_json_file(answer)["citations"]]
    except (OSError, ValueError, KeyError, TypeError):
        raise click.UsageError(f"{answer} is not a search result: `monjyu search … --json` prints one.") from None


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text)
    else:
        write_output(output, text.encode())
        click.echo(f"Written to {output}.", err=True)


# `monjyu locate`.
@click.command()
@click.argument("quote")
@collection_option
@click.option("--most", type=click.IntRange(1, 50), default=5, show_default=True, help="Maximum number of matches.")
@json_option
def locate(quote: str, collection: str | None, most: int, as_json: bool) -> None:
    """Find the paper, page and place of a pasted quote.

    QUOTE is the text, or - for stdin. Line ends, hyphens, spaces, punctuation and some words may differ. Exit code
    1 if there is no match.
    """
    from monjyu_query.papers.quotes import locate

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


# `monjyu check-citations`.
MOST_BIB_BYTES = 20 << 20


@click.command("check-citations")
@click.argument("draft", type=FILE)
@collection_option
@click.option("--bib", type=FILE, metavar="FILE", help="Bibliography of the draft's keys: .bib or CSL JSON.")
@click.option(
    "--strict",
    is_flag=True,
    help=(
        "Exit with 1 if a paper lacks a figure, name or quote of its claim, or if the model does not find the "
        "claim supported."
    ),
)
@json_option
def check_citations(draft: Path, collection: str | None, bib: Path | None, strict: bool, as_json: bool) -> None:
    """Check the citations of a draft against the cited papers.

    DRAFT is a Markdown, LaTeX, Word (.docx) or text file. No file that it names is opened; pass a .bib file with --bib.
    Without a model (roles.verify) there are no verdicts: the command shows the nearest passages, and the names and
    figures that do not occur in the paper.
    """
    from monjyu_query.drafts.check import check_citations
    from monjyu_query.drafts.checked import as_text
    from monjyu_query.drafts.read_draft import FORMATS
    from monjyu_query.drafts.word_xml import MOST_BYTES

    kind = FORMATS.get(draft.suffix.casefold())
    if kind is None:
        raise QueryError(f"{draft.name} is not a draft of a known type.", f"Known types: {', '.join(FORMATS)}.")
    content = read_bytes(draft, MOST_BYTES)
    works = printable(read_bytes(bib, MOST_BIB_BYTES).decode("utf-8-sig", "replace")) if bib else ""
    checked = check_citations(collection_searcher(collection), content, kind, works)
    show(checked, as_json, lambda: as_text(checked))
    if strict and checked.faults:
        sys.exit(1)
