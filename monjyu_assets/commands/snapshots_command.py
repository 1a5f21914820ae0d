"""Commands `snapshots`, `collections` and `purge`, with which an operator manages published indexes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from monjyu_assets.commands.index_output import collection_option, confirm, json_option
from monjyu_core.errors import ConfigurationError

if TYPE_CHECKING:
    from monjyu_assets.indexing.index_operations import SnapshotRow


def echo(value: Mapping[str, object], text: str, as_json: bool) -> None:
    click.echo(json.dumps(value, ensure_ascii=False) if as_json else text)


def tell(text: str) -> None:
    if text:
        click.echo(text, err=True)


read_option = click.option("-c", "--collection", metavar="NAME", help="The collection; optional if there is only one.")


@click.group()
def snapshots() -> None:
    """List, compare, verify and roll back published snapshots."""


@snapshots.command("list")
@read_option
@json_option
def list_snapshots(collection: str | None, as_json: bool) -> None:
    """List the snapshots, oldest first, with the current one marked."""
    from monjyu_assets.indexing.index_operations import known_folder, snapshot_rows

    folder = known_folder(collection)
    rows = snapshot_rows(folder)
    marks = {True: "*", False: " "}
    lines = [
        f"{marks[row['current']]} {row['snapshot_id']}  {_contents(row)}{'  held by a rollback' if row['held'] else ''}"
        for row in rows
    ]
    echo({"collection": folder.name, "snapshots": rows}, "\n".join(lines) or "No snapshots.", as_json)


def _contents(row: SnapshotRow) -> str:
    if row["level"] is None:
        return "of another version of Monjyu"
    return f"level {row['level']}  {row['papers']} papers  {row['chunks']} chunks"


@snapshots.command("diff")
@click.argument("older")
@click.argument("newer")
@read_option
@json_option
def diff_snapshots(older: str, newer: str, collection: str | None, as_json: bool) -> None:
    """Show the papers added, changed and deleted between two snapshots, and the rows of tables that differ."""
    from monjyu_assets.indexing.index_operations import known_folder
    from monjyu_assets.publishing.drift import diff

    found = diff(known_folder(collection), older, newer)
    papers = {"added": found["added"], "changed": found["changed"], "deleted": found["deleted"]}
    lines = [f"{change}: {', '.join(ids) or 'none'}" for change, ids in papers.items()]
    lines += [f"{name}: {rows[0]} -> {rows[1]}" for name, rows in found["rows"].items() if rows[0] != rows[1]]
    echo(found, "\n".join(lines), as_json)


@snapshots.command("verify")
@click.argument("snapshot_id", required=False)
@read_option
@json_option
def verify(snapshot_id: str | None, collection: str | None, as_json: bool) -> None:
    """Check every file of a snapshot (by default of all snapshots) against its hash."""
    from monjyu_assets.indexing.index_operations import known_folder, verify_all

    folder = known_folder(collection)
    problems = verify_all(folder, snapshot_id)
    lines = [f"{name}: {'; '.join(found) if found else 'whole'}" for name, found in problems.items()]
    echo({"collection": folder.name, "problems": problems}, "\n".join(lines) or "No snapshots.", as_json)
    sys.exit(1 if any(problems.values()) else 0)


@snapshots.command("rollback")
@click.argument("snapshot_id", required=False)
@click.option("--release", is_flag=True, help="End a rollback: serve the newest snapshot again.")
@collection_option
@json_option
def rollback(snapshot_id: str | None, release: bool, collection: str, as_json: bool) -> None:
    """Serve an older snapshot (by default the previous one) until the rollback is ended with `--release`.

    Later builds publish as usual, but readers keep this snapshot.
    """
    from monjyu_assets.indexing.index_operations import known_folder, release_rollback, roll_back
    from monjyu_assets.orchestration.reporting.snapshot_metadata import report_served
    from monjyu_core.storage.folders import DataFolder

    folder = known_folder(collection)
    if release and snapshot_id:
        raise ConfigurationError("--release accepts no SNAPSHOT argument.", "It always serves the newest snapshot.")
    now = release_rollback(folder) if release else roll_back(folder, snapshot_id)
    report_served(DataFolder.default(), collection)
    ends = f"; `monjyu snapshots rollback --release -c {collection}` ends it."
    text = f"{collection} serves {now}" + ("." if release else ends)
    echo({"collection": collection, "snapshot_id": now, "held": not release}, text, as_json)


@click.group()
def collections() -> None:
    """List the collections, or delete the index of one."""


@collections.command("list")
@json_option
def list_collections(as_json: bool) -> None:
    """Show the names, levels and numbers of papers of the collections in the data folder."""
    from monjyu_core.status import collection_status
    from monjyu_core.storage.folders import DataFolder

    data = DataFolder.default()
    found = [collection_status(data, name) for name in data.collections()]
    keys = ("collection", "level", "snapshot_id", "sources")
    rows = [{key: one[key] for key in keys} | {"papers": one.get("counts", {}).get("papers", 0)} for one in found]
    lines = [f"{row['collection']}  level {row['level']}  {row['papers']} papers" for row in rows]
    tell("\n".join(f"{one['collection']}: {one['unreadable']}" for one in found if "unreadable" in one))
    echo({"collections": rows}, "\n".join(lines) or f"No collections in {data.root}.", as_json)


@collections.command("delete")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
def delete_collection(name: str, yes: bool, as_json: bool) -> None:
    """Delete a collection's index, snapshots and copies of files.

    The source files are kept. A partition in Dagster without an index, such as a mistyped one, is also removed.
    """
    from monjyu_assets.indexing.index_operations import delete_index, known_folder
    from monjyu_core.storage.folders import GONE, DataFolder

    data = DataFolder.default()
    killed = any(data.index.glob(f"{GONE}{name}-*"))  # a deletion that was killed is finished below
    if not killed and not data.collection(name).root.exists():
        from monjyu_assets.orchestration.runs import forget_collection

        has_instance = data.dagster.is_dir() or os.environ.get("DAGSTER_HOME")
        forgotten = bool(has_instance) and forget_collection(data, name)
        if not forgotten:
            known_folder(name)  # raises if it does not exist, before any confirmation
        text = f"{name} had no index; its partition in Dagster is removed."
        echo({"collection": name, "deleted": True, "bytes": 0}, text, as_json)
        return
    if not yes:
        confirm(f"Delete the index of {name} with all its snapshots?")
    freed = delete_index(data, name, tell)
    echo(
        {"collection": name, "deleted": True, "bytes": freed}, f"{name} is deleted ({freed / 2**20:.1f} MiB).", as_json
    )


@click.command()
@click.argument("paper_id")
@collection_option
@json_option
def purge(paper_id: str, collection: str, as_json: bool) -> None:
    """Remove a paper's text everywhere, including older snapshots.

    The paper is not indexed again, even if its source file still exists. The file itself is not changed.
    """
    from monjyu_assets.indexing.index_operations import purge_paper
    from monjyu_core.storage.folders import DataFolder

    done = purge_paper(DataFolder.default(), collection, paper_id, tell)
    removed = len(done["snapshots_removed"])
    text = f"{paper_id} was removed, and {removed} older snapshots that could contain its text."
    echo(done, text, as_json)
