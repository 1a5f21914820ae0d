"""Commands `sources list|add|move|remove`, which manage the locations of a collection's papers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from monjyu_assets.commands.index_command import deletes_option, exclude_option, include_option
from monjyu_assets.commands.index_output import collection_option, json_option, print_result, progress_bar, tell
from monjyu_assets.commands.snapshots_command import read_option
from monjyu_core.text.unicode_words import escaped_in_json, without_controls

if TYPE_CHECKING:
    from monjyu_assets.indexing.requests import ListedSource
    from monjyu_assets.planning.pending import IndexResult


@click.group()
def sources() -> None:
    """List the sources of a collection; add, move or remove one.

    Each change also updates the index. A refused change has no effect.
    """


@sources.command("list")
@read_option
@json_option
def list_sources(collection: str | None, as_json: bool) -> None:
    """List the sources with their number of papers."""
    from monjyu_assets.indexing.index_operations import known_folder
    from monjyu_assets.indexing.requests import list_sources
    from monjyu_core.storage.folders import DataFolder

    name = collection or known_folder(None).name
    found = list_sources(DataFolder.default(), name)
    if as_json:
        rows = [one.model_dump() for one in found]
        click.echo(escaped_in_json(json.dumps({"collection": name, "sources": rows}, ensure_ascii=False)))
    else:
        click.echo(without_controls("\n".join(map(_line, found))))


def _line(source: ListedSource) -> str:
    patterns = [f"--include '{one}'" for one in source.include] + [f"--exclude '{one}'" for one in source.exclude]
    gone = [] if source.readable else ["cannot be read"]
    return "  ".join([source.path, f"{source.papers} papers", *patterns, *gone])


@sources.command("add")
@click.argument("source", type=click.Path(path_type=Path))
@collection_option
@include_option
@exclude_option
@deletes_option
@json_option
def add(
    source: Path,
    collection: str,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    allow_deletes: bool,
    as_json: bool,
) -> None:
    """Add a folder or file, or change the patterns of one, as `monjyu index SOURCE` does."""
    from monjyu_assets.indexing.requests import index_collection
    from monjyu_core.storage.collection import known_record
    from monjyu_core.storage.folders import DataFolder

    data = DataFolder.default()
    known_record(data, collection)
    with progress_bar() as progress:
        done = index_collection(
            data,
            source,
            collection,
            include=include or None,
            exclude=exclude or None,
            allow_deletes=allow_deletes,
            progress=progress,
            say=tell,
        )
    _end(done, as_json)


@sources.command("move")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@collection_option
@deletes_option
@json_option
def move(old: Path, new: Path, collection: str, allow_deletes: bool, as_json: bool) -> None:
    """Record that a source has moved.

    Its papers keep their ids, and nothing is computed again. The files themselves are not changed.
    """
    from monjyu_assets.indexing.requests import move_source
    from monjyu_core.storage.folders import DataFolder

    with progress_bar() as progress:
        data = DataFolder.default()
        done = move_source(data, collection, old, new, allow_deletes=allow_deletes, progress=progress, say=tell)
    _end(done, as_json)


@sources.command("remove")
@click.argument("source", type=click.Path(path_type=Path))
@collection_option
@json_option
def remove(source: Path, collection: str, as_json: bool) -> None:
    """Remove a source and its papers from the index.

    The files themselves are not changed.
    """
    from monjyu_assets.indexing.requests import remove_source
    from monjyu_core.storage.folders import DataFolder

    with progress_bar() as progress:
        done = remove_source(DataFolder.default(), collection, source, progress=progress, say=tell)
    _end(done, as_json)


def _end(done: IndexResult, as_json: bool) -> None:
    print_result(done, as_json)
    sys.exit(1 if done.failures else 0)
