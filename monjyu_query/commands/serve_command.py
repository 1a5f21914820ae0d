"""`monjyu serve` and `monjyu keys`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from monjyu_query.commands.options import json_option, print_json

if TYPE_CHECKING:
    from monjyu_core.state import StateStore


@click.command()
@click.option("--host", help="Address to listen at; any but a loopback address needs a key.")
@click.option("--port", type=click.IntRange(0, 65535), help="0 takes any free one.")
@click.option("--workers", type=click.IntRange(1, 64), help="Processes.")
def serve(host: str | None, port: int | None, workers: int | None) -> None:
    """Answer questions over HTTP, with a web page.

    What is not given comes from the settings (service.*).
    """
    from monjyu_core.folders import DataFolder
    from monjyu_core.settings import load_settings
    from monjyu_query.service import server

    server.serve(DataFolder.default(), server.with_options(load_settings(), host, port, workers))


@click.group()
def keys() -> None:
    """Make, list and revoke the keys of the HTTP service."""


@keys.command("create")
@click.option("--name", default="", help="Whose it is, for the list.")
@click.option("--role", type=click.Choice(["reader", "admin"]), default="reader", show_default=True)
@json_option
def create(name: str, role: str, as_json: bool) -> None:
    """A new key. It is shown once: only its hash is kept."""
    from monjyu_query.service.keys import create_key

    key, record = create_key(_store(), name[:100], "admin" if role == "admin" else "reader")
    if as_json:
        print_json({"key": key, "id": record.id, "name": record.name, "role": record.role})
    else:
        click.echo(f"{key}\nKeep it: it is not shown again. `monjyu keys revoke {record.id}` ends it.")


@keys.command("list")
@json_option
def list_all(as_json: bool) -> None:
    """Ids, roles and names of the keys."""
    from monjyu_query.service.keys import list_keys

    found = list_keys(_store())
    if as_json:
        shown = ("id", "name", "role", "created_at")
        print_json({"keys": [{field: getattr(record, field) for field in shown} for record in found]})
        return
    lines = [f"{record.id}  {record.role:6}  {record.created_at}  {record.name}" for record in found]
    click.echo("\n".join(lines) or "No keys.")


@keys.command("revoke")
@click.argument("key_id", metavar="ID")
@json_option
def revoke(key_id: str, as_json: bool) -> None:
    """End a key: the next request with it is refused. A search that it has begun runs to its end."""
    from monjyu_query.service.keys import revoke_key

    record = revoke_key(_store(), key_id)
    if as_json:
        print_json({"id": record.id, "revoked": True})
    else:
        click.echo(f"{record.id} ({record.name or record.role}) is revoked.")


def _store() -> StateStore:
    from monjyu_core.folders import DataFolder
    from monjyu_core.state import StateStore

    return StateStore(DataFolder.default().state)
