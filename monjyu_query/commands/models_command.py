"""`monjyu models`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from monjyu_query.commands.options import json_option, show

if TYPE_CHECKING:
    from monjyu_query.evaluation.model_trial import ModelTrial, Tried

_MARKS = {"right": "ok", "wrong": "wrong", "failed": "failed", "no time": "-"}


@click.group()
def models() -> None:
    """Try a configured model with small tasks."""


@models.command("try")
@click.argument("name")
@click.option(
    "--as",
    "kinds",
    type=click.Choice(["chat", "embed", "rerank"]),
    multiple=True,
    help="Try it for this use (repeatable); by default as the settings use it.",
)
@click.option("--seconds", type=click.FloatRange(5, 3600), default=60.0, show_default=True, help="Time limit (s).")
@json_option
def try_command(name: str, kinds: tuple[str, ...], seconds: float, as_json: bool) -> None:
    """Try the model NAME of `models` with a dozen small tasks, and show which roles it is good enough for.

    Exit code 1 if it is good enough for none.
    """
    from monjyu_core.settings.settings import load_settings
    from monjyu_query.evaluation.model_trial import try_model

    def told(tried: Tried) -> None:
        click.echo(f"  {_MARKS[tried.outcome]:7}{tried.role:9}{tried.about}  {tried.seconds:.1f} s", err=True)

    found = try_model(load_settings(), name, kinds, seconds, told)  # type: ignore[arg-type]
    show(found, as_json, lambda: describe(found))
    sys.exit(0 if any(one.right for one in found.roles) else 1)


def describe(found: ModelTrial) -> str:
    """Return the trial as text: one line per role, other findings, and the suggested settings."""
    right = sum(one.outcome == "right" for one in found.tasks)
    which = f"{found.name} ({found.model} at {found.address})"
    lines = [f"{which}: {right} of {len(found.tasks)} tasks right, {found.seconds:.0f} s", ""]
    lines.append(f"{'role':9}{'right':8}{'good enough':14}why not")
    for one in found.roles:
        lines.append(f"{one.role:9}{f'{one.right}/{one.tried}':8}{one.verdict:14}{one.why}".rstrip())
    lines += ["", *found.facts] if found.facts else []
    lines += ["", "Suggested settings:", *(f"  {one}" for one in found.settings)] if found.settings else []
    return "\n".join(lines)
