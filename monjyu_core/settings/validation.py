"""What is wrong with a value, in plain words; pydantic's own speak to programmers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from monjyu_core.wording import did_you_mean

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
    "too_short": "must hold {min_length} or more",
    "too_long": "must hold {max_length} or less",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "greater_than": "must be more than {gt}",
    "less_than": "must be less than {lt}",
    "literal_error": "must be {expected}",
    "json_invalid": "must be JSON",
    "json_type": "must be JSON",
    "value_error": "{error}",
} | dict.fromkeys(("dict_type", "model_type", "model_attributes_type", "mapping_type"), "must hold names with values")
_OTHER = "has a value that cannot be used here"
_QUOTED = re.compile(r"'([^']*)'")


def sentence(several: Iterable[str]) -> str:
    """All problems as one sentence, each named once."""
    joined = "; ".join(dict.fromkeys(several))
    return joined if joined.endswith(("?", ".")) else f"{joined}."


def plain(error: Mapping[str, Any]) -> str:
    """`must be 1 or more`, for one of `ValidationError.errors()`. Without the value, which may be a secret."""
    kind, context = error["type"], error.get("ctx", {})
    words = _WORDS.get(kind, _OTHER).format_map(context)
    if kind != "literal_error":
        return words
    expected = str(context.get("expected", ""))
    several = re.sub(r" or (?=[^ ]+$)", ", ", expected)
    words = f"must be one of {several}" if several != expected else words
    meant = did_you_mean(str(error.get("input", "")), _QUOTED.findall(expected))
    return f"{words}. {meant}".rstrip() if meant else words
