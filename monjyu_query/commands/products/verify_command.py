"""`monjyu verify`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from monjyu_query.commands.options import json_option, print_json

_SIGNS = {"holds": "ok", "differs": "DIFF", "not_checked": "?"}


@click.command()
@click.argument("package", type=click.Path(exists=True, path_type=Path))
@click.option("-c", "--collection", metavar="NAME", help="The collection, where it has another name here.")
@click.option(
    "--key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The public Ed25519 key (PEM) that must have signed it.",
)
@json_option
def verify(package: Path, collection: str | None, key: Path | None, as_json: bool) -> None:
    """Check the package of an answer: its files, quotes and the answer itself.

    PACKAGE is a folder or an archive that `monjyu answer export` wrote. Quotes and answer are held against the
    collection where it is here. Exit code 0: nothing differs; 1: something does; 2: it is no package.
    """
    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.answer_packages.checking.verification import verify_package
    from monjyu_query.answer_packages.signature import public_key_of
    from monjyu_query.answers.render import safe

    wanted = public_key_of(key.read_bytes()) if key else None
    found = verify_package(package, DataFolder.default(), collection, wanted)
    if as_json:
        print_json(found.model_dump(mode="json"))
    for check in () if as_json else found.checks:
        click.echo(f"{_SIGNS[check.outcome]:<5}{check.check}: {safe(check.said)}")
        for one in check.details:
            click.echo(f"       {safe(one)}")
    sys.exit(0 if found.ok else 1)
