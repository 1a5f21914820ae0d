"""Commands `index`, `upgrade`, `downgrade` and `parse`. Everything heavy is imported when they run."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from monjyu_core.wording import counted

if TYPE_CHECKING:
    from monjyu_assets.indexing.index_result import IndexResult, Usage
    from monjyu_assets.stages.shared.work import Progress

STAGES = {
    "scan": "Scanning",
    "start": "Starting",
    "parse": "Parsing",
    "ocr": "Reading scans",
    "chunk": "Chunking",
    "embed": "Embedding",
    "phrases": "Finding phrases",
    "extracted_entities": "Finding entities",
    "reports": "Writing reports",
    "claims": "Finding claims",
    "vectors": "Embedding them",
    "publish": "Publishing",
}


include_option = click.option(
    "--include", multiple=True, metavar="PATTERN", help="Only files that fit, as '*.pdf' or '2024/*' (repeatable)."
)
exclude_option = click.option(
    "--exclude", multiple=True, metavar="PATTERN", help="No files that fit, as 'drafts' or '*.txt' (repeatable)."
)
deletes_option = click.option(
    "--allow-deletes", is_flag=True, help="Let papers go that are no longer in the sources, however many."
)
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Say each step on stderr, and every failure.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.command()
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path), metavar="[SOURCE]...")
@click.option("-c", "--collection", help="Name of the collection; by default that of the one folder or file.")
@click.option(
    "-l", "--level", type=click.IntRange(0, 4), help="Level to bring it to; by default the one it is kept at, or 0."
)
@include_option
@exclude_option
@deletes_option
@click.option("--progress", "as_lines", is_flag=True, help="Say how far it is in JSON lines on stderr.")
@verbose_option
@json_option
def index(
    sources: tuple[Path, ...],
    collection: str | None,
    level: int | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    allow_deletes: bool,
    as_lines: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Index folders or files of papers into a collection.

    Only what changed since the last time is computed. A collection remembers its sources, and the patterns given with
    them; without a SOURCE it is brought to those it has (-c says which).
    """
    from monjyu_assets.indexing.run import index_collection
    from monjyu_core.storage.folders import DataFolder

    with progress_lines() if as_lines else progress_for(verbose=verbose) as progress:
        done = index_collection(
            DataFolder.default(),
            sources,
            collection,
            level=level,
            include=include or None,
            exclude=exclude or None,
            allow_deletes=allow_deletes,
            progress=progress,
            say=tell,
        )
    click.echo(done.model_dump_json() if as_json else describe(done, all_failures=verbose))
    sys.exit(exit_code(done, level))


def exit_code(done: IndexResult, asked: int | None) -> int:
    """3 where the level asked for was not reached because a model's server was not reached, failed or refused; 1 where
    anything else has failed."""
    from monjyu_core.models.call_errors import SERVER_FAILED

    held_back = asked is not None and done.level < asked
    if held_back and any(cause.error_type in SERVER_FAILED for cause in done.causes):
        return 3
    return 1 if done.failures else 0


@click.command()
@click.argument("collection")
@click.option("-l", "--level", type=click.IntRange(0, 4), required=True, help="Level to bring it to.")
@click.option("--estimate", is_flag=True, help="Print what models would cost, and run nothing.")
@click.option("--max-cost-usd", type=click.FloatRange(min=0, min_open=True), help="Make no call that would pass this.")
@deletes_option
@verbose_option
@json_option
def upgrade(
    collection: str,
    level: int,
    estimate: bool,
    max_cost_usd: float | None,
    allow_deletes: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Bring a collection to a higher level and keep it there.

    What stands is kept; what failed or was stopped by a cap is tried again.
    """
    from monjyu_assets.indexing.run import upgrade_collection
    from monjyu_core.storage.folders import DataFolder

    if estimate:
        from dataclasses import asdict

        from monjyu_assets.indexing.estimating import describe_estimate, estimate_upgrade

        cost = estimate_upgrade(DataFolder.default(), collection, level)
        cost.cost_usd = round(cost.cost_usd, 6)
        click.echo(json.dumps(asdict(cost)) if as_json else describe_estimate(cost, level))
        return
    with progress_for(verbose=verbose) as progress:
        done = upgrade_collection(
            DataFolder.default(),
            collection,
            level,
            allow_deletes=allow_deletes,
            max_cost_usd=max_cost_usd,
            progress=progress,
            say=tell,
        )
    click.echo(done.model_dump_json() if as_json else describe(done, all_failures=verbose))
    sys.exit(exit_code(done, level))


@click.command()
@click.argument("collection")
@click.option("-l", "--level", type=click.IntRange(0, 3), required=True, help="Level to go down to.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@verbose_option
@json_option
def downgrade(collection: str, level: int, yes: bool, verbose: bool, as_json: bool) -> None:
    """Drop the higher levels of a collection and keep it at a lower one.

    Older snapshots still hold them, until they are collected.
    """
    from monjyu_assets.indexing.run import downgrade_collection
    from monjyu_core.storage.folders import DataFolder

    if not yes:
        click.confirm(f"Drop what {collection} holds above level {level}?", abort=True, err=True)
    with progress_for(verbose=verbose) as progress:
        done = downgrade_collection(DataFolder.default(), collection, level, progress=progress, say=tell)
    click.echo(done.model_dump_json() if as_json else describe(done, all_failures=verbose))
    sys.exit(1 if done.failures else 0)


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print one parsed paper a line.")
def parse(files: tuple[Path, ...], as_json: bool) -> None:
    """Parse files and print what was understood of them."""
    from monjyu_assets.parsing.parse_files import parse_files

    failed = False
    for answer in parse_files(files):
        failed |= "error" in answer
        click.echo(json.dumps(answer, ensure_ascii=False) if as_json else outline(answer))
    sys.exit(1 if failed else 0)


def tell(text: str) -> None:
    click.echo(text, err=True)


CAUSES = 5
"""That are printed of what levels 2 to 4 could not do."""
LINE_SECONDS = 0.2
"""Between two lines of one stage."""


@contextmanager
def progress_lines() -> Iterator[Progress]:
    """For programs: `{"stage": "parse", "text": "Parsing", "done": 3, "total": 9}` on stderr, now and then."""
    last: dict[str, float] = {}

    def report(stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage not in last or done == total or now - last[stage] >= LINE_SECONDS:
            last[stage] = now
            line = {"stage": stage, "text": STAGES.get(stage, stage), "done": done, "total": total}
            click.echo(json.dumps(line), err=True)

    yield report


def progress_for(*, verbose: bool) -> AbstractContextManager[Progress]:
    """A bar, or for those who want to read it a line a step."""
    return progress_steps() if verbose else progress_bar()


@contextmanager
def progress_steps() -> Iterator[Progress]:
    """`Parsing (2.1 s)`: a line on stderr when a step begins, with the seconds since the start."""
    start, begun = time.monotonic(), set[str]()

    def report(stage: str, done: int, total: int) -> None:
        if stage not in begun:
            begun.add(stage)
            of = f" {total}" if total else ""
            tell(f"{STAGES.get(stage, stage)}{of} ({time.monotonic() - start:.1f} s)")

    yield report


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar on stderr where that is a terminal, else nothing."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        tasks: dict[str, Any] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(STAGES.get(stage, stage), total=total or None)
            bar.update(tasks[stage], completed=done, total=total or None)

        yield report


def describe(done: IndexResult, *, all_failures: bool = False) -> str:
    """The result for a person."""
    p = done.papers
    lines = [
        f"{done.collection}: level {done.level}, snapshot {done.snapshot_id}",
        f"  papers  {p.total} ({p.added} added, {p.changed} changed, {p.deleted} deleted, {p.unchanged} unchanged, "
        f"{p.failed} failed{f'; {p.unsupported} files not read' if p.unsupported else ''})",
        f"  chunks  {done.chunks}",
        f"  time    {done.seconds:.1f} s, {_paid(done.usage)}",
    ]
    lines += [f"  behind  {what}" for what in done.behind]
    unread = [failure for failure in done.failures if failure.asset is None]
    shown = len(unread) if all_failures else 20
    lines += [f"  failed  {f.source_path}: {f.error_type}: {f.message}" for f in unread[:shown]]
    if len(unread) > shown:
        lines.append(f"  … and {len(unread) - shown} more; `monjyu status {done.collection}` lists them")
    lines += _unsupported(done, len(done.unsupported) if all_failures else 20)
    lines += [f"  failed  {c.count} × {c.asset}: {c.error_type}: {c.message}" for c in done.causes[:CAUSES]]
    if len(done.causes) > CAUSES:
        lines.append(f"  … and for {len(done.causes) - CAUSES} more causes; `--json` lists them")
    return "\n".join(lines)


def _unsupported(done: IndexResult, most: int) -> list[str]:
    """Files of types that are not read: a hint, no failure."""
    lines = [f"  not read  {row.source_path}: {row.message}" for row in done.unsupported[:most]]
    if done.papers.unsupported > len(lines):
        left = done.papers.unsupported - len(lines)
        lines.append(f"  … and {left} more; `monjyu status {done.collection} --files` lists them")
    return lines


def _paid(usage: Usage) -> str:
    if not usage.llm_calls:
        return "no model was paid"
    tokens = f"{usage.prompt_tokens} + {usage.completion_tokens} tokens"
    calls = counted(usage.llm_calls, "call of a model", "calls of models")
    return f"{calls}, {tokens}, ${usage.cost_usd:.4f}"


def outline(paper: dict[str, Any]) -> str:
    """A parsed paper, or its failure, for a person."""
    if "error" in paper:
        return f"{paper['source_path']}: {paper['error']['type']}: {paper['error']['message']}"
    authors = ", ".join(author["name"] for author in paper["authors"])
    lines = [f"{paper['source_path']}", f"  {paper['title'] or '(no title)'}", f"  {authors or '(no authors)'}"]
    for section in paper["sections"]:
        where = f"  p. {section['page_start']}" if section["page_start"] else ""
        lines.append(f"  {'  ' * section['level']}{section['heading']}  [{section['section_type']}]{where}")
    lines.append(f"  {len(paper['references'])} references, {len(paper['inline_citations'])} citations in the text")
    return "\n".join(lines)
