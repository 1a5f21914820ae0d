"""A package from a stranger: read into memory within limits, never unpacked, no link followed."""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from monjyu_core.errors import MonjyuError
from monjyu_query.answer_packages.package_files import MANIFEST, as_zip

MOST_FILES, MOST_BYTES = 2000, 256 << 20
"""Files of a package, and bytes of all of them."""
_DEEPEST = 4
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,120}")
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class NotAPackage(MonjyuError):
    """What was given is no package of an answer, or none that may be read."""

    exit_code = 2


@dataclass(frozen=True)
class ReadPackage:
    """The files by name. `damaged`: those whose bytes an archive's own check sum contradicts. `framed`: the archive is
    as Monjyu writes it, to the byte; True of a folder."""

    files: dict[str, bytes]
    damaged: tuple[str, ...] = ()
    framed: bool = True


def read_package(path: Path) -> ReadPackage:
    """NotAPackage for anything else, or more than the limits allow."""
    try:
        if path.is_dir():
            package = ReadPackage(dict(_in_folder(path)))
        elif path.is_file() and path.stat().st_size <= MOST_BYTES:
            package = _in_archive(path.read_bytes())
        else:
            raise NotAPackage(f"{path} is no package.", "A package is a folder or an archive of at most 256 MiB.")
    except OSError as error:
        raise NotAPackage(f"{path} cannot be read: {error.strerror or error}.") from error
    if MANIFEST not in package.files:
        raise NotAPackage(f"{path} is no package of an answer: it has no {MANIFEST}.")
    return package


def _in_folder(root: Path) -> Iterator[tuple[str, bytes]]:
    left, count = MOST_BYTES, 0
    waiting: list[tuple[str, Path]] = [("", root)]
    while waiting:
        before, folder = waiting.pop()
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            name = _checked(before + entry.name)
            count += 1
            if count > MOST_FILES:
                raise NotAPackage("The package has too many files.")
            if entry.is_dir(follow_symlinks=False):
                waiting.append((f"{name}/", folder / entry.name))
                continue
            content = _plain_file(folder / entry.name, name, left)
            left -= len(content)
            yield name, content


def _plain_file(path: Path, name: str, most: int) -> bytes:
    """Opened without following a link, and without waiting where it is a pipe."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise NotAPackage(f"{name} is no plain file, or cannot be read.") from error
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise NotAPackage(f"{name} is no plain file.")
        content = file.read(most + 1)
    if len(content) > most:
        raise NotAPackage("The package is too large.")
    return content


def _in_archive(raw: bytes) -> ReadPackage:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = archive.infolist()
            _check_entries(entries)
            files, damaged, left = {}, [], MOST_BYTES
            for entry in entries:
                content = _unpacked(archive, entry, left)
                if content is None:
                    damaged.append(entry.filename)
                files[entry.filename] = content or b""
                left -= len(content or b"")
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, EOFError) as error:
        raise NotAPackage(f"The archive cannot be read: {type(error).__name__}.") from error
    return ReadPackage(files, tuple(damaged), not damaged and as_zip(files) == raw)


def _check_entries(entries: list[zipfile.ZipInfo]) -> None:
    names = [_checked(entry.filename) for entry in entries]
    if len(names) > MOST_FILES or len(set(names)) < len(names):
        raise NotAPackage("The archive has too many files, or one twice.")
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise NotAPackage("The archive is too large.")
    for entry in entries:
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
            raise NotAPackage(f"{entry.filename} is no plain file.")


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes | None:
    """No more is unpacked than the entry says it is; None where its check sum, or the packing, is wrong."""
    import zlib

    try:
        with archive.open(entry) as file:
            content = file.read(min(most, entry.file_size) + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError):
        return None
    if len(content) > entry.file_size:
        raise NotAPackage("The archive is larger than it says.")
    return content


def _checked(name: str) -> str:
    """A path of plain names: nothing that leads out of the package, on any system."""
    parts = name.split("/")
    if len(parts) > _DEEPEST or not all(_NAME.fullmatch(part) and part.strip(".") for part in parts):
        raise NotAPackage(f"{name[:80]!r} is no name of a file in a package.")
    return name
