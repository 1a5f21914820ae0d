"""`monjyu graph`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from monjyu_query.commands.options import collection_option, json_option, print_json
from monjyu_query.commands.papers_command import open_chosen

if TYPE_CHECKING:
    from monjyu_core.storage.snapshot import Snapshot
    from monjyu_query.graph_export.exported_graph import Kind


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
        from monjyu_query.graph_export.graphml import write_graphml

        return write_graphml(snapshot, output, kind)
    from monjyu_query.graph_export.parquet_tables import write_tables

    return write_tables(snapshot, output, kind)
