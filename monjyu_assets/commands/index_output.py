"""The output of commands that index: progress, results, failures."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import click

from monjyu_core.errors import ConfigurationError, counted
from monjyu_core.text.unicode_words import escaped_in_json, without_controls
from monjyu_core.values import Values

if TYPE_CHECKING:
    from monjyu_assets.planning.pending import IndexResult, Usage
    from monjyu_assets.work.work import Progress


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
collection_option = click.option("-c", "--collection", required=True, help="Name of the collection.")


def print_result(done: IndexResult, as_json: bool, *, all_failures: bool = False) -> None:
    click.echo(escaped_in_json(done.model_dump_json()) if as_json else describe(done, all_failures=all_failures))


def confirm(question: str) -> None:
    """Ask for confirmation; abort the command if it is refused. Raises ConfigurationError if there is no terminal."""
    try:
        click.confirm(question, abort=True, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise ConfigurationError("Nothing was done: there is no terminal to confirm at.", "Pass --yes.") from None


STAGES = {
    "scan": "Scanning",
    "start": "Starting",
    "parse": "Parsing",
    "ocr": "Reading scans",
    "analyse": "Analysing",
    "chunk": "Chunking",
    "embed": "Embedding",
    "phrases": "Finding phrases",
    "extracted_entities": "Finding entities",
    "reports": "Writing reports",
    "claims": "Finding claims",
    "statements read": "Reading statements",
    "statements compared": "Comparing them",
    "vectors": "Embedding them",
    "publish": "Publishing",
    "push": "Sending to Azure AI Search",
}
CAUSES = 5
"""The maximum number of causes printed for failures of levels 2 to 4."""
LINE_SECONDS = 0.2
"""The minimum seconds between two lines of one stage."""


def tell(text: str) -> None:
    click.echo(without_controls(text), err=True)


@contextmanager
def progress_lines() -> Iterator[Progress]:
    """A context with a reporter for programs, which prints lines such as `{"stage": "parse", "text": "Parsing", "done":
    3, "total": 9}` on stderr."""
    last: dict[str, float] = {}

    def report(stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage not in last or done == total or now - last[stage] >= LINE_SECONDS:
            last[stage] = now
            line = {"stage": stage, "text": STAGES.get(stage, stage), "done": done, "total": total}
            click.echo(json.dumps(line), err=True)

    yield report


def progress_for(*, verbose: bool) -> AbstractContextManager[Progress]:
    """A context with a reporter: a progress bar or, with `verbose`, one line per step."""
    return progress_steps() if verbose else progress_bar()


@contextmanager
def progress_steps() -> Iterator[Progress]:
    """A context with a reporter that prints a line such as `Parsing 9 (2.1 s)` on stderr when a step begins, with the
    seconds since the start."""
    start, begun = time.monotonic(), set[str]()

    def report(stage: str, done: int, total: int) -> None:
        if stage not in begun:
            begun.add(stage)
            of = f" {total}" if total else ""
            tell(f"{STAGES.get(stage, stage)}{of} ({time.monotonic() - start:.1f} s)")

    yield report


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A context with a reporter that shows a bar on stderr if it is a terminal, otherwise nothing."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        tasks: Values = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(STAGES.get(stage, stage), total=total or None)
            bar.update(tasks[stage], completed=done, total=total or None)

        yield report


def describe(done: IndexResult, *, all_failures: bool = False) -> str:
    """The result as text for a person."""
    p = done.papers
    lines = [
        f"{done.collection}: level {done.level}, snapshot {done.snapshot_id}",
        f"  papers  {p.total} ({p.added} added, {p.changed} changed, {p.deleted} deleted, {p.unchanged} unchanged, "
        f"{p.failed} failed{f'; {p.unsupported} files not read' if p.unsupported else ''})",
        f"  chunks  {done.chunks}",
        f"  time    {done.seconds:.1f} s, {_paid(done.usage)}",
    ]
    lines += [f"  behind  {what}" for what in done.behind]
    unread = [failure for failure in done.failures if failure.asset in (None, "chunk_embeddings")]
    shown = len(unread) if all_failures else 20
    lines += [f"  failed  {f.source_path}: {f.error_type}: {f.message}" for f in unread[:shown]]
    if len(unread) > shown:
        lines.append(f"  … and {len(unread) - shown} more; `monjyu status {done.collection}` lists them")
    lines += _unsupported(done, len(done.unsupported) if all_failures else 20)
    lines += [f"  failed  {c.count} × {c.asset}: {c.error_type}: {c.message}" for c in done.causes[:CAUSES]]
    if len(done.causes) > CAUSES:
        lines.append(f"  … and for {len(done.causes) - CAUSES} more causes; `--json` lists them")
    return without_controls("\n".join(lines))


def _unsupported(done: IndexResult, most: int) -> list[str]:
    """The lines about files of unsupported types."""
    lines = [f"  not read  {row.source_path}: {row.message}" for row in done.unsupported[:most]]
    if done.papers.unsupported > len(lines):
        left = done.papers.unsupported - len(lines)
        lines.append(f"  … and {left} more; `monjyu status {done.collection} --files` lists them")
    return lines


def _paid(usage: Usage) -> str:
    if not usage.llm_calls:
        return "no model calls"
    tokens = f"{usage.prompt_tokens} + {usage.completion_tokens} tokens"
    calls = counted(usage.llm_calls, "model call")
    return f"{calls}, {tokens}, ${usage.cost_usd:.4f}"
