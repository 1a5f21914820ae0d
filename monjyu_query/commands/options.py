"""Options that several commands share, JSON on stdout, and files that a user asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from monjyu_core.errors import QueryError
from monjyu_core.text.controls import escaped_in_json
from monjyu_core.user_files.bounded_reading import MEBIBYTE, FileRefused, parse_json

collection_option = click.option(
    "-c", "--collection", metavar="NAME", help="The collection; may be left out where the data folder holds one."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else on stdout.")

MODES = ("auto", "vector", "keyword", "hybrid", "lazy", "local", "global", "multi")
CONTROLLERS = ("unified", "progressive", "hybrid")

_LONGEST_JSON, _MOST_VALUES = 16 * MEBIBYTE, 1_000_000


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
