"""Members of tar archives and of gzip files, read as a stream within limits.

Nothing is written to disk. Links, devices and files with holes are passed over, as are members inside archives inside.
"""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from typing import BinaryIO

from monjyu_assets.parsing.archives.zip_members import check_size, damaged, too_many
from monjyu_core.settings.papers_settings import ParseSettings

_GZIP = b"\x1f\x8b"
_BLOCK = 512
DAMAGE = (tarfile.TarError, EOFError, zlib.error, OSError, ValueError, OverflowError, RecursionError)


class Stream:
    """The unpacked bytes of a file that may be gzipped; `DocumentTooLarge` where they are more than is allowed."""

    def __init__(self, file: BufferedReader, packed: int, settings: ParseSettings) -> None:
        self._file: BufferedReader | gzip.GzipFile = gzip.GzipFile(fileobj=file) if starts_gzip(file) else file
        self._packed = max(1, packed)
        self._settings = settings
        self._count = 0

    def is_tar(self) -> bool:
        """Whether the unpacked bytes begin with a tar header, by its checksum."""
        try:
            tarfile.TarInfo.frombuf(self._file.peek(_BLOCK)[:_BLOCK], "utf-8", "surrogateescape")
        except tarfile.HeaderError:
            return False
        return True

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._count += len(data)
        check_size(self._count, self._packed, self._settings)
        return data

    def rest(self) -> bytes:
        """All of it, where it is a single file."""
        pieces: list[bytes] = []
        while piece := self.read(2**20):
            pieces.append(piece)
        return b"".join(pieces)


def starts_gzip(file: BufferedReader) -> bool:
    """Whether a file begins as gzip does."""
    return file.peek(2).startswith(_GZIP)


def regular_members(
    stream: BinaryIO | Stream, settings: ParseSettings
) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """Each regular file of a tar in its order; it must be read before the next is asked for. Raises one of DAMAGE, or
    DocumentTooLarge."""
    with tarfile.open(fileobj=stream, mode="r|") as archive:  # type: ignore[call-overload]
        for count, member in enumerate(archive, start=1):
            if count > settings.max_members:
                raise too_many(count, settings)
            archive.members = []  # it keeps a record of each
            if member.isreg() and member.sparse is None:
                yield archive, member


def tar_members(stream: Stream, settings: ParseSettings, wanted: Callable[[str], bool], hint: str) -> dict[str, bytes]:
    """The members whose names are wanted; of two with one name the last counts. Raises DocumentTooLarge, or
    MalformedDocument with the hint where the archive is damaged."""
    parts: dict[str, bytes] = {}
    try:
        for archive, member in regular_members(stream, settings):
            if wanted(member.name) and (file := archive.extractfile(member)):
                parts[member.name] = file.read()
    except DAMAGE as error:
        raise damaged(str(error), hint) from error
    return parts
