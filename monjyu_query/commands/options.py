"""Options that commands share, those of a question as its declaration has them, JSON on stdout, and output files."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from monjyu_core.cli import successor
from monjyu_core.errors import QueryError
from monjyu_core.text.controls import escaped_in_json
from monjyu_core.user_files.bounded_reading import MEBIBYTE, FileRefused, parse_json

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

collection_option = click.option(
    "-c", "--collection", metavar="NAME", help="The collection; may be left out where the data folder holds one."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else on stdout.")

_LONGEST_JSON, _MOST_VALUES = 16 * MEBIBYTE, 1_000_000

OTHERWISE = ("query", "collection", "filters", "history", "style")
"""Fields of a question that a command takes in its own way: as arguments, in words, from a file."""
_SHORT = {"mode": ("-m",), "top_k": ("-k",)}


CITATIONS = "monjyu_query.citations.citation_export"


class FormChoice(click.Choice[str]):
    """The formats that a module has as `FORMS`, imported only when they are needed, and some of the command's own."""

    def __init__(self, module: str, *own: str) -> None:
        super().__init__(())
        self._module, self._own = module, own

    @property
    def choices(self) -> tuple[str, ...]:
        return (*self._own, *import_module(self._module).FORMS)

    @choices.setter
    def choices(self, none: object) -> None: ...


def format_option(module: str, default: str, *own: str) -> Callable[[Any], Any]:
    """`--format`, of the formats of a module."""
    return click.option("--format", "form", type=FormChoice(module, *own), default=default, show_default=True)


class QuestionCommand(click.Command):
    """A command with the filters of a question, which its help names in one paragraph."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The other options one by one; `monjyu papers list --help` explains each filter."""
        filters = _filters()
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        rows = [(one.name, row) for one in options if (row := one.get_help_record(ctx)) is not None]
        with formatter.section("Options"):
            formatter.write_dl([row for name, row in rows if name not in filters])
        with formatter.section("Filters (explained by monjyu papers list --help)"):
            formatter.write_text(", ".join(row[0].replace(" ", "\u00a0") for name, row in rows if name in filters))


def _filters() -> dict[str, FieldInfo]:
    from monjyu_query.search.request import Filters

    return Filters.model_fields


def _questions() -> dict[str, FieldInfo]:
    from monjyu_query.search.request import SearchRequest

    return SearchRequest.model_fields


def filter_options(*, without: Collection[str] = ()) -> Callable[[Any], Any]:
    """An option for each filter of `Filters`."""
    return _options({name: one for name, one in _filters().items() if name not in without})


def question_options(command: Any) -> Any:
    """An option for each field of a question and for each filter; those of `under` in one, as KEY=VALUE."""
    fields = {name: one for name, one in _questions().items() if name not in OTHERWISE}
    for group, names in _gathered().items():
        described = "; ".join(f"{name}: {_about(fields.pop(name)).partition(' only: ')[2]}" for name in names)
        for name in names:
            command = successor(f"--{name.replace('_', '-')}", f"Write --{group} {name}=VALUE.")(command)
        told = f"Of mode {group} (repeatable): {described}."
        command = click.option(f"--{group}", multiple=True, metavar="KEY=VALUE", help=told)(command)
    return _options(fields)(filter_options()(command))


def question_option(name: str, **otherwise: Any) -> Callable[[Any], Any]:
    """The option of one field of a question, with what this command says otherwise of it."""
    return _option(name, _questions()[name], **otherwise)


def question_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """What options of `question_options` say, as fields of a request. QueryError for a KEY that no field has."""
    values = _given(options, _questions())
    for group, names in _gathered().items():
        for pair in filter(None, ",".join(options[group]).split(",")):
            key, _, value = pair.partition("=")
            if key not in names:
                raise QueryError(f"--{group} {pair}: {key!r} is not known.", f"There are {', '.join(names)}.")
            values[key] = _json_or_text(value or "true")
    return values | ({"filters": filters} if (filters := filter_values(options)) else {})


def filter_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """What options of `filter_options` say, as fields of `Filters`."""
    return _given(options, _filters())


def _given(options: Mapping[str, Any], fields: Mapping[str, FieldInfo]) -> dict[str, Any]:
    """What was said: an option that was left out has None, or the default of its field."""
    values = {name: value for name, value in options.items() if name in fields}
    return {name: value for name, value in values.items() if value not in (None, fields[name].default)}


def _gathered() -> dict[str, list[str]]:
    """By option, the fields that it takes as KEY=VALUE."""
    from monjyu_query.search.request import asked_as

    found: dict[str, list[str]] = {}
    for name, field in _questions().items():
        if group := asked_as(field).under:
            found.setdefault(group, []).append(name)
    return found


def _options(fields: Mapping[str, FieldInfo]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for name, field in reversed([*fields.items()]):
            command = _option(name, field)(command)
        return command

    return add


def _option(name: str, field: FieldInfo, **otherwise: Any) -> Callable[[Any], Any]:
    """An option whose value is given to the command as JSON would have it."""
    from monjyu_query.search.request import asked_as, kinds_of

    how, kinds = asked_as(field), kinds_of(field.annotation)
    several = bool({list, dict} & set(kinds))
    flag = f"--{(how.option or how.one or name).replace('_', '-')}"
    about = f"{_about(field)} (repeatable)." if several else f"{_about(field)}."
    more: dict[str, Any] = {"help": about, "metavar": how.metavar, "multiple": several}
    if kinds == [bool] and field.default is True:
        flag, more = flag.replace("--", "--no-"), {"help": about, "flag_value": False, "default": True}
    elif kinds == [bool]:
        flag, more = flag if "/" in flag else f"{flag}/{flag.replace('--', '--no-')}", {"help": about, "default": None}
    elif how.metavar is None:
        more |= {"type": click.Choice(kinds), "default": field.default, "show_default": True}
    elif kinds in ([int], [float]):
        more["type"] = kinds[0]
    else:
        more["callback"] = lambda ctx, param, value: _as_json(value, kinds)
    return click.option(*_SHORT.get(name, ()), flag, name, **more | otherwise)


def _about(field: FieldInfo) -> str:
    return (field.description or "").removesuffix(".")


def _as_json(value: Any, kinds: Collection[Any]) -> Any:
    if isinstance(value, tuple):
        if dict in kinds:
            return dict(map(_role_and_name, value)) or None
        apart = str not in kinds  # the names of a Literal have no commas
        return [part for one in value for part in (one.split(",") if apart else [one])] or None
    return _json_or_text(value) if value is not None and int in kinds else value


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def _role_and_name(given: str) -> tuple[str, str]:
    role, _, name = given.partition("=")
    if not name:
        raise QueryError(f"--model {given}: names no model.", "Write a role and a name, as answer=large.")
    return role, name


def print_json(value: Mapping[str, Any] | list[Any]) -> None:
    """One line of JSON."""
    click.echo(escaped_in_json(json.dumps(value, ensure_ascii=False)))


def read_json_file(path: Path) -> Any:
    """The JSON value in a file, or on stdin where it is `-`. OSError, ValueError for what is not JSON, FileRefused."""
    with click.open_file(str(path), encoding="utf-8") as file:
        text = file.read(_LONGEST_JSON + 1)
    if len(text) > _LONGEST_JSON:
        raise FileRefused(f"{path} has more than {_LONGEST_JSON // MEBIBYTE} MiB.")
    return parse_json(text, _MOST_VALUES)


def write_output(output: Path, content: bytes) -> None:
    """Write the file that `--output` names; QueryError where that cannot be done."""
    try:
        output.write_bytes(content)
    except OSError as error:
        raise QueryError(f"{output} cannot be written: {error.strerror}.", "Name another --output.") from error
