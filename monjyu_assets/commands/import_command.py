"""Commands `import zotero|bibtex`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from monjyu_assets.commands.index_command import deletes_option
from monjyu_assets.commands.index_output import collection_option, describe, json_option, progress_bar, tell
from monjyu_core.errors import counted
from monjyu_core.text.unicode_words import escaped_in_json

if TYPE_CHECKING:
    from monjyu_assets.libraries.library_folder import Synced
    from monjyu_assets.libraries.syncing import Kind

level_option = click.option("-l", "--level", type=click.IntRange(0, 4), help="Level to build.")


@click.group("import")
def import_group() -> None:
    """Import a reference manager's library with its tags.

    The library is only read. Run the same command again to follow its changes.
    """


@import_group.command()
@click.argument("path", type=click.Path(path_type=Path))
@collection_option
@level_option
@deletes_option
@json_option
def zotero(path: Path, collection: str, level: int | None, allow_deletes: bool, as_json: bool) -> None:
    """PATH: Zotero's data folder (with zotero.sqlite), or a library exported as RDF, Better BibTeX JSON, CSL JSON or
    BibTeX, with its files next to it.
    """
    _import("zotero", path, collection, level, allow_deletes, as_json)


@import_group.command()
@click.argument("path", type=click.Path(path_type=Path))
@collection_option
@level_option
@deletes_option
@json_option
def bibtex(path: Path, collection: str, level: int | None, allow_deletes: bool, as_json: bool) -> None:
    """PATH: a .bib file.

    Files that it names are read if they are in its folder; other works become papers of title and abstract.
    """
    _import("bibtex", path, collection, level, allow_deletes, as_json)


def _import(kind: Kind, path: Path, collection: str, level: int | None, allow_deletes: bool, as_json: bool) -> None:
    from monjyu_assets.indexing.requests import import_library
    from monjyu_core.storage.folders import DataFolder

    with progress_bar() as progress:
        data = DataFolder.default()
        library, index = import_library(
            data, kind, path, collection, level=level, allow_deletes=allow_deletes, progress=progress, say=tell
        )
    if as_json:
        parts = {"library": library.model_dump(), "index": index.model_dump(mode="json")}
        click.echo(escaped_in_json(json.dumps({"collection": collection, **parts}, ensure_ascii=False)))
    else:
        click.echo(f"{_described(library)}\n{describe(index)}")
    sys.exit(1 if index.failures else 0)


def _described(done: Synced) -> str:
    works = done.added + done.updated + done.unchanged
    changes = f"{done.added} added, {done.updated} changed, {done.removed} removed"
    unreadable = (
        f"; {counted(done.unreadable, 'entry', 'entries')} without a title or unreadable" if done.unreadable else ""
    )
    return f"Library: {counted(works, 'work')}, {done.with_file} with a file; {changes}{unreadable}."
