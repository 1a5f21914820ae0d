"""Options that several commands share, JSON on stdout, and files that a user asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from monjyu_core.errors import QueryError

collection_option = click.option(
    "-c", "--collection", metavar="NAME", help="The collection; may be left out where the data folder holds one."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else on stdout.")

MODES = ("auto", "vector", "keyword", "hybrid", "lazy", "local", "global", "multi")
CONTROLLERS = ("unified", "progressive", "hybrid")

_OBEYED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
"""Control characters that JSON leaves as they are and terminals may obey, and those that turn the text after them
round; inside strings they can be escaped."""


def print_json(value: Mapping[str, Any] | list[Any]) -> None:
    """One line of JSON."""
    click.echo(json.dumps(value, ensure_ascii=False).translate(_OBEYED))


def write_output(output: Path, content: bytes) -> None:
    """Write the file that `--output` names; QueryError where that cannot be done."""
    try:
        output.write_bytes(content)
    except OSError as error:
        raise QueryError(f"{output} cannot be written: {error.strerror}.", "Name another --output.") from error
