"""`monjyu answer`: what is made of answers that were given. Each sub-command has a module of its own."""

from __future__ import annotations

import click

from monjyu_query.commands.products.answer_export import export


@click.group()
def answer() -> None:
    """Give answers away: as documents, or as packages that can be checked."""


answer.add_command(export)
