"""`monjyu serve` and `monjyu keys`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from monjyu_core.errors import ConfigurationError
from monjyu_core.values import Values
from monjyu_query.commands.options import json_option, show

if TYPE_CHECKING:
    from monjyu_core.storage.state_store import StateStore
    from monjyu_query.service.access.keys import KeyRecord, Role


# `monjyu mcp`.
@click.command()
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of stdin and stdout.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="With --http; by default mcp.port (8001), 0 = any free one."
)
def mcp(http: bool, host: str, port: int | None) -> None:
    """Serve the collections to MCP clients (programs with language models).

    Without --http it uses stdin and stdout, as clients that start it expect.
    """
    from monjyu_core.remote.copies import following
    from monjyu_core.settings.settings import load_settings
    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.mcp_server.app import build_server
    from monjyu_query.mcp_server.caller_identity import CallersMonjyu

    settings = load_settings()
    server = build_server(CallersMonjyu(), settings)
    if not http:
        with following(DataFolder.default(), settings):
            server.run("stdio")
        return
    from monjyu_core.storage.state_store import StateStore
    from monjyu_query.mcp_server.http import PATH, http_app, run
    from monjyu_query.service.server.serve import address_of, listen

    app = http_app(server, settings.service, host, StateStore(DataFolder.default().state))
    bound = listen(host, settings.mcp.port if port is None else port)
    click.echo(f"MCP server at {address_of(bound)}{PATH}", err=True)
    with following(DataFolder.default(), settings):
        run(app, bound, settings.service)


@click.command()
@click.option("--host", help="Address to listen on; one that other machines can reach requires a key.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; 0 = any free one.")
@click.option("--workers", type=click.IntRange(1, 64), help="Number of processes.")
@click.option("--link/--no-link", default=True, help="Print a single-use link that opens the page as an editor.")
@click.option(
    "--transport", type=click.Choice(["stdio", "http"]), help="Serve MCP clients instead, as `monjyu mcp` does."
)
@click.pass_context
def serve(
    ctx: click.Context, host: str | None, port: int | None, workers: int | None, link: bool, transport: str | None
) -> None:
    """Answer questions over HTTP, with a web page.

    Defaults come from the settings (service.*). On a loopback address where reading needs no key, the link is
    also opened in a browser if the output is a terminal.
    """
    from monjyu_core.settings.settings import load_settings
    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.service.server import serve as server

    if transport is not None:
        ctx.invoke(mcp, http=transport == "http", **({"host": host} if host else {}), port=port)
        return

    server.serve(DataFolder.default(), server.with_options(load_settings(), host, port, workers), link=link)


@click.group()
def keys() -> None:
    """Create, list and revoke keys of the HTTP service."""


@keys.command("create")
@click.option("--name", default="", help="Owner or purpose, for the list.")
@click.option("--role", type=click.Choice(["reader", "editor", "admin"]), default="reader", show_default=True)
@click.option("--expires", metavar="30d|DATE", help="Expiry (UTC): in 12h, 30d, 8w, or after 2030-12-31.")
@click.option(
    "-c",
    "--collection",
    "collections",
    metavar="NAME",
    multiple=True,
    help="Collection that it may see (repeatable; default: all).",
)
@json_option
def create(name: str, role: str, expires: str | None, collections: tuple[str, ...], as_json: bool) -> None:
    """Create a key, which is shown once: only its hash is stored.

    Without --expires it is valid until it is revoked, without --collection for all collections.
    """
    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.service.access.keys import create_key, expiry

    until = None if expires is None else expiry(expires)
    key, record = create_key(_store(), name[:100], cast("Role", role), until, collections or None)
    for unknown in sorted(set(collections) - set(DataFolder.default().collections())):
        click.echo(f"Collection {unknown!r} is not indexed yet: the key will see it when it is.", err=True)
    text = f"{key}\nKeep it: it is not shown again. `monjyu keys revoke {record.id}` revokes it."
    show({"key": key, **_shown(record)}, as_json, lambda: text)


@keys.command("link")
@click.option("--end", is_flag=True, help="End the sessions of all browsers, and unused links, instead.")
def link(end: bool) -> None:
    """Open the web page as an editor in a browser on this machine. The link works once and expires after ten minutes.

    The service must run here (`monjyu up`, `monjyu serve`).
    """
    from monjyu_query.service.access.addresses import answer_of
    from monjyu_query.service.access.page_session import end_sessions, page_address
    from monjyu_query.service.server.serve import give_link

    store = _store()
    if end:
        end_sessions(store)
        click.echo("All editor sessions of the page have ended.")
        return
    address = page_address(store)
    try:
        answer_of(f"{address}/health", 10, 1 << 16)
    except OSError as error:
        raise ConfigurationError(f"The page at {address} does not answer.", "Start it: `monjyu up`.") from error
    give_link(store)


@keys.command("list")
@json_option
def list_all(as_json: bool) -> None:
    """List the keys with id, role, expiry, collections and name."""
    from monjyu_query.service.access.keys import list_keys

    found = list_keys(_store())
    text = "\n".join(_line(record) for record in found) or "No keys."
    show({"keys": [_shown(record) for record in found]}, as_json, lambda: text)


@keys.command("revoke")
@click.argument("key_id", metavar="ID")
@json_option
def revoke(key_id: str, as_json: bool) -> None:
    """Revoke a key; the next request with it is refused, and a running search finishes."""
    from monjyu_query.service.access.keys import revoke_key

    record = revoke_key(_store(), key_id)
    text = f"{record.id} ({record.name or record.role}) is revoked."
    show({"id": record.id, "revoked": True}, as_json, lambda: text)


def _shown(record: KeyRecord) -> Values:
    return {name: value for name, value in vars(record).items() if name != "sha256"} | {"expired": record.expired}


def _line(record: KeyRecord) -> str:
    end = f"{'expired' if record.expired else 'until'} {record.expires_at}" if record.expires_at else "no end"
    seen = "all collections" if record.collections is None else ", ".join(record.collections)
    return f"{record.id}  {record.role:6}  {record.created_at}  {end:33}  {seen}  {record.name}".rstrip()


def _store() -> StateStore:
    from monjyu_core.storage.folders import DataFolder
    from monjyu_core.storage.state_store import StateStore

    return StateStore(DataFolder.default().state)
