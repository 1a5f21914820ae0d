"""Files and texts of strangers within bounds. What passes a bound is refused in words that name it.

Callers give the bounds of their format; each function says which it needs.
"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import yaml

from monjyu_core.errors import ConfigurationError

MEBIBYTE = 2**20
_DEEPEST = 100
"""Levels of nested lists and mappings. Python's own limit on recursion is 1,000 calls, a few of them for each level."""
_LONG_NUMBER = re.compile(r"[-+0-9_:.]{101,}")
"""`59:59:59` is a number to base 60 in YAML 1.1, whose value takes time that grows with the square of its length."""
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # that of C is ten times as fast


class FileRefused(ConfigurationError):
    """A file passes a bound, or is not of the format that it should have."""


def read_bytes(path: Path, most: int, follow: bool = True) -> bytes:
    """The content of a regular file of at most `most` bytes. `follow`: whether a symbolic link may lead to it.

    Does not wait for a pipe, and does not trust the size that the file system states.
    """
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
        with os.fdopen(number, "rb") as file:
            regular = stat.S_ISREG(os.fstat(number).st_mode)
            content = file.read(most + 1) if regular else b""
    except OSError as error:
        raise FileRefused(f"{_short(path)} cannot be read: {error.strerror or error}.") from error
    if not regular:
        raise FileRefused(f"{_short(path)} is not a regular file.")
    if len(content) > most:
        raise FileRefused(f"{_short(path)} has more than {_size(most)}.", "Split it, or give a part of it.")
    return content


def read_text(path: Path, most: int) -> str:
    """A file of at most `most` bytes in UTF-8, with or without a mark at its start."""
    try:
        return read_bytes(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileRefused(f"{_short(path)} is not UTF-8: byte {error.start}.", "Save it as UTF-8.") from error


def parse_json(text: str, most_values: int) -> Any:
    """The value of a JSON text with at most `most_values` commas, brackets and braces, inside strings too: a list of
    empty lists takes thirty times its size in memory. ValueError for more, deeper and other texts, such as NaN."""
    values = text.count(",") + text.count("[") + text.count("{")
    if values > most_values:
        raise ValueError(f"the JSON has more than {most_values:,} values")
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def parse_yaml(text: str, most_values: int = 100_000) -> Any:
    """The value of a YAML text with at most `most_values` scalars, lists and mappings. yaml.YAMLError or ValueError for
    other texts.

    Aliases are counted as what they stand for: a few lines of `<<: [*a, *a, *a, *a]` would else be millions of keys.
    """
    total, stack, sizes = 0, list[tuple[str | None, int]](), dict[str, int]()
    for event in yaml.parse(text, Loader=_LOADER):
        before = total
        if isinstance(event, yaml.AliasEvent):
            total += sizes.get(event.anchor or "", most_values)  # a collection inside of itself has no size yet
        elif isinstance(event, yaml.CollectionStartEvent):
            total += 1
            stack.append((event.anchor, before))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = stack.pop()
            sizes |= {anchor: total - before} if anchor else {}
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            sizes |= {event.anchor: 1} if event.anchor else {}
            if _LONG_NUMBER.fullmatch(event.value) and event.implicit[0]:
                raise FileRefused("The YAML has a number of more than 100 digits.", "Put it in quotes.")
        if total > most_values or len(stack) > _DEEPEST:
            bound = f"{most_values:,} values" if total > most_values else f"{_DEEPEST} levels"
            raise FileRefused(f"The YAML has more than {bound}, aliases written out.", "Shorten it.")
    return yaml.load(text, Loader=_LOADER)


def _short(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 300 else f"{text[:300]}…"


def _size(count: int) -> str:
    return f"{count // MEBIBYTE} MiB" if count >= MEBIBYTE else f"{count:,} bytes"
