"""Commands `index`, `upgrade` and `downgrade`. Everything heavy is imported when they run."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from monjyu_assets.commands.index_output import confirm, json_option, print_result, progress_for, progress_lines, tell
from monjyu_core.cli import INTERRUPTED, is_program, tell_interrupted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monjyu_assets.planning.pending import IndexResult


# Ctrl-C ends a command that indexes, whatever it is doing.
# Python raises KeyboardInterrupt wherever the main thread is. Inside a library it can be lost (in a finalizer or
# callback, whose exceptions Python drops), leave a lock locked, or turn into another error.
GRACE = 1.5
"""The seconds that a command has to end after an interrupt. Files are safe: each part is complete or missing."""
SHOW_CURSOR = "\033[?25h"
"""The terminal's code that shows the cursor, which a progress bar hides."""


@contextmanager
def ended_by_interrupt(grace: float = GRACE) -> Iterator[None]:
    """A context in which Ctrl-C ends the process within `grace` seconds, and a resulting error is raised as
    KeyboardInterrupt. It does nothing if the process is not that of a command, or outside the main thread, which alone
    receives signals."""
    if not is_program() or threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    interrupted = threading.Event()

    def watch() -> None:
        while numbers := os.read(reading, 64):
            if signal.SIGINT in numbers:
                interrupted.set()
                time.sleep(grace)
                _end_now()

    watcher = threading.Thread(target=watch, name="interrupts", daemon=True)
    watcher.start()
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)  # written to before any handler of Python runs
    try:
        yield
    except Exception as error:
        _stop_watching(writing, before)
        watcher.join(grace / 10)  # the thread ends at once, unless it has read a signal
        if interrupted.is_set():
            raise KeyboardInterrupt from error
        raise
    except KeyboardInterrupt:
        raise  # cleaning up also has only the grace
    else:
        _stop_watching(writing, before)


def _stop_watching(writing: int, before: int) -> None:
    signal.set_wakeup_fd(before)
    os.close(writing)


def _end_now() -> None:
    tell_interrupted()
    if sys.stderr.isatty():
        sys.stderr.write(SHOW_CURSOR)
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(INTERRUPTED)


include_option = click.option(
    "--include",
    multiple=True,
    metavar="PATTERN",
    help="Read only matching files, such as '*.pdf' or '2024/*' (repeatable).",
)
exclude_option = click.option(
    "--exclude", multiple=True, metavar="PATTERN", help="Skip matching files, such as 'drafts' or '*.txt' (repeatable)."
)
flat_option = click.option("--no-recursive", is_flag=True, help="Skip subfolders, like --exclude '*/*'.")
deletes_option = click.option(
    "--allow-deletes", is_flag=True, help="Delete all papers that are no longer in the sources, without a limit."
)
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Report each step and every failure on stderr.")


@click.command()
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path), metavar="[SOURCE]...")
@click.option("-c", "--collection", help="Name of the collection; by default the name of the folder or file.")
@click.option(
    "-l",
    "--level",
    type=click.IntRange(0, 4),
    help="Level to build; by default the collection's level, or 1 for a new one.",
)
@include_option
@exclude_option
@flat_option
@deletes_option
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Data folder, instead of MONJYU_DATA. To search it, set MONJYU_DATA=DIR.",
)
@click.option("--progress", "as_lines", is_flag=True, help="Report progress as JSON Lines on stderr.")
@verbose_option
@json_option
def index(
    sources: tuple[Path, ...],
    collection: str | None,
    level: int | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    no_recursive: bool,
    allow_deletes: bool,
    output: Path | None,
    as_lines: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Index folders or files of papers into a collection.

    Only changes since the last time are computed. A collection remembers its sources and their patterns; without a
    SOURCE, all of them are updated.
    """
    from monjyu_assets.indexing.requests import index_collection
    from monjyu_core.storage.folders import DataFolder

    if output is not None:
        os.environ["MONJYU_DATA"] = str(output.expanduser().absolute())
    with ended_by_interrupt(), progress_lines() if as_lines else progress_for(verbose=verbose) as progress:
        done = index_collection(
            DataFolder.default(),
            sources,
            collection,
            level=level,
            include=include or None,
            exclude=(*exclude, "*/*") if no_recursive else exclude or None,
            allow_deletes=allow_deletes,
            progress=progress,
            say=tell,
        )
    print_result(done, as_json, all_failures=verbose)
    sys.exit(exit_code(done, level))


def exit_code(done: IndexResult, asked: int | None) -> int:
    """3 if the requested level was not reached because a model's server was unreachable, failed or refused; 1 if
    anything else failed; else 0."""
    from monjyu_core.models.call_errors import SERVER_FAILED

    held_back = asked is not None and done.level < asked
    if held_back and any(cause.error_type in SERVER_FAILED for cause in done.causes):
        return 3
    return 1 if done.failures else 0


@click.command()
@click.argument("collection", required=False)
@click.option("-l", "--level", type=click.IntRange(0, 4), help="Level to build.")
@click.option("--estimate", is_flag=True, help="Print the cost of models and run nothing.")
@click.option(
    "--max-cost-usd", type=click.FloatRange(min=0, min_open=True), help="Make no call that would exceed this cost."
)
@deletes_option
@verbose_option
@json_option
def upgrade(
    collection: str | None,
    level: int | None,
    estimate: bool,
    max_cost_usd: float | None,
    allow_deletes: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Build higher levels of a collection; later runs update them.

    Existing results are kept; work that failed or was stopped by a cap is tried again. If there is only one
    collection, a level is enough: `monjyu upgrade 2`.
    """
    from monjyu_assets.indexing.requests import upgrade_collection
    from monjyu_core.storage.folders import DataFolder

    data = DataFolder.default()
    collection, level = _wanted(data.collections(), collection, level)
    if estimate:
        from monjyu_assets.planning.estimating import describe_estimate, estimate_upgrade

        cost = estimate_upgrade(data, collection, level)
        cost.cost_usd = round(cost.cost_usd, 6)
        click.echo(json.dumps(cost.as_json()) if as_json else describe_estimate(cost, level))
        return
    with ended_by_interrupt(), progress_for(verbose=verbose) as progress:
        done = upgrade_collection(
            data,
            collection,
            level,
            allow_deletes=allow_deletes,
            max_cost_usd=max_cost_usd,
            progress=progress,
            say=tell,
        )
    print_result(done, as_json, all_failures=verbose)
    sys.exit(exit_code(done, level))


def _wanted(known: Sequence[str], collection: str | None, level: int | None) -> tuple[str, int]:
    """The collection and the level of `upgrade NAME --level 2`, `upgrade --level 2` or `upgrade 2`."""
    if level is None and collection is not None and collection in ("0", "1", "2", "3", "4"):
        level, collection = int(collection), None
    if level is None:
        raise click.UsageError("Specify the level: monjyu upgrade COLLECTION --level 2.")
    if collection is None:
        if len(known) != 1:
            raise click.UsageError(f"Specify the collection: {', '.join(known) or 'no collection exists yet'}.")
        [collection] = known
    return collection, level


@click.command()
@click.argument("collection")
@click.option("-l", "--level", type=click.IntRange(0, 3), required=True, help="The level to keep.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@verbose_option
@json_option
def downgrade(collection: str, level: int, yes: bool, verbose: bool, as_json: bool) -> None:
    """Drop the higher levels of a collection.

    Older snapshots contain them until they are removed.
    """
    from monjyu_assets.indexing.requests import downgrade_collection
    from monjyu_core.storage.folders import DataFolder

    if not yes:
        confirm(f"Drop all levels of {collection} above {level}?")
    with ended_by_interrupt(), progress_for(verbose=verbose) as progress:
        done = downgrade_collection(DataFolder.default(), collection, level, progress=progress, say=tell)
    print_result(done, as_json, all_failures=verbose)
    sys.exit(1 if done.failures else 0)
