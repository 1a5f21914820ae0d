"""`monjyu answer`: what becomes of answers. Each sub-command has a module of its own."""

from __future__ import annotations

import click

from monjyu_query.commands.products.answer_diff import diff
from monjyu_query.commands.products.answer_export import export


@click.group()
def answer() -> None:
    """Export answers; show how they changed between snapshots."""


answer.add_command(diff)
answer.add_command(export)
