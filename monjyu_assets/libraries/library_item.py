"""A work in a library, whatever program keeps it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monjyu_assets.scholarly.record import ScholarlyRecord

MOST_ITEMS = 100_000
MOST_FILES = 200
"""Of an item."""
LARGEST_FILE = 512 * 2**20
"""Bytes of a library's own file, not of its papers."""
_DEEPEST_SHELF, _LONGEST_SHELF = 50, 500
"""Levels of a shelf, the lowest ones, and characters of its path."""


@dataclass(frozen=True)
class LibraryItem:
    """`key` is the program's own and stays as long as the item; `files` are those of a readable type that lie in the
    library or its folder of linked files, the best one first; `outside` counts those that lie elsewhere or are gone."""

    key: str
    record: ScholarlyRecord
    files: tuple[Path, ...] = ()
    outside: int = 0


def own_files(
    root: Path, named: list[Path], readable: tuple[str, ...], linked: Path | None = None
) -> tuple[tuple[Path, ...], int]:
    """Those of the files named that lie inside the folder `root`, or `linked`, and can be read as papers, PDF first and
    what is named as a supplement last; and how many of a readable type do not lie there."""
    types = [path for path in named[:MOST_FILES] if path.suffix.lower() in readable]
    bases = [folder.resolve() for folder in (root, linked) if folder is not None]
    inside = [path for path in types if _is_inside(path, bases)]
    inside.sort(key=lambda path: ("suppl" in path.name.lower(), readable.index(path.suffix.lower())))
    return tuple(inside), len(types) - len(inside)


def _is_inside(path: Path, bases: list[Path]) -> bool:
    """False too for a name that no file system takes."""
    try:
        return path.is_file() and any(map(path.resolve().is_relative_to, bases))
    except (OSError, ValueError, RuntimeError):
        return False


def shelf_paths(shelves: Mapping[Any, tuple[str, Any]], gone: Collection[Any] = ()) -> dict[Any, str]:
    """The path of each shelf, as `Thesis/Chapter 2`, from its name and the key of the shelf above it; none of those
    inside a shelf that is gone."""
    paths = {}
    for key in shelves:
        names, at = dict[Any, str](), key
        while at in shelves and at not in names and len(names) < _DEEPEST_SHELF:
            name, above = shelves[at]
            names[at], at = name.replace("/", "∕"), above
        if not names.keys() & gone:
            paths[key] = "/".join(reversed(names.values()))[:_LONGEST_SHELF]
    return paths
