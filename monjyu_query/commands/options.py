"""Shared options of commands, options generated from a question's declaration, JSON on stdout, and output files."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from monjyu_core.cli import successor
from monjyu_core.errors import QueryError
from monjyu_core.text.unicode_words import escaped_in_json
from monjyu_core.user_files.bounded_reading import MEBIBYTE, FileRefused, parse_json
from monjyu_core.values import Values
from monjyu_query.asking.fields import asked_as, kinds_of

if TYPE_CHECKING:
    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.search.searcher import Searcher


collection_option = click.option(
    "-c", "--collection", metavar="NAME", help="The collection; optional if there is only one."
)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)
JSON_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
"""The argument of `read_json_file`: a path, or `-` for stdin."""
output_option = click.option("-o", "--output", type=NEW_FILE, help="Write to this file.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else on stdout.")

_LONGEST_JSON, _MOST_VALUES = 16 * MEBIBYTE, 1_000_000

CITATIONS = "monjyu_query.citations.export"


class FormChoice(click.Choice[str]):
    """A choice among the command's `own` formats and those in a module's `FORMS`, which is imported when needed."""

    def __init__(self, module: str, *own: str) -> None:
        super().__init__(())
        self._module, self._own = module, own

    @property
    def choices(self) -> tuple[str, ...]:
        return (*self._own, *import_module(self._module).FORMS)

    @choices.setter
    def choices(self, none: object) -> None: ...


def format_option(module: str, default: str, *own: str) -> Callable[[Any], Any]:
    """The option `--format` with the formats of a module."""
    return click.option("--format", "form", type=FormChoice(module, *own), default=default, show_default=True)


class QuestionCommand(click.Command):
    """A command whose help lists the filters of a question in one paragraph."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Explain the other options; `monjyu papers list --help` explains the filters."""
        from monjyu_query.asking.request import Filters

        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        rows = [(one.name in Filters.model_fields, row) for one in options if (row := one.get_help_record(ctx))]
        with formatter.section("Options"):
            formatter.write_dl([row for is_filter, row in rows if not is_filter])
        with formatter.section("Filters (explained by monjyu papers list --help)"):
            formatter.write_text(", ".join(row[0].replace(" ", "\u00a0") for is_filter, row in rows if is_filter))


def options_of(
    model: type[BaseModel], *names: str, without: Collection[str] = (), **otherwise: Any
) -> Callable[[Any], Any]:
    """Add an option for each field of a model, or for the named fields; `otherwise` overrides parameters of the
    options.

    Fields declared `under` an option become its KEY=VALUE pairs; an option with such a field's own name is a usage
    error that says what to write instead.
    """
    fields = {name: one for name, one in model.model_fields.items() if name not in without}
    fields = {name: fields[name] for name in names or fields}
    together: dict[str, dict[str, FieldInfo]] = {}
    for name, field in fields.items():
        together.setdefault(asked_as(field).under, {})[name] = field

    def add(command: Any) -> Any:
        for group, gathered in reversed(together.items()):
            for name, field in reversed(gathered.items()):
                instead = f"Write --{group} {name}=VALUE."
                flag = f"--{name.replace('_', '-')}"
                command = (successor(flag, instead) if group else _option(name, field, **otherwise))(command)
            command = _keys(group, gathered)(command) if group else command
        return command

    return add


def given(model: type[BaseModel], options: Mapping[str, Any]) -> Values:
    """Return the values of the options of `options_of` as the model's fields, without None and defaults."""
    fields, said = model.model_fields, {**options}
    for group in {asked_as(field).under for field in fields.values()}:
        said |= options.get(group) or {}
    return {name: value for name, value in said.items() if name in fields and value not in (None, fields[name].default)}


def _option(name: str, field: FieldInfo, **otherwise: Any) -> Callable[[Any], Any]:
    """Return the option for a field; its value is converted as from JSON."""
    how, kinds = asked_as(field), kinds_of(field.annotation)
    several = bool({list, dict} & set(kinds))
    flag = f"--{(how.option or how.one or name).replace('_', '-')}"
    about = f"{(field.description or '').removesuffix('.')}{' (repeatable)' if several else ''}."
    if kinds == [bool]:
        off = flag.replace("--", "--no-")
        if field.default is True:
            return click.option(off, name, flag_value=False, default=True, help=about)
        return click.option(flag if "/" in flag else f"{flag}/{off}", name, default=None, help=about)
    more: Values = {"help": about, "metavar": how.metavar or (how.one or name).upper(), "multiple": several}
    if kinds in ([int], [float]):
        more["type"] = kinds[0]
    elif not how.metavar and not several and all(isinstance(kind, str) for kind in kinds):
        more |= {"type": click.Choice(kinds), "metavar": None, "default": field.default, "show_default": True}
    else:
        more["callback"] = lambda ctx, param, value: _as_json(value, kinds)
    return click.option(*_SHORT.get(name, ()), flag, name, **more | otherwise)


_SHORT = {"mode": ("-m",), "top_k": ("-k",)}


def _keys(group: str, fields: Mapping[str, FieldInfo]) -> Callable[[Any], Any]:
    """Return the option for all `fields` of a group, with a mapping as value. Raises QueryError for an unknown KEY."""

    def parsed(ctx: click.Context, param: click.Parameter, pairs: tuple[str, ...]) -> Values:
        values = {}
        for pair in filter(None, ",".join(pairs).split(",")):
            key, _, value = pair.partition("=")
            if key not in fields:
                raise QueryError(f"--{group} {pair}: {key!r} is not known.", f"Known: {', '.join(fields)}.")
            values[key] = _json_or_text(value or "true")
        return values

    abouts = (f"{name}: {(one.description or '').partition(' only: ')[2]}" for name, one in fields.items())
    about = f"Of mode {group} (repeatable). {' '.join(abouts)}"
    return click.option(f"--{group}", multiple=True, metavar="KEY=VALUE", callback=parsed, help=about)


def _as_json(value: Any, kinds: Collection[Any]) -> Any:
    if not isinstance(value, tuple):
        return _json_or_text(value) if value is not None and int in kinds else value
    if dict in kinds:
        return {key: text for key, _, text in (one.partition("=") for one in value)} or None
    apart = str not in kinds  # the names of a Literal have no commas
    return [part for one in value for part in (one.split(",") if apart else [one])] or None


def _json_or_text(value: str) -> Any:
    try:
        return parse_json(value, _MOST_VALUES)
    except ValueError:
        return value


def print_json(value: Mapping[str, Any] | list[Any]) -> None:
    """Print a value as one line of JSON."""
    click.echo(escaped_in_json(json.dumps(value, ensure_ascii=False)))


def show(found: BaseModel | Mapping[str, Any] | list[Any], as_json: bool, text: Callable[[], str | None]) -> None:
    """Print a result: all its fields as JSON, or the text for a person, unless `text` prints that itself."""
    if as_json:
        print_json(found.model_dump(mode="json") if isinstance(found, BaseModel) else found)
    elif (shown := text()) is not None:
        click.echo(shown)


def show_progress(done: int, total: int) -> None:
    """Show the number of finished papers on a terminal."""
    if sys.stderr.isatty():
        click.echo(f"\r{done} of {total} papers" + ("\n" if done == total else ""), nl=False, err=True)


def read_json_file(path: Path) -> Any:
    """Return the JSON value in a file, or on stdin for `-`. Raises OSError, ValueError if it is not JSON, or
    FileRefused if it is too large."""
    with click.open_file(str(path), encoding="utf-8") as file:
        text = file.read(_LONGEST_JSON + 1)
    if len(text) > _LONGEST_JSON:
        raise FileRefused(f"{path} has more than {_LONGEST_JSON // MEBIBYTE} MiB.", "Split it.")
    return parse_json(text, _MOST_VALUES)


def write_output(output: Path, content: bytes) -> None:
    """Write the file that `--output` names. Raises QueryError on failure."""
    try:
        output.write_bytes(content)
    except OSError as error:
        raise QueryError(f"{output} cannot be written: {error.strerror}.", "Name another --output.") from error


# The collections and searchers of commands, printable arguments, and Ctrl-C.
def chosen(collection: str | None) -> tuple[DataFolder, str]:
    """The data folder, and the name of the given collection, or of the only one."""
    from monjyu_core.storage.folders import DataFolder
    from monjyu_query.asking.which_collection import chosen_collection

    data = DataFolder.default()
    return data, chosen_collection(data, collection)


def collection_searcher(
    collection: str | None, snapshot_id: str | None = None, *, leaves_traces: bool = True
) -> Searcher:
    """The searcher of the named collection, or of the only one."""
    from monjyu_core.storage.state_store import StateStore
    from monjyu_query.search.searcher import Searcher
    from monjyu_query.search.traces import TraceLog

    data, name = chosen(collection)
    traces = TraceLog(StateStore(data.state)) if leaves_traces else None
    return Searcher(data, name, traces, snapshot_id=snapshot_id)


def printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def interrupt() -> threading.Event:
    """Return an event that the first Ctrl-C sets, so that results so far are printed; the second ends the program."""
    cancel = threading.Event()

    def handle(number: int, frame: object) -> None:
        cancel.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handle)
    return cancel
