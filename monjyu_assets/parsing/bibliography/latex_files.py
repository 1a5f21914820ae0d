"""Which files a LaTeX paper is made of: its main file, what that includes, and its bibliographies.

Only files in the main file's folder (and below it) count. Nothing outside it can be named: no absolute path, no `..`
that leads out, no link that does.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

_HEAD_BYTES = 300_000
_MOST_FILES = 300
_MOST_READ = 50
_MOST_BYTES = 50 * 2**20
_COMMENT = re.compile(r"(?<!\\)%.*")
DOCUMENT_CLASS = re.compile(r"\\document(?:class|style)\s*(?:\[[^\]]*\])?\s*\{\s*([^{}]*?)\s*\}")
BEGIN_DOCUMENT = re.compile(r"\\begin\s*\{document\}")
_PIECES = {"subfiles", "standalone"}
"""Classes of files that are meant to be included in another."""
_FROM_FOLDER = (
    r"\\(?P<sub>sub)?(?:import|inputfrom|includefrom)\*?\s*\{(?P<folder>[^{}]{0,300})\}\s*\{(?P<file>[^{}]{1,300})\}"
)
_PLAIN = r"\\(?:input|include|subfile)(?![A-Za-z@])\s*(?:\{(?P<name>[^{}]{1,300})\}|(?P<bare>[^\s\\{}%\[]{1,300}))"
INCLUSION = re.compile(f"{_FROM_FOLDER}|{_PLAIN}")
_BIBLIOGRAPHY = re.compile(
    r"\\(?:bibliography|addbibresource|addglobalbib)(?![A-Za-z@])\s*(?:\[[^\]]{0,200}\])?\s*\{([^{}]{1,1000})\}"
)
_SUFFIXES = {".tex", ".ltx", ".latex", ".bbl", ".tikz", ".txt"}


def is_main(path: Path) -> bool:
    """Whether a .tex file is a document of its own, not a piece of another."""
    if not os.access(path, os.R_OK):
        return True  # its failure row says so
    head = _text(path, _HEAD_BYTES)
    if DOCUMENT_CLASS.search(head) and BEGIN_DOCUMENT.search(head):
        return is_main_text(head, ())
    odd = DOCUMENT_CLASS.search(head) or BEGIN_DOCUMENT.search(head)
    return bool(odd) and is_main_text(
        head, [_text(other, _HEAD_BYTES) for other in latex_files_beside(path)[:_MOST_READ]]
    )


def is_main_text(text: str, included: Iterable[str]) -> bool:
    """A main file has a class and begins a document, or includes a file that does what it does not. One that names a
    class only is a preamble, unless what it includes is missing."""
    text = _COMMENT.sub("", text)
    kind = DOCUMENT_CLASS.search(text)
    if kind and kind[1] in _PIECES:
        return False
    if kind and BEGIN_DOCUMENT.search(text):
        return True
    if not kind and not BEGIN_DOCUMENT.search(text):
        return False
    others = [_COMMENT.sub("", other) for other in included]
    wanted = BEGIN_DOCUMENT if kind else DOCUMENT_CLASS
    missing = kind is not None and not others and INCLUSION.search(text) is not None
    return missing or any(map(wanted.search, others))


def named_file(match: re.Match[str], folder: str, available: Container[str]) -> str | None:
    """The file that an inclusion (a match of INCLUSION) names; `folder` is where `sub…` commands start from."""
    name, base = match["name"] or match["bare"], ""
    if name is None:
        name, base = f"{match['folder'].strip()}/{match['file'].strip()}", folder if match["sub"] else ""
    return _found(name, base, available, ".tex", _SUFFIXES)


def bibliographies_named(text: str, available: Container[str]) -> Iterator[str]:
    """The .bib files that a text names."""
    for match in _BIBLIOGRAPHY.finditer(text):
        for name in match[1].split(",")[:50]:
            if found := _found(name, "", available, ".bib", {".bib", ".json"}):
                yield found


def _found(name: str, base: str, available: Container[str], suffix: str, allowed: set[str]) -> str | None:
    name = name.strip().strip('"')
    if not name or name[0] in "/|~\\" or ":" in name or "\x00" in name or "\\" in name:
        return None
    place = posixpath.normpath(posixpath.join(base, name))
    if place.startswith(("..", "/")):
        return None
    has_suffix = posixpath.splitext(place)[1].lower() in allowed
    choices = [place, place + suffix] if has_suffix else [place + suffix]
    return next((choice for choice in choices if choice in available), None)


class _Folder:
    """The files of a folder as a container of relative names; links that lead out of it are not in it."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def __contains__(self, name: object) -> bool:
        return self.path(str(name)) is not None

    def path(self, name: str) -> Path | None:
        try:
            found = (self.root / name).resolve()
            fits = found.is_relative_to(self.root) and found.is_file() and os.access(found, os.R_OK)
        except (OSError, ValueError):
            return None
        return found if fits else None


def latex_files_beside(path: Path) -> list[Path]:
    """Included files in the order of their inclusion, then bibliographies, of a main file.

    Works in a .bib that the text names count first; the .bbl that LaTeX made from them is read as well.
    """
    folder = _Folder(path.parent)
    found: dict[str, None] = {}
    books: dict[str, None] = {}
    waiting = [(path, "")]
    room = _MOST_BYTES
    while waiting and len(found) + len(books) < _MOST_FILES and room > 0:
        file, inside = waiting.pop(0)
        text = _text(file, room)
        room -= len(text)
        for match in INCLUSION.finditer(text):
            name = named_file(match, inside, folder)
            if name and name not in found and (below := folder.path(name)) and below != path.resolve():
                found[name] = None
                waiting.append((below, posixpath.dirname(name)))
        books |= dict.fromkeys(bibliographies_named(text, folder))
    same = [path.with_suffix(suffix).name for suffix in (".bbl", *([] if books else [".bib"]))]
    names = [*found, *books, *(name for name in same if name in folder)]
    paths = [folder.path(name) for name in dict.fromkeys(names)]
    return list(dict.fromkeys(found_path for found_path in paths if found_path))


def _text(path: Path, most: int) -> str:
    try:
        with path.open("rb") as file:
            return _COMMENT.sub("", file.read(most).decode("utf-8", "replace"))
    except OSError:
        return ""
