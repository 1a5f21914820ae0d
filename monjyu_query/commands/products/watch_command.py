"""`monjyu watch`."""

from __future__ import annotations

import click

from monjyu_query.commands.options import collection_option, print_json


@click.command()
@collection_option
@click.option(
    "--format", "form", type=click.Choice(("markdown", "atom", "json")), default="markdown", show_default=True
)
@click.option(
    "--from", "older", metavar="SNAPSHOT", help="Older snapshot; by default the one before the published one."
)
@click.option("--since", metavar="DATE", help="Instead of --from: the snapshot that was the newest at this time.")
@click.option("--send", is_flag=True, help="Also send the event to the addresses of watch.webhooks.")
def watch(collection: str | None, form: str, older: str | None, since: str | None, send: bool) -> None:
    """Show what changed in the answers to saved questions.

    Each change has the document that caused it.
    """
    from monjyu_core.errors import ConfigurationError
    from monjyu_core.settings.settings import load_settings
    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.asking.which_collection import chosen_collection
    from monjyu_query.saved.changes.digest import as_atom, as_markdown
    from monjyu_query.saved.changes.digest import watch as changes_of

    data = DataFolder.default()
    settings = load_settings().watch
    if send and not settings.webhooks:
        raise ConfigurationError("No address is configured.", "Set watch.webhooks in monjyu.yaml.")
    digest = changes_of(data, chosen_collection(data, collection), older, since)
    if form == "json":
        print_json(digest.model_dump(mode="json"))
    else:
        click.echo((as_markdown if form == "markdown" else as_atom)(digest).rstrip())
    if send:
        from monjyu_query.saved.changes.webhook import send as post

        told = post(digest, settings)
        click.echo(f"Sent to {', '.join(told)}." if told else "Nothing changed: nothing is sent.", err=True)
