"""ZIP archives and folders of strangers, read into memory: nothing is written, no link is followed, and no size that an
archive states is trusted."""

from __future__ import annotations

import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from monjyu_core.user_files.bounded_reading import MEBIBYTE, FileRefused, read_bytes

_END, _END_BYTES, _LONGEST_COMMENT = b"PK\x05\x06", 22, 65_535
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_DEEPEST = 4
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,120}")
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OSError,
)


@dataclass(frozen=True)
class Unpacked:
    """Contents by name; `damaged` names the members whose check sum or packing is wrong, which are empty."""

    files: dict[str, bytes]
    damaged: tuple[str, ...]


def unzip(
    data: bytes,
    most_files: int,
    most_bytes: int,
    wanted: Callable[[str], bool] = lambda name: True,
    strict: bool = False,
) -> Unpacked:
    """The members whose names are `wanted`, at most `most_bytes` of them together. FileRefused for what is not such an
    archive, and for encrypted members. `strict`: members must be regular files with different names, which
    `read_folder` would take."""
    try:
        _check_directory(data, most_files)
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if strict or wanted(member.filename)]
            _check(members, most_files, most_bytes, strict)
            files, damaged, left = dict[str, bytes](), list[str](), most_bytes
            for member in members:
                content = _content(archive, member, left)
                damaged += [member.filename] if content is None else []
                files[member.filename] = content or b""
                left -= len(content or b"")
    except _DAMAGE as error:
        raise FileRefused(f"The archive cannot be read: {type(error).__name__}.") from error
    return Unpacked(files, tuple(damaged))


def _check_directory(data: bytes, most_files: int) -> None:
    """The end record states the number of entries, and bounds it by its own size, before an object is made for each."""
    end = data.rfind(_END, max(0, len(data) - _END_BYTES - _LONGEST_COMMENT))
    if end < 0 or end + _END_BYTES > len(data):
        raise ValueError("no directory")
    entries, size = struct.unpack_from("<HI", data, end + 10)
    if entries > most_files or size > most_files * 1000:
        raise FileRefused(f"The archive has more than {most_files} files.")


def _check(members: list[zipfile.ZipInfo], most_files: int, most_bytes: int, strict: bool) -> None:
    if len(members) > most_files or (strict and len({member.filename for member in members}) < len(members)):
        raise FileRefused(f"The archive has more than {most_files} files, or two of one name.")
    if sum(member.file_size for member in members) > most_bytes:
        raise FileRefused(f"The archive unpacks to more than {most_bytes // MEBIBYTE} MiB.")
    for member in members:
        kind = stat.S_IFMT(member.external_attr >> 16)
        if (strict and kind not in (0, stat.S_IFREG)) or member.flag_bits & _ENCRYPTED:
            raise FileRefused(f"{member.filename[:80]!r} in the archive is a link, or encrypted.")
        if member.compress_type not in _METHODS:
            raise FileRefused(f"{member.filename[:80]!r} in the archive is packed in an unusual way.")
        if strict:
            _check_name(member.filename)


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes | None:
    """No more is unpacked than the member states; None where its check sum, or its packing, is wrong."""
    try:
        with archive.open(member) as file:
            content = file.read(min(most, member.file_size) + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError):
        return None
    if len(content) > member.file_size:
        raise FileRefused("The archive is larger than it states.")
    return content


def read_folder(root: Path, most_files: int, most_bytes: int) -> dict[str, bytes]:
    """The files of a folder by their paths below it, at most four names deep. FileRefused for links, pipes and devices,
    for names with other than letters, digits, dots, hyphens and underscores, and for more than the bounds."""
    files, left, count = dict[str, bytes](), most_bytes, 0
    waiting = [("", root)]
    while waiting:
        before, folder = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in entries:
                name, count = before + entry.name, count + 1
                _check_name(name)
                if count > most_files:
                    raise FileRefused(f"The folder has more than {most_files} files.")
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((f"{name}/", folder / entry.name))
                    continue
                files[name] = read_bytes(folder / entry.name, left, follow=False)
                left -= len(files[name])
    return files


def _check_name(name: str) -> None:
    """A path of plain names leads out of its folder on no system."""
    parts = name.split("/")
    if len(parts) > _DEEPEST or not all(_NAME.fullmatch(part) and part.strip(".") for part in parts):
        raise FileRefused(f"{name[:80]!r} is not a name that is read.")
