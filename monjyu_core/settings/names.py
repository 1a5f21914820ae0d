"""Names of settings as people write them, in files and in the environment: errors and suggestions."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from monjyu_core.errors import did_you_mean

# Faults of values in plain words, because pydantic's messages are for programmers.
_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a number that is not infinite",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "path_type": "must be a path",
    "string_too_short": "must not be empty",
    "string_pattern_mismatch": "must have the form {pattern}",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "too_short": "must contain {min_length} or more",
    "too_long": "must contain {max_length} or less",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "greater_than": "must be more than {gt}",
    "less_than": "must be less than {lt}",
    "literal_error": "must be {expected}",
    "json_invalid": "must be JSON",
    "json_type": "must be JSON",
    "value_error": "{error}",
} | dict.fromkeys(
    ("dict_type", "model_type", "model_attributes_type", "mapping_type"), "must be a mapping of names to values"
)
_OTHER = "has a value that cannot be used here"
_QUOTED = re.compile(r"'([^']*)'")


def sentence(several: Iterable[str]) -> str:
    """All problems as one sentence, without duplicates."""
    joined = "; ".join(dict.fromkeys(several))
    return joined if joined.endswith(("?", ".")) else f"{joined}."


def plain(error: Mapping[str, Any]) -> str:
    """Describe one of `ValidationError.errors()` in plain words, such as `must be 1 or more`. The value is omitted
    because it may be a secret."""
    kind, context = error["type"], error.get("ctx", {})
    words = _WORDS.get(kind, _OTHER).format_map(context)
    if kind != "literal_error":
        return words
    expected = str(context.get("expected", ""))
    several = re.sub(r" or (?=[^ ]+$)", ", ", expected)
    words = f"must be one of {several}" if several != expected else words
    meant = did_you_mean(str(error.get("input", "")), _QUOTED.findall(expected))
    return f"{words}. {meant}".rstrip() if meant else words


PREFIX, BETWEEN = "MONJYU_", "__"
NO_SETTINGS = ("data", "config", "postgres_url")
"""Variables that name locations."""
_MEANT = re.compile(r"'(.*)'")
_MOST_PROBLEMS = 20


def leaves(model: BaseModel | type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Every setting as (dotted name, field), including those of groups."""
    fields = (model if isinstance(model, type) else type(model)).model_fields
    for name, field in fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from leaves(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def problems(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """The problems of settings, each under its name, or that of the variable that set it. Only the first of many."""
    return [_problem(one, model) for one in error.errors()[:_MOST_PROBLEMS]]


def _problem(error: Mapping[str, Any], model: type[BaseModel]) -> str:
    path = [str(part) for part in error["loc"]]
    variable = PREFIX + BETWEEN.join(path).upper()
    name = variable if variable in {known.upper() for known in os.environ} else ".".join(path)
    if error["type"] != "extra_forbidden":
        return f"{name} {plain(error)}" if name else plain(error)
    meant = _meant(path, model)
    return f"{name} is not a setting. {as_variable(meant) if name == variable else meant}".strip()


def _meant(path: Sequence[str], model: type[BaseModel]) -> str:
    """The intended name: a neighbour first, then any setting with this ending: `top_k` for `search.top_k`."""
    *groups, last = path
    group: Any = model
    for part in groups:
        group = _inner(group, part)
    found = did_you_mean(last, group.model_fields) if isinstance(group, type) and issubclass(group, BaseModel) else ""
    if found and groups:
        return found.replace("'", f"'{'.'.join(groups)}.", 1)
    if found:
        return found
    elsewhere = [name for name, _ in leaves(model) if name.rpartition(".")[2] == last]
    return f"Did you mean {elsewhere[0]!r}?" if elsewhere else ""


def _inner(group: Any, name: str) -> Any:
    """A setting's type: a group's class, the values' class of a mapping with the user's keys (`models`), else None."""
    if get_origin(group) is dict:
        return get_args(group)[1]
    field = group.model_fields.get(name) if isinstance(group, type) and issubclass(group, BaseModel) else None
    return field.annotation if field else None


def stray_variables(model: type[BaseModel]) -> list[str]:
    """Problems of MONJYU_… variables whose first word is not a setting, which pydantic ignores.

    A variable without `__` may belong to another program; it is an error only if it is similar to a known one.
    """
    alone = [*NO_SETTINGS, "profile"]
    wrong = []
    for name in sorted(known for known in os.environ if known.upper().startswith(PREFIX)):
        first, *rest = name[len(PREFIX) :].lower().split(BETWEEN)
        if first in model.model_fields or first in NO_SETTINGS:
            continue
        meant = did_you_mean(first, model.model_fields if rest else alone)
        if rest or meant:
            wrong.append(f"{name} is not a setting. {as_variable(meant, rest)}".strip())
    return wrong


def as_variable(meant: str, rest: Sequence[str] = ()) -> str:
    """`Did you mean 'MONJYU_SEARCH__TOP_K'?` for `Did you mean 'search.top_k'?`."""
    return _MEANT.sub(lambda found: f"'{PREFIX}{BETWEEN.join([*found[1].split('.'), *rest]).upper()}'", meant)
