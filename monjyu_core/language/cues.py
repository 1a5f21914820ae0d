"""Patterns by which a text or a question is recognised in each language: `cues/XX.toml` (XX: ISO 639-1).

Each is a regular expression, or a list of its parts, in the section of the module that asks for it. A language
may leave any out, so a new file adds a language. Where one is short its English form is in that module, which adds the
others (`also`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


def also(key: str) -> str:
    """What other languages add to an English pattern, `|` in front: alternatives of the whole pattern or group."""
    found = cues(key)
    return f"|{found}" if found else ""


@cache
def cues(key: str) -> str:
    """The patterns of all languages under a key such as "topic.frame", as alternatives. Empty where none has it."""
    section, _, name = key.partition(".")
    return "|".join(found for each in _files() if (found := "".join(each.get(section, {}).get(name, ()))))


def table(key: str) -> dict[str, float]:
    """The numbers of all languages under a section, by word."""
    return {word: float(number) for each in _files() for word, number in each.get(key, {}).items()}


@cache
def _files() -> tuple[Mapping[str, Mapping[str, Any]], ...]:
    return tuple(
        tomllib.loads(path.read_text("utf-8")) for path in sorted(Path(__file__).with_suffix("").glob("*.toml"))
    )
