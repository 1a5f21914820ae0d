"""`monjyu check-citations`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from monjyu_query.commands.options import collection_option, collection_searcher, json_option, print_json, printable

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
MOST_BIB_BYTES = 20 << 20


@click.command("check-citations")
@click.argument("draft", type=_FILE)
@collection_option
@click.option("--bib", type=_FILE, metavar="FILE", help="Bibliography of the draft's keys: .bib or CSL JSON.")
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

    DRAFT is a Markdown, LaTeX, Word (.docx) or text file. Nothing that it names is opened; pass a .bib file with
    --bib. Without a model (roles.verify) there are no verdicts: it shows the nearest passages, and what occurs
    nowhere in the paper.
    """
    from monjyu_core.errors import QueryError
    from monjyu_core.user_files.bounded_reading import read_bytes
    from monjyu_query.drafts.check import check_citations
    from monjyu_query.drafts.checked import as_text
    from monjyu_query.drafts.read_draft import FORMATS
    from monjyu_query.drafts.word_xml import MOST_BYTES

    kind = FORMATS.get(draft.suffix.casefold())
    if kind is None:
        raise QueryError(f"{draft.name} is not a readable draft.", f"Known: {', '.join(FORMATS)}.")
    content = read_bytes(draft, MOST_BYTES)
    works = printable(read_bytes(bib, MOST_BIB_BYTES).decode("utf-8-sig", "replace")) if bib else ""
    checked = check_citations(collection_searcher(collection), content, kind, works)
    if as_json:
        print_json(checked.model_dump(mode="json"))
    else:
        click.echo(as_text(checked))
    if strict and checked.faults:
        sys.exit(1)
