"""Calls of given commands in LaTeX source, with their arguments as source."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from monjyu_assets.parsing.formats.latex.latex_macros import brace_pairs

_OPTION = re.compile(r"\s*\[((?:[^\[\]{}]|\{[^{}]{0,300}\}){0,1000})\]")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class Call:
    """A command with its star, its options (in square brackets) and its arguments (in braces)."""

    name: str
    star: bool
    options: list[str]
    arguments: list[str]
    start: int
    end: int

    @property
    def first(self) -> str:
        return self.arguments[0] if self.arguments else ""


def find_calls(source: str, names: Iterable[str], most_arguments: int = 3) -> list[Call]:
    """Calls of these commands in order, without those inside another's arguments."""
    pattern = re.compile(rf"\\({'|'.join(map(re.escape, names))})(?![A-Za-z@])(\*?)")
    pairs = brace_pairs(source)
    found: list[Call] = []
    at = 0
    for match in pattern.finditer(source):
        if match.start() < at:
            continue
        options: list[str] = []
        arguments: list[str] = []
        at = match.end()
        while option := _OPTION.match(source, at):
            options.append(option[1])
            at = option.end()
        while len(arguments) < most_arguments:
            opened = space.end() if (space := _SPACE.match(source, at)) else at
            if opened not in pairs or (arguments and "\n\n" in source[at:opened]):
                break
            arguments.append(source[opened + 1 : pairs[opened]])
            at = pairs[opened] + 1
            if source.startswith("[", at) and (option := _OPTION.match(source, at)):
                options.append(option[1])
                at = option.end()
        found.append(Call(match[1], bool(match[2]), options, arguments, match.start(), at))
    return found


def without_calls(source: str, names: Iterable[str], most_arguments: int = 1) -> str:
    """The source with these calls taken out."""
    pieces: list[str] = []
    at = 0
    for call in find_calls(source, names, most_arguments):
        pieces.append(source[at : call.start])
        at = call.end
    return "".join([*pieces, source[at:]])
