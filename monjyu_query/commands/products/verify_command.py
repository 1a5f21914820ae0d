"""`monjyu verify`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from monjyu_query.commands.options import json_option, print_json

_SIGNS = {"holds": "ok", "differs": "DIFF", "not_checked": "?"}


@click.command()
@click.argument("package", type=click.Path(exists=True, path_type=Path))
@click.option("-c", "--collection", metavar="NAME", help="The collection, if it has another name here.")
@click.option(
    "--key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The public Ed25519 key (PEM) that must have signed it.",
)
@json_option
def verify(package: Path, collection: str | None, key: Path | None, as_json: bool) -> None:
    """Verify the package of an answer by building it again.

    PACKAGE is a folder or archive written by `monjyu answer export`. Every file is compared with one built from the
    collection, if it is here. Exit code 0: everything matches; 1: something differs; 2: it is not a package; 3:
    something could not be compared.
    """
    from monjyu_core.settings.settings import load_settings
    from monjyu_core.storage.folders import DataFolder
    from monjyu_core.user_files.bounded_reading import read_bytes
    from monjyu_query.answer_packages.checking.verification import verify_package
    from monjyu_query.answer_packages.crops import crops_by
    from monjyu_query.answer_packages.signature import LONGEST_KEY, public_key_of
    from monjyu_query.answers.render import safe
    from monjyu_query.service.pages.drawing import Drawing

    wanted = public_key_of(read_bytes(key, LONGEST_KEY)) if key else None
    settings = load_settings().service
    drawing = Drawing(settings.page_seconds, settings.page_memory_mb)
    try:
        found = verify_package(package, DataFolder.default(), collection, wanted, crops_by(drawing.draw))
    finally:
        drawing.close()
    if as_json:
        print_json(found.model_dump(mode="json"))
    for check in () if as_json else found.checks:
        click.echo(f"{_SIGNS[check.outcome]:<5}{check.check}: {safe(check.said)}")
        for one in check.details:
            click.echo(f"       {safe(one)}")
    differs = any(check.outcome == "differs" for check in found.checks)
    if not as_json:
        click.echo("DIFFERS" if differs else "ok" if found.ok else "NOT EVERYTHING COULD BE COMPARED")
    sys.exit(0 if found.ok else 1 if differs else 3)
