"""Office files are ZIP archives: their directory is checked before anything is unpacked.

The sizes that an archive states are only a claim: the limits apply to the claim and again to the unpacked bytes. Parts
that are not XML (pictures, fonts, embedded files and so archives within archives) are never unpacked.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from io import BytesIO
from pathlib import Path

from monjyu_core.errors import DocumentError, DocumentTooLarge, EmptyDocument, EncryptedDocument, MalformedDocument
from monjyu_core.settings.papers_settings import ParseSettings

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_KNOWN = {
    b"%PDF-": "a PDF",
    b"{\\rtf": "an RTF",
    b"\xff\xd8\xff": "a JPEG",
    b"\x89PNG": "a PNG",
    b"<": "an XML or HTML",
}
_END = b"PK\x05\x06"
_END_BYTES = 22
_LONGEST_COMMENT = 65_535
_ENTRY_BYTES = 46 + 400
"""An entry of the directory with a long name and extra fields."""
_SMALL = 16 * 2**20
"""Below this unpacked size no ratio is dangerous: empty tables and styles compress a hundredfold."""
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_HINT_SIZE = "It may be a ZIP bomb; if it is not, see parse.max_unpacked_mb and parse.max_ratio."


def xml_parts(path: Path, settings: ParseSettings) -> dict[str, bytes]:
    """The XML parts of an Office file by name, unpacked within the limits.

    Raises EmptyDocument, EncryptedDocument, MalformedDocument (no ZIP, truncated, damaged) or DocumentTooLarge.
    """
    data = path.read_bytes()
    _check_kind(data)
    _check_directory(data, settings)
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = archive.infolist()
            _check_members(members, len(data), settings)
            return _read(archive, [m for m in members if m.filename.lower().endswith((".xml", ".rels"))], settings)
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, ValueError, OSError) as error:
        raise _damaged(str(error)) from error


def _check_kind(data: bytes) -> None:
    if not data.strip(b"\x00"):
        raise EmptyDocument("The file is empty.", "Replace it.")
    if data.startswith(_OLE):
        if _ENCRYPTED_PACKAGE in data:
            raise EncryptedDocument("The file needs a password.", "Save a copy without one.")
        raise MalformedDocument("This is an old Office file under a new name.", "Save it as .docx or .pptx.")
    if data.startswith(b"PK"):
        return
    kind = next((name for magic, name in _KNOWN.items() if data.lstrip()[:8].startswith(magic)), None)
    if kind:
        raise MalformedDocument(f"This is {kind} file under an Office name.", "Give it its right extension.")
    raise MalformedDocument("This is no Office file.", "Save it again as .docx or .pptx.")


def _check_directory(data: bytes, settings: ParseSettings) -> None:
    """The end record gives the size of the directory before `zipfile` makes an object for each entry."""
    end = data.rfind(_END, max(0, len(data) - _END_BYTES - _LONGEST_COMMENT))
    if end < 0 or end + _END_BYTES > len(data):
        raise _damaged("it has no directory")
    entries, size, offset = struct.unpack_from("<HII", data, end + 10)
    if max(size, offset) == 0xFFFFFFFF or entries == 0xFFFF:
        raise DocumentTooLarge("The archive has 65535 parts or 4 GiB and more.", "See parse.max_members.")
    if entries > settings.max_members or size > settings.max_members * _ENTRY_BYTES:
        raise _too_many(entries, settings)


def _too_many(parts: int, settings: ParseSettings) -> DocumentError:
    return DocumentTooLarge(
        f"The archive has {parts} parts; the limit is {settings.max_members}.", "See parse.max_members."
    )


def _check_members(members: list[zipfile.ZipInfo], packed: int, settings: ParseSettings) -> None:
    if len(members) > settings.max_members:
        raise _too_many(len(members), settings)
    if any(member.flag_bits & 0x1 for member in members):
        raise EncryptedDocument("Parts of the file are encrypted.", "Save a copy without a password.")
    if any(member.compress_type not in _METHODS for member in members):
        raise _damaged("it is compressed in a way that Office files are not")
    _check_size(sum(member.file_size for member in members), packed, settings)


def _check_size(unpacked: int, packed: int, settings: ParseSettings) -> None:
    if unpacked > settings.max_unpacked_mb * 2**20:
        raise DocumentTooLarge(f"Unpacked it has {unpacked / 2**20:.0f} MiB or more.", _HINT_SIZE)
    if unpacked > _SMALL and unpacked > settings.max_ratio * packed:
        raise DocumentTooLarge(f"It unpacks to {unpacked / packed:.0f} times its size or more.", _HINT_SIZE)


def _read(archive: zipfile.ZipFile, members: list[zipfile.ZipInfo], settings: ParseSettings) -> dict[str, bytes]:
    """Parts by name without a leading slash; of two parts with one name the last counts, as in Word."""
    packed = max(1, sum(member.compress_size for member in members))
    most = settings.max_unpacked_mb * 2**20
    parts: dict[str, bytes] = {}
    total = 0
    for member in members:
        with archive.open(member) as file:
            blob = file.read(most + 1)
        parts[member.filename.replace("\\", "/").lstrip("/")] = blob
        total += len(blob)
        _check_size(total, packed, settings)
    return parts


def _damaged(what: str) -> DocumentError:
    return MalformedDocument(f"The file is damaged or cut off: {what[:200]}.", "Open and save it again in Office.")
