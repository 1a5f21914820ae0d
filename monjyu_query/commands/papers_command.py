"""`monjyu papers` and `monjyu graph`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from monjyu_core.records.corrected_values import FIELDS
from monjyu_query.asking.request import Filters, make_filters
from monjyu_query.commands.options import (
    CITATIONS,
    FormChoice,
    chosen,
    collection_option,
    given,
    json_option,
    options_of,
    print_json,
    printable,
    show,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from monjyu_core.storage.snapshot import Snapshot
    from monjyu_query.citations.graph_export import Kind


@click.group()
def papers() -> None:
    """List the papers of a collection, or show one."""


@papers.command("list")
@collection_option
@options_of(Filters, without=("section_types",))
@json_option
def papers_list(collection: str | None, as_json: bool, **filters: object) -> None:
    """List every paper: id, title, authors, year, passages; tab-separated in a pipe."""
    from monjyu_query.papers.records import list_papers
    from monjyu_query.ranking.filters import passing_papers

    wanted = make_filters(given(Filters, filters))
    with open_chosen(collection) as snapshot:
        found = list_papers(snapshot)
        if not wanted.empty:
            passing = set(passing_papers(snapshot.cursor(), wanted))
            found = [paper for paper in found if paper["paper_id"] in passing]
    from monjyu_query.answers.render import print_papers

    show(found, as_json, lambda: print_papers(found))


@papers.command("missing")
@collection_option
@click.option(
    "--min-count",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    metavar="N",
    help="Minimum number of citing papers.",
)
@click.option(
    "--most", type=click.IntRange(1, 1000), default=100, show_default=True, metavar="N", help="Maximum number of works."
)
@click.option("--export", "form", type=FormChoice(CITATIONS), help="Write a file for a reference manager.")
@json_option
def papers_missing(collection: str | None, min_count: int, most: int, form: str | None, as_json: bool) -> None:
    """List works that the collection's papers cite but the collection lacks, most cited first."""
    from monjyu_query.citations.export import FORMS
    from monjyu_query.citations.missing_works import missing_line, missing_works

    with open_chosen(collection) as snapshot:
        found = missing_works(snapshot, min_count, most)
    if form is not None:
        click.echo(FORMS[form].write([work.entry for work in found]).decode())
        return
    text = "\n".join(map(missing_line, found)) or "No missing work is cited that often."
    show([work.model_dump(mode="json") for work in found], as_json, lambda: text)


@papers.command("tags")
@collection_option
@json_option
def papers_tags(collection: str | None, as_json: bool) -> None:
    """List tags and shelves (collections, groups) of imported libraries with their number of papers."""
    from monjyu_query.citations.view import labels_in

    with open_chosen(collection) as snapshot:
        labels = labels_in(snapshot.cursor())
    kinds = {"tag": labels["tags"], "shelf": labels["shelves"]}
    lines = [f"{kind}\t{one['name']}\t{one['papers']}" for kind, found in kinds.items() for one in found]
    text = "\n".join(lines) or "No paper has a tag or shelf: `monjyu import` imports them."
    show(labels, as_json, lambda: text)


@papers.command("show")
@click.argument("paper_id")
@collection_option
@json_option
def papers_show(paper_id: str, collection: str | None, as_json: bool) -> None:
    """Show a paper as it was parsed, with its sections and references."""
    from monjyu_query.papers.records import show_paper

    with open_chosen(collection) as snapshot:
        paper = show_paper(snapshot, printable(paper_id))
    from monjyu_query.answers.render import print_paper

    show(paper, as_json, lambda: print_paper(paper))


@papers.command("correct")
@click.argument("paper_id")
@collection_option
@click.option("--title")
@click.option("--author", "authors", multiple=True, help="A name (repeatable): all authors, in order.")
@click.option("--date", "publication_date", help="2021, 2021-03 or 2021-03-05.")
@click.option("--venue")
@click.option("--doi")
@click.option("--abstract")
@click.option("--language", help="Two-letter code: en, ja.")
@click.option("--undo", multiple=True, type=click.Choice(FIELDS), help="Remove the correction of this field.")
@click.option("--note", default="", help="Reason, for later readers.")
@json_option
def papers_correct(
    paper_id: str, collection: str | None, undo: tuple[str, ...], note: str, as_json: bool, **given: object
) -> None:
    """Correct fields of a paper, or list its corrections; an empty text means that the paper has no such value.

    The next `monjyu index` applies the corrections and processes only this paper again; later runs keep them.
    """
    from monjyu_core.records.corrections import CORRECTIONS, CorrectedPaper, correct
    from monjyu_core.settings.settings import load_settings
    from monjyu_query.asking.which_collection import no_paper
    from monjyu_query.papers.records import identify_paper

    with open_chosen(collection) as snapshot:
        folder = snapshot.collection
        seen = identify_paper(snapshot.cursor(), paper_id)
        if seen is None:
            raise no_paper(snapshot.cursor(), paper_id)
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
    wanted = {name: value for name, value in values.items() if value not in (None, [])} | dict.fromkeys(undo)
    for field in FIELDS:
        if field in wanted:
            correct(folder, load_settings(), paper_id, field, wanted[field], seen=seen, by="local", note=note)
    kept = CORRECTIONS.read(folder).papers.get(paper_id, CorrectedPaper()).fields
    lines = [f"{name}: {_shown(one.value)}  ({one.at}, {one.by})" for name, one in sorted(kept.items())]
    hint = [f"`monjyu index -c {folder.name}` applies the corrections."] if wanted else []
    corrected = {str(name): one.model_dump() for name, one in sorted(kept.items())}
    show(corrected, as_json, lambda: "\n".join([*lines, *hint]) or "The paper has no corrections.")


def _shown(value: str | list[str]) -> str:
    return "; ".join(value) if isinstance(value, list) else value or "none"


def open_chosen(collection: str | None) -> AbstractContextManager[Snapshot]:
    """Open the published snapshot of the named collection, or of the only one, for the block."""
    from monjyu_core.storage.snapshot import reading

    data, name = chosen(collection)
    return reading(data.collection(name))


# `monjyu graph`.
@click.group()
def graph() -> None:
    """Export the graph of a collection for other programs."""


@graph.command("export")
@collection_option
@click.option("--format", "form", type=click.Choice(["graphml", "parquet"]), required=True)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="File to write; a folder for parquet."
)
@click.option(
    "--graph",
    "kind",
    type=click.Choice(["phrases", "entities"]),
    help="The noun graph (level 1) or the entity graph (level 2, the default if the collection has it).",
)
@json_option
def export(collection: str | None, form: str, output: Path, kind: Kind | None, as_json: bool) -> None:
    """Write the graph as GraphML, or as Parquet with the tables and columns of microsoft/graphrag."""
    with open_chosen(collection) as snapshot:
        chosen, rows = _written(snapshot, form, output, kind)
        about = {"collection": snapshot.collection.name, "snapshot_id": snapshot.id, "format": form, "graph": chosen}
    if as_json:
        print_json(about | {"output": str(output), "rows": rows})
        return
    click.echo(f"Written to {output}: " + ", ".join(f"{count:,} {table}" for table, count in rows.items()), err=True)


def _written(snapshot: Snapshot, form: str, output: Path, kind: Kind | None) -> tuple[Kind, dict[str, int]]:
    if form == "graphml":
        from monjyu_query.citations.graph_export import write_graphml

        return write_graphml(snapshot, output, kind)
    from monjyu_query.citations.parquet_export import write_tables

    return write_tables(snapshot, output, kind)
