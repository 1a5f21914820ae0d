"""The root command. Sub-commands are entry points of the group `monjyu.commands`, imported only when called."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import click

from monjyu_core.errors import ConfigurationError, MonjyuError, did_you_mean
from monjyu_core.extras import DISTRIBUTION
from monjyu_core.text.unicode_words import without_controls
from monjyu_core.values import Values

SUMMARIES: Mapping[str, str] = {
    "index": "Index folders or files of papers into a collection.",
    "upgrade": "Build higher levels of a collection; later runs update them.",
    "downgrade": "Drop the higher levels of a collection.",
    "sources": "List the sources of a collection; add, move or remove one.",
    "import": "Import a reference manager's library with its tags.",
    "parse": "Parse files and print the result.",
    "status": "Show the collections: levels, counts, failures, last build.",
    "search": "Ask a collection a question.",
    "chat": "Ask one question after another; follow-ups are understood.",
    "summarize": "Summarize a paper in its own, cited sentences.",
    "compare": "Compare papers aspect by aspect, in their own, cited sentences.",
    "survey": "Survey a topic: what each paper says about it, by theme.",
    "table": "Compare papers in a table: one row per paper, one column per attribute, each cell with quote and page.",
    "locate": "Find the paper, page and place of a pasted quote.",
    "check-citations": "Check the citations of a draft against the cited papers.",
    "verify": "Verify the package of an answer by building it again.",
    "questions": "Save questions that each new snapshot must answer before it is published.",
    "answer": "Export answers; show how they changed between snapshots.",
    "watch": "Show what changed in the answers to saved questions.",
    "tensions": "Show contradictions between papers, with both sides quoted.",
    "review": "Screen papers by a protocol; updates screen only new and changed papers.",
    "trace": "Show the trace of a search.",
    "papers": "List the papers of a collection, or show one.",
    "citations": "Show the papers of the collection that a paper cites, and those that cite it.",
    "graph": "Export the graph of a collection for other programs.",
    "serve": "Answer questions over HTTP, with a web page.",
    "up": "Start the page and the Dagster UI with its daemon. Ctrl-C stops everything.",
    "keys": "Create, list and revoke keys of the HTTP service.",
    "mcp": "Serve the collections to MCP clients (programs with language models).",
    "eval": "Measure retrieval and answers.",
    "snapshots": "List, compare, verify and roll back published snapshots.",
    "collections": "List the collections, or delete the index of one.",
    "automation": "Turn automation on or off, show its state, or apply limits.",
    "storage": "Synchronise collections with the object store of storage.uri.",
    "purge": "Remove a paper's text everywhere, including older snapshots.",
    "cost": "Show the usage of models: tokens, cost, time.",
    "models": "Try a configured model with small tasks.",
    "doctor": "Check the data folder, the settings and every configured service.",
    "config": "Show the settings in force, or write a settings file.",
}
"""One line per command, so that `--help` imports no command; a test compares the lines with the docstrings."""


INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended: 128 plus the number of the signal, as in shells."""
FEW_COLLECTIONS = 100_000
"""The number of new objects between two garbage collections: imports create a million objects and hardly any
garbage."""
_GIVEN = re.compile(r"'(.*?)' is not one of")


def tell_interrupted() -> None:
    """Print that the command was interrupted. In a process that runs one command, only the first call prints, because
    the command and its watcher may both call this."""
    if _Program.has_told:
        return
    _Program.has_told = _Program.has_begun
    click.echo("\nInterrupted. Finished work is kept; run the same command again to continue.", err=True)


def _own_point(name: str) -> EntryPoint | None:
    """A command's entry point in this distribution, or None; to search all installed ones would read 150 files."""
    with contextlib.suppress(PackageNotFoundError):
        own = distribution(DISTRIBUTION).entry_points.select(group="monjyu.commands", name=name)
        return next(iter(own), None)
    return None


class RootCommand(click.Group):
    """Lists the commands by name and imports the one that is called."""

    @cached_property
    def points(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group="monjyu.commands")}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.points, key=lambda name: (list(SUMMARIES).index(name) if name in SUMMARIES else 99, name))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        point = _own_point(cmd_name) or self.points.get(cmd_name)
        if point is None:
            return None
        command: click.Command = point.load()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            raise click.NoSuchCommand(args[0], possibilities=self.points, ctx=error.ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.BadParameter as error:
            if isinstance(getattr(error.param, "type", None), click.Choice) and (given := _GIVEN.match(error.message)):
                meant = did_you_mean(given[1], error.param.type.choices)  # type: ignore[union-attr]
                corrected = f"{error.message} {meant}".rstrip()
                raise click.BadParameter(corrected, ctx=error.ctx, param=error.param) from None
            raise
        except KeyboardInterrupt:
            tell_interrupted()
            ctx.exit(INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, SUMMARIES.get(name, "")) for name in self.list_commands(ctx)])


def successor(*names: str) -> Callable[[Any], Any]:
    """A hidden option that the specification names differently from Monjyu. Its use is a usage error. The last of
    `names` is the sentence that states what to use instead."""
    *options, instead = names

    def refuse(ctx: click.Context, param: click.Parameter, value: object) -> None:
        if value is not None:
            raise click.UsageError(f"{options[-1]} is not an option of this command. {instead}", ctx)

    flag: Values = {"is_flag": False, "flag_value": ""}  # the option may be given without a value
    return click.option(*options, hidden=True, expose_value=False, callback=refuse, **flag)


@click.group(cls=RootCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="monjyu")
def root() -> None:
    """Turn folders of academic papers into a searchable knowledge index, level by level.

    The data folder is ./data, or the folder that MONJYU_DATA names.
    """


class _WithoutPandas:
    """Hides pandas, which pyarrow would load if it is installed, because no command uses it."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        """Return None, so that the other finders are asked; raise ModuleNotFoundError for pandas."""
        if name == "pandas":
            raise ModuleNotFoundError("Monjyu's commands do not use pandas.", name=name)


class _Program:
    """Marks this process as one command: it skips imports that no command needs, and exits without clean-up."""

    exit_code: int | None = None
    has_begun = False
    has_told = False

    def begin(self) -> None:
        _Program.has_begun = True
        sys.meta_path.insert(0, _WithoutPandas())
        # To find plugins, pydantic reads the metadata of every installed package.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        # NumPy's products are small here, and its threads wait for them at full load: a third of a search's CPU time.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        # pyarrow derives the docstrings of its wrappers from those of a hundred functions: half of their import time.
        unread = sys.modules["pyarrow.vendored.docscrape"] = ModuleType("docscrape")
        vars(unread)["NumpyDocString"] = lambda text: {"Parameters": ()}
        # NumPy adds docstrings to its C functions when it is imported.
        sys.modules["numpy._core._add_newdocs"] = ModuleType("_add_newdocs")
        gc.set_threshold(FEW_COLLECTIONS)
        atexit.register(self._end_at_once)  # the first registered is the last to run

    def _end_at_once(self) -> None:
        """End the process without Python's clean-up, which can take a second to free libraries. Everything is written
        and closed by now. Does nothing if coverage is measured, because the result is written later.
        """
        if self.exit_code is None or "coverage" in sys.modules:
            return
        with contextlib.suppress(OSError, ValueError):  # the reader has closed the pipe
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(self.exit_code)


def is_program() -> bool:
    """Whether this process runs one command, which may end it at any time, and not a program that calls commands."""
    return _Program.has_begun


def main(args: list[str] | None = None) -> Any:
    """Run the command line; errors for the user become one line on stderr and an exit code.

    Without `args`, the arguments of the process are used, and the process is set up to run only this command.
    """
    program = _Program()
    if args is None:
        program.begin()
    try:
        return _run(args)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            program.exit_code = end.code or 0
        raise


def _run(args: list[str] | None) -> Any:
    try:
        return root.main(args=args, prog_name="monjyu")
    except MonjyuError as error:
        click.echo(without_controls(f"monjyu: {error}"), err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(1)
    except ModuleNotFoundError as error:
        if find_spec("dagster") is not None:
            raise
        click.echo(f"monjyu: {error.name} is not installed: this installation only answers questions.", err=True)
        sys.exit(ConfigurationError.exit_code)
    except OSError as error:  # a full disk, a read-only folder: the system's message is the clearest
        where = f"{error.filename}: " if error.filename else ""
        said = f"monjyu: {where}{error.strerror or error}. Published snapshots are unchanged."
        click.echo(without_controls(said), err=True)
        sys.exit(1)
