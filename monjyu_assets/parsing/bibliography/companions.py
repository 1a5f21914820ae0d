"""Files that belong to a Markdown or LaTeX paper: how to find them, and how they are kept with it as one file.

A paper, what it includes and its bibliographies change together, so they have one content hash and one kept copy, which
that hash names: the paper's bytes, then for each other file a line with its name as seen from the paper's folder, then
its bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from monjyu_assets.parsing.bibliography.latex_documents import latex_files_beside
from monjyu_core.storage.ids import file_sha256

_DIVIDER = b"\n\x00monjyu beside\x00 "
_FIRST_BYTES, _HEAD_BYTES = 64, 64_000
"""Enough to see that there is no front matter, which a scan asks of every Markdown file; and to hold one."""
_FRONT_MATTER = re.compile(r"\A\ufeff?\s*---[ \t]*\n(?P<yaml>.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_NAMED = re.compile(r"^bibliography[ \t]*:[ \t]*(?P<here>[^\n]*)(?P<below>(?:\n[ \t]*-[ \t]+[^\n]*)*)", re.MULTILINE)
_SUFFIXES = (".bib", ".json")
_MOST = 20

Attached = list[tuple[str, bytes]]
"""Name (as seen from the paper's folder) and content of each file."""


def files_beside(path: Path, root: Path) -> list[Path]:
    """The bibliographies that a Markdown file's front matter names, else the .bib or .json of the same stem; for a
    LaTeX file what it includes and its bibliographies.

    Only files inside `root` count (for LaTeX: inside the paper's folder): a paper cannot get others' files read.
    """
    if path.suffix.lower() == ".tex":
        return latex_files_beside(path)
    if path.suffix.lower() != ".md":
        return []
    named = [found for name in _names(path)[:_MOST] if (found := _inside(path.parent / name, root))]
    if named:
        return list(dict.fromkeys(named))
    stem = str(path)[: -len(path.suffix)]
    same = (_inside(f"{stem}{suffix}", root) for suffix in _SUFFIXES)
    return [found for found in same if found][:1]


def _names(path: Path) -> list[str]:
    """What `bibliography:` says: a name, a list in brackets, or one item a line."""
    try:
        with path.open("rb", buffering=0) as file:
            raw = file.read(_FIRST_BYTES)
            if _has_no_front_matter(raw):
                return []
            raw += file.read(_HEAD_BYTES)
    except OSError:
        return []
    matter = _FRONT_MATTER.match(raw.decode("utf-8", "replace").replace("\r\n", "\n"))
    match = _NAMED.search(matter["yaml"]) if matter else None
    if not match:
        return []
    here = match["here"].split(" #")[0].strip().strip("[]")
    items = here.split(",") if here else [line.strip().removeprefix("-") for line in match["below"].splitlines()]
    return [name for item in items if (name := item.strip().strip("'\"")) and "\x00" not in name and len(name) < 500]


def _has_no_front_matter(head: bytes) -> bool:
    """Whether the first visible byte rules it out; what is no plain ASCII is left to the pattern."""
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return first != b"-" and b" " < first < b"\x7f"


def _inside(name: str | Path, root: Path) -> Path | None:
    if not os.access(name, os.R_OK):  # asked first: a scan asks twice for every paper, and resolving costs ten times it
        return None
    try:
        found = Path(name).resolve()
        fits = found.is_relative_to(root.resolve()) and found.suffix.lower() in _SUFFIXES
        return found if fits and found.is_file() else None
    except OSError:
        return None


def joined(path: Path, beside: Sequence[Path]) -> Iterator[bytes]:
    """The bytes of the kept copy, in pieces."""
    yield path.read_bytes()
    for other in beside:
        yield _DIVIDER + _name_of(other, path).encode("utf-8", "replace").replace(b"\n", b" ") + b"\n"
        yield other.read_bytes()


def _name_of(other: Path, paper: Path) -> str:
    folder, other = paper.parent.resolve(), other.resolve()
    return other.relative_to(folder).as_posix() if other.is_relative_to(folder) else other.name


def joined_sha256(path: Path, beside: Sequence[Path]) -> str:
    """The hash of a paper and its other files; the paper's own hash if it has none."""
    if not beside:
        return file_sha256(path)
    hasher = hashlib.sha256()
    for piece in joined(path, beside):
        hasher.update(piece)
    return hasher.hexdigest()


def parted(data: bytes) -> tuple[bytes, Attached]:
    """A kept copy as the paper and its other files."""
    paper, *others = data.split(_DIVIDER)
    attached: Attached = []
    for other in others:
        name, _, content = other.partition(b"\n")
        attached.append((name.decode("utf-8", "replace"), content))
    return paper, attached


def read_paper(path: Path, beside: Sequence[str] = ()) -> tuple[bytes, Attached]:
    """A paper (a kept copy, or a file with the others still beside it) and its other files."""
    paper, attached = parted(path.read_bytes())
    return paper, attached + [(_name_of(Path(name), path), Path(name).read_bytes()) for name in beside]
