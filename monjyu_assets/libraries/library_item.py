"""A work in a library, whatever program keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from monjyu_assets.scholarly.record import ScholarlyRecord

MOST_ITEMS = 100_000
MOST_FILES = 200
"""Of an item."""
LARGEST_FILE = 512 * 2**20
"""Bytes of a library's own file, not of its papers."""


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
