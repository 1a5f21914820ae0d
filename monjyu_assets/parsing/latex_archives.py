"""Papers that lie in archives as LaTeX: arXiv's packages, a repository or a folder packed as one file."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

from monjyu_assets.parsing.archive_members import (
    DAMAGE,
    TAR_DAMAGE,
    Stream,
    damaged,
    regular_members,
    starts_gzip,
    tar_members,
    zip_members,
    zip_names,
)
from monjyu_assets.parsing.bibliography.companions import READMES, best_paper, sort_documents
from monjyu_assets.parsing.bibliography.latex_files import HEAD_BYTES, files_of, is_document, plain_source
from monjyu_core.errors import DocumentError, UnsupportedDocument
from monjyu_core.settings.papers import ParseSettings

_SOURCES = (".tex", ".ltx", ".latex")
_BESIDE = (".bbl", ".bib", ".tikz", ".txt", ".json")
_LOOKED_AT = ParseSettings(max_unpacked_mb=16, max_ratio=10_000)
"""An archive in which no source begins within so many megabytes is not looked through at each scan."""
_DEEPEST = 2
"""Folders above a source; further down it is the manual of a program."""
_LATEX = re.compile(rb"\\document(?:class|style)|\\begin\s*\{document\}")
_ZIP = b"PK"
_ALONE = "main.tex"
_HINT = "Download it again, or unpack it into the folder."


def holds_latex(path: Path) -> bool:
    """Whether a ZIP, a tar (gzipped or not) or a gzipped single file holds LaTeX, as far as a short look says. False of
    what cannot be read."""
    try:
        with path.open("rb") as file:
            if file.peek(2).startswith(_ZIP):
                return any(map(_is_source, zip_names(file, _LOOKED_AT)))
            gzipped = starts_gzip(file)
            stream = Stream(file, path.stat().st_size, _LOOKED_AT)
            if stream.is_tar():
                return any(_is_source(member.name) for _, member in regular_members(stream, _LOOKED_AT))
            return gzipped and _LATEX.search(stream.read(HEAD_BYTES)) is not None
    except (DocumentError, *TAR_DAMAGE, *DAMAGE):
        return False


def read_archive(path: Path, settings: ParseSettings) -> tuple[bytes, list[tuple[str, bytes]]] | None:
    """The main file of the paper in an archive, and the files that belong to it (name seen from its folder, content);
    None where the file is no archive. Nothing is written to disk.

    Raises UnsupportedDocument where the archive holds no paper in LaTeX, DocumentTooLarge, EncryptedDocument,
    MalformedDocument.
    """
    with path.open("rb") as file:
        if file.peek(2).startswith(_ZIP):
            members = zip_members(path.read_bytes(), settings, _is_read, _HINT)
        else:
            gzipped = starts_gzip(file)
            try:
                stream = Stream(file, path.stat().st_size, settings)
                packed = stream.is_tar()
                if not packed and not gzipped:
                    return None
                members = {} if packed else {_ALONE: stream.rest()}
            except TAR_DAMAGE as error:
                raise damaged(str(error), _HINT) from error
            if packed:
                members = tar_members(stream, settings, _is_read, _HINT)
    return _paper_in({_plain_name(name): data for name, data in members.items()})


def _paper_in(members: Mapping[str, bytes]) -> tuple[bytes, list[tuple[str, bytes]]]:
    """Of several folders with documents the highest counts, and the first of these."""
    folders = {posixpath.dirname(name) for name in members if _is_source(name)}
    for folder in sorted(folders, key=lambda name: (name.count("/") + bool(name), name)):
        files = _Members(members, folder)
        found = sort_documents(files)
        if papers := [name for name in found.papers if is_document(name, files)]:
            paper = best_paper(papers, files)
            beside = files_of([paper, *found.supplements.get(paper, [])], files)
            return files.parts[paper], [(name, files.parts[name]) for name in beside]
    raise UnsupportedDocument("The archive holds no paper in LaTeX.", "Unpack it into the folder.")


def _plain_name(name: str) -> str:
    return posixpath.normpath(name.replace("\\", "/")).lstrip("/")


def _is_source(name: str) -> bool:
    """Whether a member is LaTeX that may be a paper."""
    *folders, last = _plain_name(name).split("/")
    wanted = last.lower().endswith(_SOURCES) and not last.startswith("._")
    return wanted and len(folders) <= _DEEPEST and "__MACOSX" not in folders and ".." not in folders


def _is_read(name: str) -> bool:
    """Whether a member may be part of a paper: sources at any depth, bibliographies, arXiv's notes."""
    return name.lower().endswith((*_SOURCES, *_BESIDE)) or posixpath.basename(name) in READMES


class _Members:
    """The files of one folder of an archive and below it."""

    def __init__(self, members: Mapping[str, bytes], folder: str) -> None:
        inside = f"{folder}/" if folder else ""
        self.parts = {name[len(inside) :]: data for name, data in members.items() if name.startswith(inside)}

    def __contains__(self, name: object) -> bool:
        return name in self.parts

    def text(self, name: str, most_bytes: int = HEAD_BYTES) -> str:
        return plain_source(self.parts.get(name, b"")[:most_bytes])

    def documents(self) -> list[str]:
        return sorted(name for name in self.parts if "/" not in name and _is_source(name))
