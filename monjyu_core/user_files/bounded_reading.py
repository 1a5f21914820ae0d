"""Reads untrusted files and texts within limits. Files beyond a limit are refused with a message that names it.

Callers pass the limits of their format; each function documents those it needs.
"""

import json
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from monjyu_core.errors import ConfigurationError

MEBIBYTE = 2**20
_DEEPEST = 100
"""Levels of nested lists and mappings. Python's own limit on recursion is 1,000 calls, several per level."""
_CHECK_PATH = "Check its path and permissions."
_PACK_AGAIN, _SPLIT = "Pack it again as an ordinary ZIP archive.", "Split it into smaller ones."
_LONG_NUMBER = re.compile(r"[-+0-9_:.]{101,}")
"""`59:59:59` is a base-60 number in YAML 1.1, whose conversion takes quadratic time."""


class FileRefused(ConfigurationError):
    """A file exceeds a limit, or does not have the expected format."""


@contextmanager
def regular_file(path: Path, follow: bool = True) -> Iterator[BinaryIO]:
    """A context with a regular file, open for reading. `follow`: whether a symbolic link may lead to it. Does not wait
    for a pipe. Raises FileRefused."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
        with os.fdopen(number, "rb") as file:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise FileRefused(
                    f"{_short(path)} is not a regular file.", "Give a file, not a link, folder, pipe or device."
                )
            yield file
    except OSError as error:
        raise FileRefused(f"{_short(path)} cannot be read: {error.strerror or error}.", _CHECK_PATH) from error


def read_bytes(path: Path, most: int, follow: bool = True) -> bytes:
    """The content of a `regular_file` of at most `most` bytes; the size that the file system states is not trusted."""
    with regular_file(path, follow) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise FileRefused(f"{_short(path)} has more than {_size(most)}.", "Split it, or give a part of it.")
    return content


def read_text(path: Path, most: int) -> str:
    """The text of a UTF-8 file of at most `most` bytes, with or without a byte order mark."""
    try:
        return read_bytes(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileRefused(f"{_short(path)} is not UTF-8: byte {error.start}.", "Save it as UTF-8.") from error


def parse_json(text: str, most_values: int) -> Any:
    """The value of a JSON text with at most `most_values` commas, brackets and braces, including those inside strings:
    a list of empty lists takes thirty times its size in memory. Raises ValueError for longer or deeper texts and for
    invalid ones, such as NaN."""
    values = text.count(",") + text.count("[") + text.count("{")
    if values > most_values:
        raise ValueError(f"the JSON has more than {most_values:,} values")
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deeply") from error


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def parse_yaml(text: str, most_values: int = 100_000) -> Any:
    """The value of a YAML text with at most `most_values` scalars, lists and mappings. Raises FileRefused beyond a
    limit, and yaml.YAMLError or ValueError for an invalid text.

    Aliases count with the size of their target, because a few lines of `<<: [*a, *a, *a, *a]` can expand to millions of
    keys.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the loader in C is ten times as fast
    total, stack, sizes = 0, list[tuple[str | None, int]](), dict[str, int]()
    for event in yaml.parse(text, Loader=loader):
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
            raise FileRefused(f"The YAML has more than {bound}, with aliases expanded.", "Shorten it.")
    return yaml.load(text, Loader=loader)


def _short(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 300 else f"{text[:300]}…"


def _size(count: int) -> str:
    return f"{count // MEBIBYTE} MiB" if count >= MEBIBYTE else f"{count:,} bytes"


# Untrusted ZIP archives and folders are read into memory: nothing is written, no link is followed, and no size that an
# archive states is trusted.
_END, _END_BYTES, _LONGEST_COMMENT = b"PK\x05\x06", 22, 65_535
_LOCATOR, _LOCATOR_BYTES = b"PK\x06\x07", 20
_PIECE = 1 << 16
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_DEEPEST_ARCHIVE = 4
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,120}")
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OSError)


@dataclass(frozen=True)
class Unpacked:
    """The contents of members by name; those named in `damaged` have a wrong checksum or compression and are empty."""

    files: dict[str, bytes]
    damaged: tuple[str, ...]


def unzip(
    packed: BinaryIO,
    most_files: int,
    most_bytes: int,
    wanted: Callable[[str], bool] = lambda name: True,
    strict: bool = False,
) -> Unpacked:
    """The members whose names are `wanted`, at most `most_bytes` together, in about that much memory. Raises
    FileRefused for a damaged archive, one beyond a limit, and encrypted members. `strict`: all members must be regular
    files with different names that `read_folder` would accept."""
    try:
        _check_directory(packed, most_files)
        with zipfile.ZipFile(packed) as archive:
            members = [member for member in archive.infolist() if strict or wanted(member.filename)]
            _check(members, most_files, most_bytes, strict)
            files, damaged, left = dict[str, bytes](), list[str](), most_bytes
            for member in members:
                content = _content(archive, member, left)
                damaged += [member.filename] if content is None else []
                files[member.filename] = content or b""
                left -= len(content or b"")
    except _DAMAGE as error:
        raise FileRefused(f"The archive cannot be read: {type(error).__name__}.", _PACK_AGAIN) from error
    return Unpacked(files, tuple(damaged))


def _check_directory(packed: BinaryIO, most_files: int) -> None:
    """Check the directory before an object is created for each entry: the end record states the number of entries, and
    its size limits that number."""
    packed.seek(max(0, packed.seek(0, os.SEEK_END) - _LOCATOR_BYTES - _END_BYTES - _LONGEST_COMMENT))
    data = packed.read()
    end = data.rfind(_END)
    if end < 0 or end + _END_BYTES > len(data):
        raise ValueError("no directory")
    if data.startswith(_LOCATOR, max(0, end - _LOCATOR_BYTES)):  # it locates another directory, with other limits
        raise FileRefused("The archive uses ZIP64, which only archives over 4 GiB need.", _PACK_AGAIN)
    entries, size = struct.unpack_from("<HI", data, end + 10)
    if entries > most_files or size > most_files * 1000:
        raise FileRefused(f"The archive has more than {most_files} files.", _SPLIT)


def _check(members: list[zipfile.ZipInfo], most_files: int, most_bytes: int, strict: bool) -> None:
    if len(members) > most_files or (strict and len({member.filename for member in members}) < len(members)):
        raise FileRefused(f"The archive has more than {most_files} files, or two of one name.", _PACK_AGAIN)
    if sum(member.file_size for member in members) > most_bytes:
        raise FileRefused(f"The archive unpacks to more than {most_bytes // MEBIBYTE} MiB.", _SPLIT)
    for member in members:
        kind = stat.S_IFMT(member.external_attr >> 16)
        if (strict and kind not in (0, stat.S_IFREG)) or member.flag_bits & _ENCRYPTED:
            raise FileRefused(f"{member.filename[:80]!r} in the archive is a link, or encrypted.", _PACK_AGAIN)
        if member.compress_type not in _METHODS:
            raise FileRefused(f"{member.filename[:80]!r} in the archive uses an unsupported compression.", _PACK_AGAIN)
        if strict:
            _check_name(member.filename)


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes | None:
    """The content of a member; None if it is damaged. Raises FileRefused if it is longer than stated."""
    content, most = BytesIO(), min(most, member.file_size)
    try:
        with archive.open(member) as file:
            while content.tell() <= most and (piece := file.read(_PIECE)):  # read at once, it would be in memory twice
                content.write(piece)
    except (zipfile.BadZipFile, zlib.error, EOFError):
        return None
    if content.tell() > most:
        raise FileRefused("The archive is larger than it states.", _PACK_AGAIN)
    return content.getvalue()


def read_folder(root: Path, most_files: int, most_bytes: int) -> dict[str, bytes]:
    """The files of a folder by their relative paths, at most four levels deep. Raises FileRefused for links, pipes and
    devices, for names with characters other than letters, digits, dots, hyphens and underscores, and beyond a limit."""
    files, left, count = dict[str, bytes](), most_bytes, 0
    waiting = [("", root)]
    while waiting:
        before, folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                name, count = before + entry.name, count + 1
                _check_name(name)
                if count > most_files:
                    raise FileRefused(f"The folder has more than {most_files} files.", "Move some to another folder.")
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((f"{name}/", folder / entry.name))
                    continue
                files[name] = read_bytes(folder / entry.name, left, follow=False)
                left -= len(files[name])
    return files


def _check_name(name: str) -> None:
    """Check that a path has only plain names, so that it stays in its folder on any system."""
    parts = name.split("/")
    if len(parts) > _DEEPEST_ARCHIVE or not all(_NAME.fullmatch(part) and part.strip(".") for part in parts):
        raise FileRefused(
            f"{name[:80]!r} is not an allowed name.",
            "Use letters, digits, dots, hyphens and underscores only, "
            f"in at most {_DEEPEST_ARCHIVE - 1} folder levels.",
        )
